package manager

import (
	"context"
	"fmt"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// A doer reads and writes single objects of a namespace.
type doer struct {
	*view
	objects manifests.Applier
}

// newDoer returns what reads and writes the objects of a part.
func newDoer(ctx context.Context, env integration.Environment, act integration.Actors,
	p native.Part) (reconcile.Doer, error) {
	v, err := newView(env, p)
	if err != nil {
		return nil, err
	}
	writer, err := act.Cluster(ctx, v.cluster)
	if err != nil {
		return nil, err
	}
	return doer{v, manifests.Applier{Writer: writer, Options: v.options, Limit: v.settings.patience()}}, nil
}

// Read implements [reconcile.Doer]. An object that no entry names and that is not ours is as if it
// were not there: somebody made it in the place of one of ours.
func (d doer) Read(ctx context.Context, key reconcile.Key) (*reconcile.Thing, error) {
	kind, ref := d.object(key)
	l, err := d.objects.Read(ctx, kind, ref.Namespace, ref.Name)
	if err != nil || l == nil {
		return nil, err
	}
	if _, isNamed := d.stays[key]; !isNamed && !l.Deletable() {
		return nil, nil
	}
	t := d.thing(l)
	return &t, nil
}

// Write implements [reconcile.Doer].
func (d doer) Write(ctx context.Context, s reconcile.Step, fresh *reconcile.Thing, mark reconcile.Mark) error {
	var l *manifests.Live
	if fresh != nil {
		p, ok := fresh.Body.(process)
		if !ok {
			return fmt.Errorf("got a body of type %T", fresh.Body)
		}
		l = p.Live
	}
	want := manifests.Wanted{Namespace: d.namespace}
	if b, ok := s.Wanted().(body); ok && b.Object != nil {
		want.Kind, want.Object = kindOf(b.Object), b.Object
	}
	return d.objects.Do(ctx, s.Action, want, l, mark)
}

// try asks the cluster whether it would make an object as its entry says.
func try(ctx context.Context, env integration.Environment, p native.Part,
	s reconcile.Step) ([]reconcile.Change, error) {
	v, err := newView(env, p)
	if err != nil {
		return nil, err
	}
	b, _ := s.Item.Body.(body)
	l := liveOf(s)
	if l != nil && (len(v.options.Takes(l)) > 0 || field(field(l.Object, "spec"), "strategy")["rollingUpdate"] != nil) {
		// the log is for people
		_, _ = fmt.Fprintf(env.Log, "%s cannot be tried: fields of others become ours first\n", s.Key)
		return s.Changes, nil
	}
	trial, err := env.Trial(ctx, v.cluster)
	if err != nil {
		return nil, err
	}
	raw, err := manifests.Applied(kindOf(b.Object), b.Object, l, v.namespace, v.options,
		reconcile.Mark{Integration: v.self, Caller: p.Caller})
	if err != nil {
		return nil, err
	}
	_, ref := v.object(s.Key)
	_, err = trial.TryApply(ctx, ref, raw)
	return s.Changes, err
}
