package launch

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/internal/reads"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/server"
	"github.com/app-sre/prcheck/runner/effects"
	"github.com/app-sre/prcheck/runner/findings"
	"github.com/app-sre/prcheck/runner/place"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/wrapper"
)

// Equipment is what tasks are started with.
type Equipment struct {
	Base, Head *bundle.Bundle
	Settings   *settings.Settings
	Folder     string // the folder in which tasks start without Place; "" is the current folder
	// Place makes the place in which an attempt of a task starts; nil: all start in Folder.
	Place func(context.Context, plan.Task) (place.Place, error)
	// IsRecorded tells whether the files that a task reads are recorded, if Read is told; nil: all are.
	IsRecorded func(plan.Task) bool
	// Read is told what an attempt of such a task read, when it has ended. It returns why that is not
	// known, because somebody changed a file meanwhile; "" if nobody did.
	Read func(plan.Task, place.Place, reads.Record) string
	// WritesInPlace is told of a task that writes into a file that it can only replace.
	WritesInPlace func(plan.Task)
	Temp          string // the folder for private config files; "" is that of the system
	Natives       []integration.DryRunner
	// Observe starts an attempt of a task and returns the observer of its queries; nil observes nothing.
	Observe func(task string) func(server.Exchange)
	// HandOut is told at each start of a task which values the task is given; nil is told nothing.
	HandOut func(task string, values []string)
	// Effects starts an attempt of a task and returns the finder of its effects; nil, or a nil finder,
	// finds none.
	Effects func(plan.Task) *effects.Finder
	// Findings starts an attempt of a native task and returns what takes its findings; nil keeps none.
	Findings func(plan.Task) *findings.Collection
	// Systems returns what a native may read beside the data; nil is nothing.
	Systems func(integration string) Systems
	State   state.Store         // what natives remember; nil is nothing
	Getenv  func(string) string // the runner's environment
	// Environ returns all of the runner's environment as NAME=value; nil if it cannot be listed.
	Environ func() []string
}

// Runner returns a runner for these tasks. An error means that a bundle cannot be served.
// Without tasks the bundles are not read.
func (e Equipment) Runner(tasks []plan.Task) (wrapper.Runner, error) {
	if len(tasks) == 0 {
		return runner{}, nil
	}
	open, err := e.endpoints()
	if err != nil {
		return nil, err
	}
	folder, err := filepath.Abs(e.Folder)
	if err != nil {
		return nil, err
	}
	if e.Place == nil {
		e.Place = func(context.Context, plan.Task) (place.Place, error) { return place.Place{Folder: folder}, nil }
	}
	return runner{e, wrapper.Process{Open: open, Temp: e.Temp, HandOut: e.handOut}}, nil
}

// handOut tells which values a task is given. Of addresses it adds the host and port.
func (e Equipment) handOut(t plan.Task, values []string) {
	if e.HandOut == nil {
		return
	}
	for _, v := range values {
		if u, err := url.Parse(v); err == nil && u.Host != "" {
			values = append(values, u.Host)
		}
	}
	e.HandOut(t.ID, values)
}

// endpoints returns a function that opens the endpoint of a task.
func (e Equipment) endpoints() (func(context.Context, plan.Task) (wrapper.Endpoint, error), error) {
	base, head, err := server.NewSnapshots(bundle.Apart(e.Base, e.Head), e.Head)
	if err != nil {
		return nil, cli.Invalid(err)
	}
	before, err := e.definitionsByName(e.Base)
	if err != nil {
		return nil, cli.Invalid(err)
	}
	after, err := e.definitionsByName(e.Head)
	if err != nil {
		return nil, cli.Invalid(err)
	}
	return func(ctx context.Context, t plan.Task) (wrapper.Endpoint, error) {
		observe := e.observer(t)
		if !e.needsServer(t) {
			return endpoint{nil, "", base, head}, nil
		}
		onBase, onHead := before[t.Integration], after[t.Integration]
		token := e.token(t)
		opened, err := server.Open(ctx, server.Options{
			Token: token,
			Base:  base, Head: head, Integration: t.Integration,
			BaseAllowed: onBase.Schemas, HeadAllowed: onHead.Schemas,
			Unenforced:  isUnenforced(onBase, onHead),
			Strict:      e.Settings.For(t.Integration).Strict,
			Definitions: e.Settings.DefinitionSchema(),
			Resources:   e.Settings.For(t.Integration).Resources,
			Observe:     observe,
		})
		if err != nil {
			return nil, err
		}
		return endpoint{opened, token, base, head}, nil
	}, nil
}

// observer returns the observer for a new attempt of a task, nil if nothing is observed.
func (e Equipment) observer(t plan.Task) func(server.Exchange) {
	if e.Observe == nil {
		return nil
	}
	return e.Observe(t.ID)
}

// needsServer reports whether a task needs a server: it is native, or its command, config
// or variables contain the placeholder for an address. Other tasks cannot send a query.
func (e Equipment) needsServer(t plan.Task) bool {
	if t.Native {
		return true
	}
	return e.uses(t, graphqlURL) || e.uses(t, baseURL)
}

