package manager

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/manager/render"
	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// A view is how one namespace of a cluster is looked at.
type view struct {
	settings  ownSettings
	cluster   integration.ClusterRef
	shard     string // cluster/namespace
	namespace string
	self      string // the integration that runs
	options   manifests.Options
	stays     map[reconcile.Key]bool // entries, by whether their object stays
	broken    map[string]string      // integrations that cannot be rendered, with the reason
}

// newView returns how the namespace of a part is looked at.
func newView(env integration.Environment, p native.Part) (*view, error) {
	s, err := readSettings(env.Settings.Own)
	if err != nil {
		return nil, reconcile.Config(err)
	}
	ref, ok := p.Target.(integration.ClusterRef)
	if !ok {
		return nil, fmt.Errorf("part %q has a target of type %T", p.Shard, p.Target)
	}
	v := &view{
		settings: s, cluster: ref, shard: p.Shard, namespace: p.Shard[strings.LastIndexByte(p.Shard, '/')+1:],
		self: env.Integration,
		options: manifests.Options{Manager: integration.FieldManager(env.Integration), TakeFrom: s.TakeFieldsFrom,
			Override: s.OverrideManagers, MigrateSelector: s.MigrateSelector},
		stays: map[reconcile.Key]bool{}, broken: map[string]string{},
	}
	for _, it := range p.Items {
		b, _ := it.Body.(body)
		if b.Object == nil {
			v.broken[b.Integration] = it.Mistake.Message
			continue
		}
		v.stays[it.Key] = !it.Delete
	}
	return v, nil
}

// key returns the key of an object of the namespace.
func (v *view) key(k manifests.Kind, name string) reconcile.Key {
	return reconcile.Key(fmt.Sprintf("%s/%s/%s", v.shard, k, name))
}

// object returns what a key names.
func (v *view) object(key reconcile.Key) (manifests.Kind, integration.ObjectRef) {
	kind, name, _ := strings.Cut(strings.TrimPrefix(string(key), v.shard+"/"), "/")
	k := manifests.Named(kind)
	return k, k.Ref(v.namespace, name)
}

// kinds are those of the objects that integrations become.
func kinds() []manifests.Kind {
	return []manifests.Kind{manifests.CronJob, manifests.Deployment, manifests.Service, manifests.StatefulSet}
}

// namePrefix is what the names of objects, and the values of the label app, begin with.
const namePrefix = "qontract-reconcile-"

// belongs reports whether an object is one of an integration. Its annotation says so, or else its
// label. If somebody changed the label, its name counts: in doubt an object is kept.
func belongs(o manifests.Object, integration string) bool {
	if s, ok := notedShare(o); ok {
		return s.integration == integration
	}
	// as a label that is too long
	short := strings.TrimPrefix(render.ObjectName(manifests.Deployment, integration, ""), namePrefix)
	app, _ := field(field(o, "metadata"), "labels")["app"].(string)
	if of, ok := strings.CutPrefix(app, namePrefix); ok {
		return of == integration || of == short
	}
	name, _ := field(o, "metadata")["name"].(string)
	of, ok := strings.CutPrefix(name, namePrefix)
	return ok && (of == short || strings.HasPrefix(of, short+"-"))
}

// whyBroken returns an integration that cannot be rendered and has an object, with the reason.
func (v *view) whyBroken(o manifests.Object) (integration, reason string, ok bool) {
	for _, name := range sortedKeys(v.broken) {
		if belongs(o, name) {
			return name, v.broken[name], true
		}
	}
	return "", "", false
}

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
