package generic

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic/hooks"
	"github.com/app-sre/prcheck/natives/generic/rest"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state"
)

// A doer reads and writes single resources.
type doer struct {
	*service
	env   integration.Environment
	state state.Store // nil if nothing is remembered
	// putSecret puts a value into the store of secrets; nil if nothing can.
	putSecret func(ctx context.Context, ref integration.SecretRef, value string) error
	hashKey   []byte // of the hashes of secrets
}

// doer returns what reads and writes the resources of a part.
func (g *generic) doer(ctx context.Context, env integration.Environment, act integration.Actors,
	p native.Part) (reconcile.Doer, error) {
	t, err := targetOf(p)
	if err != nil {
		return nil, err
	}
	if act.Endpoint == nil {
		return nil, reconcile.Config(errNoEndpoint)
	}
	transport, err := act.Endpoint(ctx, t.EndpointRef)
	if err != nil {
		return nil, err
	}
	s, err := g.open(env, p, transport, &rest.Throttle{Store: act.State})
	if err != nil {
		return nil, err
	}
	d := &doer{service: s, env: env, state: act.State, putSecret: act.PutSecret}
	if d.hashKey, err = makeKey(ctx, act.State); err != nil {
		return nil, err
	}
	for _, it := range p.Items {
		e, ok := it.Body.(*entry)
		if !ok {
			continue
		}
		e.key = d.hashKey
		if _, known := p.Known[it.Key]; known && e.pending.Intended && e.pending.Operation == nil {
			if err := d.memory(it.Key, e).end(ctx, false); err != nil {
				return nil, err
			}
		}
	}
	return d, nil
}

func (d *doer) memory(k reconcile.Key, e *entry) *memory {
	return &memory{store: d.state, key: k, is: e.pending, at: d.now().UTC()}
}

// Read implements [reconcile.Doer].
func (d *doer) Read(ctx context.Context, key reconcile.Key) (*reconcile.Thing, error) {
	e := d.entries[key]
	if e == nil {
		return d.readKnown(ctx, key)
	}
	if e.presence == absent {
		// A write reads it once more right before it is created, and refuses it if it is there.
		e.presence = unknown
		return nil, nil
	}
	live, err := d.client.Read(ctx,
		rest.Target{Address: e.of.Address, Type: e.of.TypeID(), Plain: e.of.Plain, Find: d.finder(e, nil)})
	if err != nil || !live.Found {
		return nil, err
	}
	return d.thing(ctx, e, key, live)
}

// readKnown reads a resource that no entry names.
func (d *doer) readKnown(ctx context.Context, key reconcile.Key) (*reconcile.Thing, error) {
	c := &collection{service: d.service}
	if err := c.readLeft(ctx, key, d.known[key]); err != nil || len(c.out.Things) == 0 {
		return nil, err
	}
	return &c.out.Things[0], nil
}

// Write implements [reconcile.Doer].
func (d *doer) Write(ctx context.Context, s reconcile.Step, fresh *reconcile.Thing, mark reconcile.Mark) error {
	e := d.entries[s.Key]
	if e == nil {
		return fmt.Errorf("no entry of the data names %q", s.Key)
	}
	t, err := e.target()
	if err != nil {
		return reconcile.Config(err)
	}
	t.Find = d.finder(e, nil)
	w := &writing{doer: d, entry: e, target: t, memory: d.memory(s.Key, e), step: s, fresh: fresh, mark: mark}
	err = w.run(ctx)
	var busy *rest.Error
	if errors.As(err, &busy) && busy.Class == rest.Reread {
		return reconcile.ErrConflict
	}
	return err
}

// A writing is one step that writes.
type writing struct {
	*doer
	*entry
	target rest.Target
	memory *memory
	step   reconcile.Step
	fresh  *reconcile.Thing
	mark   reconcile.Mark
	// resumed says that the operation of an earlier run succeeded: what it sent is applied.
	resumed bool
}

// run takes the step.
func (w *writing) run(ctx context.Context) error {
	if o := w.memory.is.Operation; o != nil {
		var p rest.Planner
		if w.step.Action != reconcile.Remove {
			p = &planner{writing: w}
		}
		r, err := w.client.Resume(ctx, w.target, *o, p, w.memory)
		w.tell(r.Notes)
		if errors.Is(err, rest.ErrPending) {
			return err
		}
		if err := errors.Join(w.ended(ctx, err), w.memory.end(ctx, true)); err != nil {
			return err
		}
		if w.resumed = err == nil; err != nil {
			w.say(fmt.Sprintf("the %s of an earlier run ended: %v", o.Verb, err))
		}
	}
	switch w.step.Action {
	case reconcile.Remove:
		return w.remove(ctx)
	case reconcile.Replace:
		if err := w.remove(ctx); err != nil {
			return err
		}
		w.fresh = nil
	}
	return w.write(ctx)
}