// uses reports whether a task is given the value of a placeholder: by its command, its variables, or its config file.
func (e Equipment) uses(t plan.Task, placeholder string) bool {
	exec := e.exec(t)
	texts := slices.AppendSeq(slices.Clone(t.Argv), maps.Values(exec.Env))
	contains := func(placeholder string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, "{"+placeholder+"}") })
	}
	return contains(placeholder) || contains("config") && strings.Contains(exec.Config, "{"+placeholder+"}")
}

// token returns a new token for the server of a task, in the form that clients of qontract-server send: the value of
// the header Authorization. It is "" for a task that is given none.
func (e Equipment) token(t plan.Task) string {
	if !t.Native && !e.uses(t, settings.GraphQLToken) {
		return ""
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte("task:"+rand.Text()))
}

// isUnenforced reports whether an integration may read all schemas. If base defines the
// integration, the definition on base decides, so that a change cannot widen its own
// rights.
func isUnenforced(base, head integration.Definition) bool {
	if base.Check == nil {
		base = head
	}
	return base.Check != nil && base.Check.Unenforced
}

// definitionsByName returns the definitions of a bundle by the names of integrations.
func (e Equipment) definitionsByName(b *bundle.Bundle) (map[string]integration.Definition, error) {
	list, err := integration.List(b, e.Settings)
	out := map[string]integration.Definition{}
	for _, d := range list {
		out[d.Name] = d
	}
	return out, err
}

// The placeholders for the address of a task's server.
const (
	graphqlURL = "graphql_url"
	baseURL    = "base_url"
)

// An endpoint is a task's server, with the methods that package wrapper calls.
type endpoint struct {
	*server.Endpoint        // nil for a task that sends no query
	token            string // that opens it; "" if nobody needs one
	base, head       *server.Snapshot
}

// Vars returns the values of the placeholders for the bundles and the server.
func (e endpoint) Vars() map[string]string {
	vars := map[string]string{"base_sha": e.base.Bundle.SHA256(), "head_sha": e.head.Bundle.SHA256()}
	if e.Endpoint != nil {
		vars[graphqlURL], vars[baseURL] = e.URL(), e.BaseURL()
	}
	if e.token != "" {
		vars[settings.GraphQLToken] = e.token
	}
	return vars
}

// Close closes the server. A [wrapper.ConfigError] says that the task read a schema
// that its integration may not read.
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

// minUnlisted is the minimum length in bytes of a secret whose variable the settings do
// not name. A shorter value is more likely a switch such as "true". GitLab masks no
// shorter value either.
const minUnlisted = 8

// passwordInURL matches the password in a URL.
var passwordInURL = lazyregexp.New(`://[^/:@\s]*:([^@/\s]+)@`)

// Secrets returns the values that must not appear in any output of these tasks: the values
// of all variables that are named like a secret. They may be set by the settings or in the
// runner's environment, and it does not matter whether a task gets them.
func (e Equipment) Secrets(tasks []plan.Task) []string {
	var out []string
	add := func(v string) {
		if v != "" && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	for _, v := range e.environSecrets() {
		add(v)
	}
	for _, t := range tasks {
		exec := e.exec(t)
		names := append(append(settings.EnvPlaceholderNames(t.Argv...), settingsVariables(exec)...), exec.PassEnv...)
		for name, v := range exec.Env {
			from := settings.EnvPlaceholderNames(v)
			switch {
			case !mask.IsSecretName(name):
			case len(from) == 0:
				add(v)
			default:
				for _, name := range from {
					add(e.Getenv(name))
				}
			}
		}
		for _, name := range names {
			if mask.IsSecretName(name) {
				add(e.Getenv(name))
			}
		}
	}
	return out
}

// environSecrets returns the secrets in the runner's whole environment, including passwords
// in URLs. Tasks do not get them, but a child process can read the environment of its
// parent.
func (e Equipment) environSecrets() []string {
	if e.Environ == nil {
		return nil
	}
	var out []string
	for _, entry := range e.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		if mask.IsSecretName(name) {
			out = append(out, value)
		}
		for _, m := range passwordInURL.FindAllStringSubmatch(value, -1) {
			out = append(out, m[1])
			if plain, err := url.PathUnescape(m[1]); err == nil {
				out = append(out, plain)
			}
		}
	}
	return slices.DeleteFunc(out, func(v string) bool { return len(v) < minUnlisted })
}

// Queries answer the queries of native integrations that run outside of a plan.
type Queries struct {
	open func(ctx context.Context, name string) (endpoint, error)
}

// Queries returns what answers queries over head, with the rights that the definitions in it
// give. The bundle base is not needed.
func (e Equipment) Queries() (*Queries, error) {
	e.Base = e.Head
	open, err := e.endpoints()
	if err != nil {
		return nil, err
	}
	return &Queries{func(ctx context.Context, name string) (endpoint, error) {
		opened, err := open(ctx, plan.Task{Integration: name, Native: true})
		if err != nil {
			return endpoint{}, fmt.Errorf("opening the endpoint: %w", err)
		}
		return opened.(endpoint), nil
	}}, nil
}

// Open returns the function that answers the queries of an integration until it is closed.
// Closing returns a [wrapper.ConfigError] if the integration read what it may not read.
func (q *Queries) Open(ctx context.Context, name string) (query integration.QueryFunc, end func() error, err error) {
	opened, err := q.open(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	return queryFunc(opened.URL(), opened.token), opened.Close, nil
}
