package launch

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/server"
	"github.com/app-sre/prcheck/wrapper"
)

// A World is what tasks are started in.
type World struct {
	Base, Head *bundle.Bundle
	Settings   *integration.Settings
	Folder     string // in which tasks run; "" for the current one
	Natives    []integration.Native
	Observe    func(task string) func(server.Exchange) // what is told all that a task asks
	Getenv     func(string) string
	Environ    func() []string // the whole environment, as NAME=value; nil when it cannot be listed
}

// Runner returns what runs these tasks. An error means that a bundle cannot be
// served; without tasks nothing is tried.
func (w World) Runner(tasks []plan.Task) (wrapper.Runner, error) {
	if len(tasks) == 0 {
		return runner{}, nil
	}
	open, err := w.endpoints()
	if err != nil {
		return nil, err
	}
	folder, err := filepath.Abs(w.Folder)
	if err != nil {
		return nil, err
	}
	command := func(t plan.Task) (wrapper.Command, error) { return w.command(t, folder) }
	return runner{wrapper.Process{Open: open, Command: command}, w.Natives}, nil
}

// endpoints returns what opens the server of a task: both bundles, and only
// the schemas that its integration may read.
func (w World) endpoints() (func(context.Context, plan.Task) (wrapper.Endpoint, error), error) {
	base, head, err := server.Snapshots(w.Base, w.Head)
	if err != nil {
		return nil, cli.Invalid(err)
	}
	before, err := definitions(w.Base)
	if err != nil {
		return nil, cli.Invalid(err)
	}
	after, err := definitions(w.Head)
	if err != nil {
		return nil, cli.Invalid(err)
	}
	return func(ctx context.Context, t plan.Task) (wrapper.Endpoint, error) {
		observe := w.Observe(t.ID)
		if !w.asks(t) {
			return endpoint{nil, base, head}, nil
		}
		old, now := before[t.Integration], after[t.Integration]
		e, err := server.Open(ctx, server.Options{
			Base: base, Head: head, Integration: t.Integration,
			BaseAllowed: old.Schemas, HeadAllowed: now.Schemas,
			Unenforced: unenforced(old, now),
			Observe:    observe,
		})
		if err != nil {
			return nil, err
		}
		return endpoint{e, base, head}, nil
	}, nil
}

// asks tells whether a task is told the address of a server. One that is not can
// ask nothing, so that it needs none.
func (w World) asks(t plan.Task) bool {
	if t.Native {
		return true
	}
	exec := w.exec(t)
	told := func(text string) bool {
		return strings.Contains(text, "{"+graphqlURL+"}") || strings.Contains(text, "{"+baseURL+"}")
	}
	return told(exec.Config) || slices.ContainsFunc(t.Argv, told) ||
		slices.ContainsFunc(slices.Collect(maps.Values(exec.Env)), told)
}

// unenforced tells whether a task may read everything. That is for base to say
// where it knows the integration, so that no change can allow it to itself.
func unenforced(base, head integration.Definition) bool {
	if base.Check == nil {
		base = head
	}
	return base.Check != nil && base.Check.Unenforced
}

func definitions(b *bundle.Bundle) (map[string]integration.Definition, error) {
	list, err := integration.List(b)
	out := map[string]integration.Definition{}
	for _, d := range list {
		out[d.Name] = d
	}
	return out, err
}

// The placeholders that tell a task where to ask.
const (
	graphqlURL = "graphql_url"
	baseURL    = "base_url"
)

// An endpoint is a server as the wrapper wants it.
type endpoint struct {
	*server.Endpoint // nil for a task that does not ask
	base, head       *server.Snapshot
}

func (e endpoint) Vars() map[string]string {
	vars := map[string]string{"base_sha": e.base.Bundle.SHA256(), "head_sha": e.head.Bundle.SHA256()}
	if e.Endpoint != nil {
		vars[graphqlURL], vars[baseURL] = e.URL(), e.BaseURL()
	}
	return vars
}

func (e endpoint) Close() error {
	if e.Endpoint == nil {
		return nil
	}
	err := e.Endpoint.Close()
	var forbidden *server.ForbiddenError
	if errors.As(err, &forbidden) {
		return &wrapper.ConfigError{Err: forbidden}
	}
	return err
}
