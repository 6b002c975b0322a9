package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/render"
	"github.com/app-sre/prcheck/plan"
)

// A view is how the objects of a cell in one namespace are looked at.
type view struct {
	run       *run
	cluster   integration.ClusterRef
	at        string // cluster/namespace
	namespace string
	file      *saas.File
	place     plan.Place // of a target
	options   manifests.Options
	isCleared bool
	isAlways  bool   // objects are applied without a comparison
	kept      string // why objects that no entry names stay, "" if they go

	bodies map[reconcile.Key]body
	kinds  map[reconcile.Key]manifests.Kind // of all objects that were seen or are desired
	listed []manifests.Kind
}

// see makes the view of a part of head.
func (r *run) see(s *side, c *cell, p native.Part, targets []*target) {
	if s != r.head {
		r.noteBase(p.Items)
		return
	}
	ref, isRef := p.Target.(integration.ClusterRef)
	if !isRef {
		return
	}
	v := &view{run: r, cluster: ref, at: p.At, namespace: targets[0].Namespace.Name, file: c.File, place: targets[0].Place,
		isCleared: p.Clear,
		isAlways:  r.isSingle() && !c.File.Compare,
		options: manifests.Options{Manager: integration.FieldManager(r.env.Integration), TakeFrom: r.settings.TakeFieldsFrom,
			Override:        r.settings.OverrideManagers,
			MigrateSelector: r.settings.MigrateSelector, AsWritten: true},
		bodies: map[reconcile.Key]body{}, kinds: map[reconcile.Key]manifests.Kind{}}
	for _, it := range p.Items {
		b, _ := it.Body.(body)
		if b.Object == nil {
			v.kept = fmt.Sprintf("%s cannot be rendered, and it may belong to that target", b.Target)
			continue
		}
		v.bodies[it.Key] = b
	}
	for _, t := range targets {
		if v.kept == "" && errors.Is(t.err, render.ErrOpaque) {
			v.kept = fmt.Sprintf("%s cannot be rendered, and it may belong to that target", t.Label())
		}
	}
	if t := c.File.DisabledAt(p.At); t != nil && v.kept == "" {
		v.kept = fmt.Sprintf("%s is disabled, and it may belong to that target", t.Label())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.views[p.Shard+" "+p.At] = v
}

// noteBase notes the objects of base.
func (r *run) noteBase(items []reconcile.Item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, it := range items {
		if b, _ := it.Body.(body); b.Object != nil {
			r.before[it.Key] = b
		}
	}
}

// view returns the view of a part.
func (r *run) view(p native.Part) (*view, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.views[p.Shard+" "+p.At]
	if v == nil {
		return nil, fmt.Errorf("nobody knows the objects of %s at %s", p.Shard, p.At)
	}
	return v, nil
}

// current returns the objects of a namespace that are of the kinds that the saas file manages.
func (r *run) current(ctx context.Context, env integration.Environment, p native.Part) (native.Current, error) {
	v, err := r.view(p)
	if err != nil {
		return native.Current{}, err
	}
	reader, err := env.Cluster(ctx, v.cluster)
	if err != nil {
		return native.Current{}, err
	}
	out := native.Current{Unread: map[reconcile.Key]error{}, Kept: map[reconcile.Key]string{},
		Partly: map[reconcile.Key]string{}}
	kinds, err := v.managed(ctx, reader, &out)
	if err != nil {
		return native.Current{}, err
	}
	v.listed = kinds
	failed := 0
	v.tellNamespace(ctx, reader)
	for _, k := range kinds {
		err := v.list(ctx, reader, k, &out)
		if err != nil && integration.ClassOfFailure(err) != integration.FailureOfConfig {
			return native.Current{}, err
		}
		if err != nil {
			failed++
			out.Errors = append(out.Errors, err)
			v.setUnread(k, err, &out)
		}
	}
	if failed > 0 && failed == len(kinds) {
		return native.Current{}, errors.Join(out.Errors...)
	}
	if v.file.ValidatePlannedData {
		v.checkPlanned(ctx, reader, &out)
	}
	if v.isCleared && len(out.Things) == 0 && len(out.Errors) == 0 {
		r.note(CodeFinished, v.place, fmt.Sprintf("nothing of %s is left at %s: its targets can be removed from the data",
			v.file.Name, v.at))
	}
	return out, nil
}

// CodeFinished says that a target that says delete can be removed.
const CodeFinished plan.FindingCode = "FINISHED"

// managed returns the kinds to list: those of the objects that are desired, and those that the
// saas file manages and the cluster has. What the cluster does not have is told.
func (v *view) managed(ctx context.Context, reader integration.ClusterReader,
	out *native.Current) ([]manifests.Kind, error) {
	var kinds []manifests.Kind
	known := map[string]bool{} // managed types by which objects are desired
	add := func(k manifests.Kind) {
		if !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	for _, key := range slices.Sorted(keys(v.bodies)) {
		version, _ := v.bodies[key].Object["apiVersion"].(string)
		name, _ := v.bodies[key].Object["kind"].(string)
		k, err := reader.Kind(ctx, version, name)
		switch {
		case errors.Is(err, integration.ErrNotThere):
			out.Unread[key] = reconcile.Config(fmt.Errorf("the cluster has no kind %.100q of %.100q: %w", name, version, err))
			continue
		case err != nil:
			return nil, err
		}
		v.kinds[key] = k
		known[k.Name], known[k.Name+"."+k.Group] = true, true
		add(k)
	}
	for _, of := range v.file.ManagedTypes {
		if known[of] {
			continue
		}
		name, group, hasGroup := strings.Cut(of, ".")
		if hasGroup {
			group += "/"
		}
		switch k, err := reader.Kind(ctx, group, name); {
		case errors.Is(err, integration.ErrNotThere):
			_, _ = fmt.Fprintf(v.run.env.Log, "%s: the cluster has no kind %.100q, which the saas file %s manages\n", v.at, of,
				v.file.Name)
		case err != nil:
			return nil, err
		default:
			add(k)
		}
	}
	return kinds, nil
}

// list adds the objects of a kind.
func (v *view) list(ctx context.Context, reader integration.ClusterReader, k manifests.Kind,
	out *native.Current) error {
	namespace := v.namespace
	if !k.Namespaced {
		namespace = ""
	}
	list, err := reader.List(ctx, k.Resource, namespace, "")
	if err != nil {
		return err
	}
	for _, raw := range list {
		l, err := manifests.Read(k, raw, v.options)
		if err != nil {
			return err
		}
		v.add(l, out)
	}
	return nil
}

// add adds an object that is desired, or that is ours and would be deleted.
func (v *view) add(l *manifests.Live, out *native.Current) {
	t := v.thing(l)
	b, isNamed := v.bodies[t.Key]
	if _, why := v.run.applied(t.Key, b, l); isNamed && why != "" {
		out.Partly[t.Key] = why
	}
	if of := t.Mark.Integration; isNamed && of != "" && of != v.run.env.Integration &&
		of != v.run.env.Settings.TakeOverFrom {
		v.run.tellForeign(v, t.Key, of)
	}
	if !isNamed {
		if !l.Deletable() || !v.manages(l) {
			return
		}
		switch {
		case !l.Kind.Namespaced && !v.isLeft(t):
			return
		case !l.Kind.Namespaced:
			out.Kept[t.Key] = "it is in no namespace, so it is never deleted: delete it by hand unless another cell makes it"
		case v.kept != "":
			out.Kept[t.Key] = v.kept
		}
	}
	v.kinds[t.Key] = l.Kind
	out.Things = append(out.Things, t)
}

// manages reports whether the saas file manages the name of an object.
func (v *view) manages(l *manifests.Live) bool {
	for _, of := range v.file.ManagedNames {
		if (of.Resource == l.Kind.Name || of.Resource == l.Kind.Name+"."+l.Kind.Group) && !slices.Contains(of.Names, l.Name) {
			return false
		}
	}
	return true
}

// setUnread notes that the objects of a kind could not be read.
func (v *view) setUnread(k manifests.Kind, err error, out *native.Current) {
	for key, of := range v.kinds {
		if of == k {
			out.Unread[key] = err
		}
	}
}

// A live object is an object as it was read, with how it is compared.
type live struct {
	*manifests.Live
	options manifests.Options
}

// thing returns an object as a thing.
func (v *view) thing(l *manifests.Live) reconcile.Thing {
	t := l.Thing(objectKey(v.at, l.Kind, l.Name))
	t.Body = live{l, v.options}
	return t
}

// namespaces are the namespaces of a cluster.
var namespaces = integration.Resource{Version: "v1", Plural: "namespaces"}

// lacksNamespace reports whether the cluster says that the namespace is not there. A cluster that
// does not tell, for instance because the token may not ask, says nothing.
func (v *view) lacksNamespace(ctx context.Context, reader integration.ClusterReader) bool {
	_, err := reader.Get(ctx, integration.ObjectRef{Resource: namespaces, Name: v.namespace})
	return errors.Is(err, integration.ErrNotThere)
}

// tellNamespace says in a dry run that a run would wait for the namespace.
func (v *view) tellNamespace(ctx context.Context, reader integration.ClusterReader) {
	if !v.run.writes && len(v.bodies) > 0 && v.lacksNamespace(ctx, reader) {
		v.run.note(CodePartly, v.place, fmt.Sprintf("the namespace %s is not there yet; a run waits for it for %v", v.at,
			v.run.settings.patience()))
	}
}

// prepare waits until the namespace of a part is there, if anything is to be made in it. Namespaces
// are made by another integration, which may be about to do it.
func (r *run) prepare(ctx context.Context, _ integration.Environment, act integration.Actors, p native.Part,
	plan *reconcile.Plan) map[reconcile.Key]error {
	v, err := r.view(p)
	if err != nil {
		return nil // the steps tell it
	}
	var made []reconcile.Key
	for _, s := range plan.Steps {
		if s.Action == reconcile.Create && v.kinds[s.Key].Namespaced {
			made = append(made, s.Key)
		}
	}
	if len(made) == 0 {
		return nil
	}
	writer, err := act.Cluster(ctx, v.cluster)
	if err != nil {
		return nil
	}
	limit, cancel := context.WithTimeout(ctx, r.settings.patience())
	defer cancel()
	for pause := firstPause; v.lacksNamespace(limit, writer); pause = min(2*pause, maxPause) {
		if pause == firstPause {
			_, _ = fmt.Fprintf(r.env.Log, "waiting for the namespace %s\n", v.at) // the log is for people
		}
		select {
		case <-limit.Done():
			out := map[reconcile.Key]error{}
			for _, key := range made {
				out[key] = reconcile.Transient(fmt.Errorf("the namespace %s is still not there after %v", v.at,
					r.settings.patience()))
			}
			return out
		case <-time.After(pause):
		}
	}
	return nil
}

// isLeft reports whether the saas file made an object. Outside of namespaces nothing proves that no
// other cell of it still does: those of another environment in the same cluster are not rendered
// here, and the mark of the object names the saas file alone. So such an object stays.
func (v *view) isLeft(t reconcile.Thing) bool {
	return t.Mark.Integration == v.run.env.Integration && t.Mark.Caller == v.file.Name
}
