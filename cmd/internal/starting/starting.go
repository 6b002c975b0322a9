package starting

import (
	"context"
	"errors"
	"path/filepath"

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
		old, now := before[t.Integration], after[t.Integration]
		e, err := server.Open(ctx, server.Options{
			Base: base, Head: head, Integration: t.Integration,
			BaseAllowed: old.Schemas, HeadAllowed: now.Schemas,
			Unenforced: unenforced(old, now),
			Observe:    w.Observe(t.ID),
		})
		if err != nil {
			return nil, err
		}
		return endpoint{e, base, head}, nil
	}, nil
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

// An endpoint is a server as the wrapper wants it.
type endpoint struct {
	*server.Endpoint
	base, head *server.Snapshot
}

func (e endpoint) Vars() map[string]string {
	return map[string]string{
		"graphql_url": e.URL(), "base_url": e.BaseURL(),
		"base_sha": e.base.Bundle.SHA256(), "head_sha": e.head.Bundle.SHA256(),
	}
}

func (e endpoint) Close() error {
	err := e.Endpoint.Close()
	var forbidden *server.ForbiddenError
	if errors.As(err, &forbidden) {
		return &wrapper.ConfigError{Err: forbidden}
	}
	return err
}