// write creates or updates the resource, or writes its mark.
func (w *writing) write(ctx context.Context) error {
	if !onlyMarks(w.step.Action) {
		if err := w.takeNow(ctx); err != nil {
			return err
		}
	}
	ready, err := w.Hooks.PreReconcile(ctx, w.hooked(w.entry, w.liveBody()))
	if err != nil {
		return err
	}
	if err := w.obey(ctx, ready); err != nil {
		return err
	}
	r, err := w.client.Write(ctx, w.target, &planner{writing: w, set: ready.Set}, w.memory)
	w.tell(r.Notes)
	if errors.Is(err, rest.ErrPending) {
		return err
	}
	if refused, isRefused := errors.AsType[*rest.Error](err); isRefused && refused.IsRefusal() && w.fresh == nil &&
		w.of.IsSought {
		w.memory.is.Intended = false // nothing was created, and nothing has to be looked for
	}
	if err = errors.Join(err, w.ended(ctx, err), w.memory.end(ctx, true)); err != nil {
		return err
	}
	w.written = r.Live.Body
	if r.Path != "" && w.of.Plain != nil {
		w.at.set(r.Path)
	}
	if err := w.publish(ctx, r.Live.Body); err != nil {
		return err
	}
	return w.Hooks.PostReconcile(ctx, w.hooked(w.entry, r.Live.Body))
}

// remove deletes the resource.
func (w *writing) remove(ctx context.Context) error {
	ready, err := w.Hooks.PreDelete(ctx, w.hooked(w.entry, w.liveBody()))
	if err != nil {
		return err
	}
	if err := w.obey(ctx, ready); err != nil {
		return err
	}
	r, err := w.client.Delete(ctx, w.target, w.isStillOurs, w.memory)
	w.tell(r.Notes)
	if errors.Is(err, rest.ErrPending) {
		return err
	}
	return errors.Join(err, w.memory.end(ctx, false))
}

// liveBody returns the resource as it was read last, nil if it was not there.
func (w *writing) liveBody() any {
	if w.fresh == nil {
		return nil
	}
	is, _ := w.fresh.Body.(found)
	return is.live.Body
}

// errMoved says that the mark of a resource changed between two readings.
var errMoved = fmt.Errorf("its mark changed just now: %w", reconcile.ErrConflict)

// isStillOurs returns an error if the mark is not the one that was judged.
func (w *writing) isStillOurs(_ context.Context, live rest.Live) error {
	if live.Found && w.fresh != nil && !w.fresh.Unmarkable && w.markOf(w.entry, live.Body) != w.fresh.Mark {
		return errMoved
	}
	return nil
}

// obey makes the calls that a hook asks for, and returns why the work does not go on.
func (w *writing) obey(ctx context.Context, ready hooks.Ready) error {
	for _, q := range ready.First {
		if err := w.call(ctx, q); err != nil {
			return fmt.Errorf("%s %.200q: %w", q.Method, q.Path, err)
		}
	}
	switch ready.Decision {
	case hooks.Block:
		return reconcile.Config(fmt.Errorf("%s: %s", ready.Code, ready.Reason))
	case hooks.Postpone:
		return reconcile.Transient(errors.New(ready.Reason))
	}
	return nil
}

// tell reports what people should know about a request.
func (w *writing) tell(notes []rest.Note) {
	for _, n := range notes {
		w.say(fmt.Sprintf("%s %s: %s", n.Code, n.Path, n.Text))
		if w.env.Report == nil {
			continue
		}
		w.env.Report(integration.Remark{Shard: w.env.Shard, Finding: plan.Finding{
			Code: plan.FindingCode(n.Code), Severity: plan.SeverityNote, Place: w.step.Place,
			Message: fmt.Sprintf("%s%s: %s", w.step.Key, n.Path, n.Text),
		}})
	}
}

// say writes a line about the resource into the log.
func (w *writing) say(line string) {
	if w.env.Log != nil {
		_, _ = fmt.Fprintf(w.env.Log, "  %s: %s\n", w.step.Key, line) // the log is for people
	}
}

// onlyMarks reports whether an action writes nothing but the mark.
func onlyMarks(a reconcile.Action) bool {
	return slices.Contains([]reconcile.Action{reconcile.AdoptIt, reconcile.MarkIt}, a)
}
