package recording

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/server"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/trace"
)

// A Recording notes what the tasks of one run ask. Several goroutines may use it
// at once.
type Recording struct {
	// Mask hides secrets in a text. A trace that has one is not kept.
	Mask func(text string) string

	base, head string

	mu    sync.Mutex
	tasks map[string][]*trace.Recorder // one for each attempt, nil while it asked nothing
}

// New returns a recording of a run over the bundles with these sha256.
func New(base, head string) *Recording {
	return &Recording{
		Mask: func(text string) string { return text },
		base: base, head: head, tasks: map[string][]*trace.Recorder{},
	}
}

// Task returns what is told every exchange of a task. A task that starts again
// is noted anew.
func (r *Recording) Task(id string) func(server.Exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	attempt := len(r.tasks[id])
	r.tasks[id] = append(r.tasks[id], nil)
	return func(x server.Exchange) { Into(r.recorder(id, attempt))(x) }
}

// recorder returns the recorder of an attempt. It is made when it is needed, since
// it takes more memory than all else that is kept of a task that says nothing.
func (r *Recording) recorder(id string, attempt int) *trace.Recorder {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := &r.tasks[id][attempt]
	if *of == nil {
		*of = trace.NewRecorder(r.base, r.head)
	}
	return *of
}

// Into tells a recorder every exchange of a server.
func Into(recorder *trace.Recorder) func(server.Exchange) {
	return func(x server.Exchange) {
		recorder.Note(trace.Exchange{
			Path: x.Path, SHA256: x.SHA256, Request: x.Request, Response: x.Response, Status: x.Status, Cut: x.Aborted, Body: x.Body,
		})
	}
}

// Trace returns what a task asked when it started last, nil when it never did.
func (r *Recording) Trace(t plan.Task, at time.Time) *trace.Trace {
	all := r.attempts(t, at)
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

// attempts returns what a task asked in each of its attempts.
func (r *Recording) attempts(t plan.Task, at time.Time) []*trace.Trace {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []*trace.Trace
	for _, recorder := range r.tasks[t.ID] {
		if recorder == nil {
			recorder = trace.NewRecorder(r.base, r.head)
		}
		all = append(all, recorder.Trace(trace.Subject{Integration: t.Integration, Command: t.Command, Shard: t.Label()}, at))
	}
	return all
}

// Keep remembers the traces of the tasks that passed. Of an integration that
// promised to ask always the same, every task is held to the promise; what it
// says of broken ones and of traces that cannot be kept is for people.
//
// When the promise is broken, now or since the plan was made, while the plan
// leaves out other shards of its integration, or tasks that passed before, they were
// left out on that promise: the task's result is changed to a failure that says so.
func (r *Recording) Keep(ctx context.Context, store trace.Store, p *plan.Plan, results []plan.Result, settings *integration.Settings, at time.Time) []string {
	var said []string
	broken := map[string]bool{} // in this run
	for i, t := range p.Tasks {
		all := r.attempts(t, at)
		if len(all) == 0 || i >= len(results) || t.Native {
			continue
		}
		passed, keeps := results[i].OK(), settings.For(t.Integration).Trace
		if keeps == integration.TraceStatic {
			why := r.Mask(breach(ctx, store, all, passed))
			switch d, _ := p.Decision(t.Integration); {
			case why != "" && !broken[t.Integration]:
				broken[t.Integration] = true
				said = append(said, fmt.Sprintf("BROKEN PROMISE: %q is trace: static, but %s; its traces are set aside, and it runs in full until planner confirm says otherwise", t.Integration, why))
				if err := store.Break(ctx, t.Integration, why, at); err != nil {
					said = append(said, err.Error())
				}
				revoke(d, &results[i], why)
			case !broken[t.Integration] && len(d.Evidence.Traces) > 0:
				revoke(d, &results[i], store.Breach(ctx, t.Integration))
			}
		}
		if passed && keeps != integration.TraceNone {
			if err := r.save(ctx, store, all[len(all)-1]); err != nil && !errors.Is(err, state.ErrReadOnly) {
				said = append(said, err.Error())
			}
		}
	}
	return said
}

// revoke turns a result that does not fail the check into one that does, when
// tasks were left out on a promise that was broken.
func revoke(d plan.Decision, r *plan.Result, why string) {
	if why != "" && (d.Decision == plan.Shards || d.Evidence.Reused > 0) && !r.Blocks() {
		r.Status, r.Class = plan.Failed, plan.ClassConfig
		r.Reason = "it is trace: static, but " + why + "; shards were left out on that promise: plan again"
	}
}

// save keeps one trace, unless there is a secret in it.
func (r *Recording) save(ctx context.Context, store trace.Store, t *trace.Trace) error {
	raw, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if text := string(raw); r.Mask(text) != text {
		return fmt.Errorf("nothing is remembered of %q: there is a secret in what it asked, or in an answer", t.Integration)
	}
	return store.Save(ctx, t)
}

// breach tells how a task broke the promise of its integration in one of its
// attempts, "" when it did not, or there is nothing to compare with.
func breach(ctx context.Context, store trace.Store, attempts []*trace.Trace, passed bool) string {
	last := attempts[len(attempts)-1]
	if store.Broken(ctx, last.Integration) != "" {
		return ""
	}
	traces, _ := store.Load(ctx, last.Subject)
	if len(traces) == 0 {
		return ""
	}
	for _, now := range attempts {
		if why := traces[0].Asks(now, now != last || !passed); why != "" {
			return why
		}
	}
	return ""
}

// Observed says, for each integration that asked something, what it read and
// which of the schemas it is allowed, and need not be, it did not, in name order.
func (r *Recording) Observed(tasks []plan.Task, defs []integration.Definition) []plan.Observed {
	all := map[string]*plan.Observed{}
	for _, t := range tasks {
		seen := r.Trace(t, time.Time{})
		if seen == nil || len(seen.Requests) == 0 {
			continue
		}
		o := all[t.Integration]
		if o == nil {
			o = &plan.Observed{Integration: t.Integration, Read: []string{}, Unread: []string{}, Partial: true}
			all[t.Integration] = o
		}
		add(o, seen)
		o.Partial = o.Partial && t.Label() != ""
	}
	for _, d := range defs {
		if o := all[d.Name]; o != nil {
			o.Unread = unread(d, o.Read)
		}
	}
	out := make([]plan.Observed, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, *all[name])
	}
	return out
}

// add adds what one task read.
func add(o *plan.Observed, seen *trace.Trace) {
	for _, s := range seen.Schemas {
		o.Read = append(o.Read, string(s))
	}
	slices.Sort(o.Read)
	o.Read = slices.Compact(o.Read)
	for schema, fields := range seen.Fields {
		if o.Fields == nil {
			o.Fields = map[string][]string{}
		}
		list := slices.Concat(o.Fields[string(schema)], fields)
		slices.Sort(list)
		o.Fields[string(schema)] = slices.Compact(list)
	}
}

// unread returns the schemas that a definition allows and need not, and that
// were not read.
func unread(d integration.Definition, read []string) []string {
	out := []string{}
	for _, s := range d.Schemas {
		if !slices.Contains(read, string(s)) && !slices.Contains(integration.RequiredSchemas(), s) {
			out = append(out, string(s))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
