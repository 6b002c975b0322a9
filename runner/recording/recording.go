package recording

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/qontract/server"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/dependence"
	"github.com/app-sre/prcheck/state/files"
	"github.com/app-sre/prcheck/trace"
)

// A Recording holds the queries that the tasks of one run send. Several goroutines may
// use it at once.
type Recording struct {
	// Mask replaces the secrets in a text. A trace that contains a secret is not saved.
	Mask func(text string) string
	// Files returns what a task read of the files of its side; nil: that is not known.
	Files func(task string) files.ID

	base, head string // sha256 of the bundles

	mu       sync.Mutex
	depends  map[string]dependence.Beyond // by task: what all its answers depend on
	attempts map[string][]*trace.Recorder // for each task one per attempt; nil until the attempt sends a query
}

// New returns an empty recording for a run over the bundles with these sha256.
func New(base, head string) *Recording {
	return &Recording{
		Mask: func(text string) string { return text },
		base: base, head: head, depends: map[string]dependence.Beyond{}, attempts: map[string][]*trace.Recorder{},
	}
}

// StartAttempt begins to record a new attempt of a task. It returns the observer for
// the server of this attempt.
func (r *Recording) StartAttempt(task string) func(server.Exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	attempt := len(r.attempts[task])
	r.attempts[task] = append(r.attempts[task], nil)
	return func(x server.Exchange) {
		r.noteDependence(task, x)
		Observer(r.recorder(task, attempt))(x)
	}
}

// recorder returns the recorder of an attempt. It creates the recorder when it is first
// needed: most tasks of a large plan may send nothing, and a recorder takes more memory
// than everything else that is kept of such a task.
func (r *Recording) recorder(task string, attempt int) *trace.Recorder {
	r.mu.Lock()
	defer r.mu.Unlock()
	recorder := &r.attempts[task][attempt]
	if *recorder == nil {
		*recorder = trace.NewRecorder(r.base, r.head)
	}
	return *recorder
}

// Observer returns a function that passes the exchanges of a server to a recorder.
func Observer(recorder *trace.Recorder) func(server.Exchange) {
	return func(x server.Exchange) {
		recorder.Note(trace.Exchange{
			Path: x.Path, SHA256: x.SHA256, Request: x.Request, Response: x.Response, Status: x.Status, Cut: x.Aborted,
			Body: x.Body,
		})
	}
}

// LastTrace returns the trace of the last attempt of a task, nil if the task never
// started.
func (r *Recording) LastTrace(t plan.Task, at time.Time) *trace.Trace {
	traces := r.traces(t, at)
	if len(traces) == 0 {
		return nil
	}
	return traces[len(traces)-1]
}

// traces returns the trace of each attempt of a task. The trace of an attempt that sent
// no query is empty.
func (r *Recording) traces(t plan.Task, at time.Time) []*trace.Trace {
	r.mu.Lock()
	defer r.mu.Unlock()
	var traces []*trace.Trace
	for _, recorder := range r.attempts[t.ID] {
		if recorder == nil {
			recorder = trace.NewRecorder(r.base, r.head)
		}
		traces = append(traces,
			recorder.Trace(trace.TaskKey{Integration: t.Integration, Command: t.Command, Shard: t.Label()}, at))
	}
	return traces
}

// noteDependence records on what an answer to a task depends.
func (r *Recording) noteDependence(task string, x server.Exchange) {
	if x.Response == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.depends[task] = r.depends[task].With(beyond(x.Response.Dependence))
}

// beyond converts what an answer depends on. It includes the schemas that are allowed.
func beyond(d gql.Dependence) dependence.Beyond {
	return dependence.Beyond{
		Schemas: texts(d.Schemas), Missing: texts(d.Missing), Resources: texts(d.Resources),
		Lists: d.ListsResources, Backrefs: d.Backrefs,
	}
}

func texts[T ~string](in []T) []string {
	var out []string
	for _, s := range in {
		out = append(out, string(s))
	}
	return out
}

// beyondAllowed lists what the answers to an integration depend on although its definition
// does not allow it.
func (r *Recording) beyondAllowed(tasks []plan.Task, d integration.Definition) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all dependence.Beyond
	for _, t := range tasks {
		if t.Integration == d.Name {
			all = all.With(r.depends[t.ID])
		}
	}
	out := slices.DeleteFunc(all.Schemas, func(s string) bool { return d.Allows(bundle.SchemaPath(s)) })
	if all.Backrefs {
		out = append(out, "backrefs of resources")
	}
	return out
}

// Dependences returns on what the answers to each task depend beyond the schemas that its
// definition allows. Tasks that did not run to their end, and tasks of integrations without
// a definition, are left out. A name that contains a secret is not returned: then the
// answers count as depending on anything.
func (r *Recording) Dependences(tasks []plan.Task, results []plan.Result, definitions []integration.Definition,
	at time.Time) []dependence.Run {
	byName := map[string]integration.Definition{}
	for _, d := range definitions {
		byName[d.Name] = d
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []dependence.Run
	for i, t := range tasks {
		d, defined := byName[t.Integration]
		if i >= len(results) || !defined || results[i].Attempts == 0 || len(r.attempts[t.ID]) == 0 {
			continue
		}
		b := r.depends[t.ID]
		b.Schemas = slices.DeleteFunc(slices.Clone(b.Schemas), func(s string) bool { return d.Allows(bundle.SchemaPath(s)) })
		for _, list := range []*[]string{&b.Schemas, &b.Missing, &b.Resources} {
			known := len(*list)
			*list = slices.DeleteFunc(slices.Clone(*list), func(name string) bool { return r.Mask(name) != name })
			b.Anything = b.Anything || len(*list) < known
		}
		out = append(out, dependence.Run{Task: t.ID, Integration: t.Integration, Command: t.Command, Passed: results[i].OK(),
			At: at, Beyond: b})
	}
	return out
}

// CheckAndSave checks the promises of integrations with "trace: static", and saves the
// traces of the tasks that passed. It returns warnings for people: broken promises, and
// traces that could not be saved.
//
// It changes the results of tasks that may not count as passed because a promise was
// broken, see [failForBrokenPromise]. The results are in the order of the plan's tasks.
func (r *Recording) CheckAndSave(ctx context.Context, store trace.Store, p *plan.Plan, results []plan.Result,
	rules *settings.Settings, at time.Time) (warnings []string) {
	promises := promiseCheck{store: store, plan: p, mask: r.Mask, at: at, broken: map[string]bool{}}
	for i, t := range p.Tasks {
		attempts := r.traces(t, at)
		if len(attempts) == 0 || i >= len(results) || t.Native {
			continue
		}
		passed, tracing := results[i].OK(), rules.For(t.Integration).Trace
		if tracing == settings.TraceStatic {
			warnings = append(warnings, promises.check(ctx, t.Integration, attempts, &results[i])...)
		}
		if passed && tracing != settings.TraceNone {
			last := attempts[len(attempts)-1]
			if r.Files != nil {
				last = last.WithFiles(r.Files(t.ID))
			}
			if err := r.save(ctx, store, last); err != nil && !errors.Is(err, state.ErrReadOnly) {
				warnings = append(warnings, err.Error())
			}
		}
	}
	return warnings
}

// save saves a trace. A trace that contains a secret is an error and is not saved.
func (r *Recording) save(ctx context.Context, store trace.Store, t *trace.Trace) error {
	raw, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if text := string(raw); r.Mask(text) != text {
		return fmt.Errorf("the trace of %q is not saved: a query or an answer contains a secret", t.Integration)
	}
	return store.Save(ctx, t)
}
