package manager

import (
	"context"
	"errors"
	"fmt"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// current returns the objects of a namespace. If a kind cannot be listed because the role of the
// account does not allow it, the objects of the other kinds are still compared.
func current(ctx context.Context, env integration.Environment, p native.Part) (native.Current, error) {
	v, err := newView(env, p)
	if err != nil {
		return native.Current{}, err
	}
	reader, err := env.Cluster(ctx, v.cluster)
	if err != nil {
		return native.Current{}, err
	}
	out := native.Current{Unread: map[reconcile.Key]error{}, Kept: map[reconcile.Key]string{}}
	for _, k := range kinds() {
		list, err := reader.List(ctx, k.Resource, v.namespace, "")
		if err != nil && integration.ClassOfFailure(err) != integration.FailureOfConfig {
			return native.Current{}, err
		}
		if err != nil {
			out.Errors = append(out.Errors, err)
			v.setUnread(k, err, out.Unread)
			continue
		}
		for _, raw := range list {
			l, err := manifests.Read(k, raw, v.options)
			if err != nil {
				return native.Current{}, err
			}
			v.add(l, &out)
		}
	}
	if len(out.Errors) == len(kinds()) {
		return native.Current{}, errors.Join(out.Errors...)
	}
	return out, nil
}

// setUnread notes that the objects of a kind could not be read.
func (v *view) setUnread(k manifests.Kind, err error, unread map[reconcile.Key]error) {
	for key := range v.stays {
		if kind, _ := v.object(key); kind == k {
			unread[key] = err
		}
	}
}

// add adds an object. What none of ours applied and what belongs to another object is never
// deleted, whatever marks it has: somebody may have copied them.
func (v *view) add(l *manifests.Live, out *native.Current) {
	t := v.thing(l)
	stays, isNamed := v.stays[t.Key]
	if !isNamed && !l.Deletable() {
		return
	}
	if of, why, isBroken := v.whyBroken(l.Object); isBroken && !stays { // another entry may want it
		out.Kept[t.Key] = fmt.Sprintf("it stays, because %s cannot be rendered: %s", of, why)
		return
	}
	if !stays && !l.Deletable() {
		t.Mark = reconcile.Mark{}
	}
	if !stays && v.self != "" && belongs(l.Object, v.self) {
		t.Protected, t.Protection = true, "it runs "+v.self+" itself, which never deletes itself: delete it by hand"
	}
	out.Things = append(out.Things, t)
}

// A process is an object of a cluster as it was read, with how it is compared.
type process struct {
	*manifests.Live
	options manifests.Options
}

// thing returns an object as a thing.
func (v *view) thing(l *manifests.Live) reconcile.Thing {
	t := l.Thing(v.key(l.Kind, l.Name))
	t.Body = process{l, v.options}
	return t
}

// compare returns how an object differs from its entry.
func compare(want reconcile.Item, is reconcile.Thing, _ reconcile.Record) (reconcile.Difference, error) {
	b, ok := want.Body.(body)
	p, isThere := is.Body.(process)
	if !ok || !isThere {
		return reconcile.Difference{}, fmt.Errorf("got a body of type %T and %T", want.Body, is.Body)
	}
	return manifests.Diff(b.Object, p.Live, p.options)
}
