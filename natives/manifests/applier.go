package manifests

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// An Applier reads and writes single objects of a cluster. Every write is on the condition that the
// object is still the one that was read; if it is not, the error is [reconcile.ErrConflict].
//
// A method sends several requests if it must, and may be killed between any two of them. The next
// run then goes on from what is there:
//
//   - Update sets fields by an update, takes fields, applies. An update of ours is a difference,
//     and so are fields that were not taken, so that the next run updates again. When fields
//     are taken the digest is missing or old, which is a difference until the apply writes it.
//   - Replace grows claims, deletes, waits, creates. Claims that have grown are as the manifest
//     says. What is deleted and not made anew is not there, so that the next run creates it.
//   - Mark sets the mark by an update, and takes this update. An update that was not taken is a
//     difference.
type Applier struct {
	Writer  integration.ClusterWriter
	Options Options
	Limit   time.Duration // how long a deleted object may take until it is gone; 0 is two minutes
	Pause   time.Duration // between two looks whether it is gone; 0 is half a second
	Always  bool          // an update is sent also if nothing differs
}

// A Wanted object is an object as the data say, with its kind and the namespace in which it is.
type Wanted struct {
	Kind      Kind
	Namespace string
	Object    Object // nil if the data do not name it
}

// Do does to an object what a step says. The reading is nil if the object is not there.
func (d Applier) Do(ctx context.Context, action reconcile.Action, want Wanted, fresh *Live, mark reconcile.Mark) error {
	switch action {
	case reconcile.Remove:
		return d.Remove(ctx, fresh)
	case reconcile.AdoptIt, reconcile.MarkIt:
		return d.Mark(ctx, fresh, mark)
	}
	switch {
	case want.Object == nil:
		return errors.New("there is no manifest")
	case action == reconcile.Create:
		return d.Create(ctx, want.Kind, want.Namespace, want.Object, mark)
	case action == reconcile.Replace:
		return d.Replace(ctx, want.Object, fresh, mark)
	}
	return d.Update(ctx, want.Object, fresh, mark)
}

// Times that an Applier takes if it says none.
const (
	goneLimit = 2 * time.Minute
	gonePause = 500 * time.Millisecond
)

// Read returns an object as it is now, nil if it is not there.
func (d Applier) Read(ctx context.Context, of Kind, namespace, name string) (*Live, error) {
	raw, err := d.Writer.Get(ctx, of.Ref(namespace, name))
	if errors.Is(err, integration.ErrNotThere) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return Read(of, raw, d.Options)
}

// Create makes an object in a namespace, "" for a kind that has none.
func (d Applier) Create(ctx context.Context, of Kind, namespace string, want Object, mark reconcile.Mark) error {
	want, err := d.adaptToOrphans(ctx, of, namespace, want)
	if err != nil {
		return err
	}
	raw, err := Applied(of, want, nil, namespace, d.Options, mark)
	if err != nil {
		return err
	}
	_, err = d.Writer.Create(ctx, of.Ref(namespace, text(at(want, "metadata", "name"))), raw)
	return conflicting(err)
}

// Update makes an object as its manifest says, and puts the mark on it. It sends nothing if it
// is so already, unless d says always.
func (d Applier) Update(ctx context.Context, want Object, fresh *Live, mark reconcile.Mark) error {
	found, c, err := differences(want, fresh, d.Options)
	if err != nil {
		return err
	}
	diff, err := Diff(want, fresh, d.Options)
	switch {
	case err != nil:
		return err
	case diff.Mistake != (reconcile.Mistake{}):
		return fmt.Errorf("%s: %s", diff.Mistake.Code, diff.Mistake.Message)
	case diff.Replace:
		return reconcile.Transient(errors.New("it must be replaced now; the next run does it"))
	case fresh.IsDeleting:
		return reconcile.Transient(errors.New("it is being deleted; the next run makes it anew"))
	case len(diff.Changes) == 0 && fresh.hasMark(mark) && !d.Always:
		return nil
	}
	patch, err := c.updateFirst(found)
	if err != nil {
		return err
	}
	is, err := d.prepare(ctx, fresh, patch)
	if err != nil {
		return err
	}
	raw, err := Applied(is.Kind, want, is, is.Namespace, d.Options, mark)
	if err != nil {
		return err
	}
	_, err = d.Writer.Apply(ctx, is.Ref(), raw)
	return conflicting(err)
}

// prepare sends a merge patch unless it is nil, takes fields if there are some to take, and
// returns the object as it is then.
func (d Applier) prepare(ctx context.Context, is *Live, patch Object) (*Live, error) {
	var err error
	if len(is.managed) == 0 {
		if is, err = d.track(ctx, is); err != nil {
			return nil, err
		}
	}
	if patch != nil {
		if is, err = d.merge(ctx, is, patch); err != nil {
			return nil, err
		}
	}
	if len(d.Options.Takes(is)) == 0 {
		return is, nil
	}
	return d.takeFields(ctx, is, d.Options.takeFrom())
}

// track makes a server note who owns the fields of an object that is older than field managers:
// an apply of no field gives all of them to a manager of [Appliers].
func (d Applier) track(ctx context.Context, is *Live) (*Live, error) {
	nothing := Object{"apiVersion": is.Kind.APIVersion(), "kind": is.Kind.Name, "metadata": map[string]any{
		"name": is.Name, "uid": is.UID, "resourceVersion": is.Version}}
	if is.Namespace != "" {
		nothing = with(nothing, is.Namespace, "metadata", "namespace")
	}
	raw, err := json.Marshal(nothing)
	if err != nil {
		return nil, err
	}
	if raw, err = d.Writer.Apply(ctx, is.Ref(), raw); err != nil {
		return nil, conflicting(err)
	}
	return Read(is.Kind, raw, d.Options)
}

// Mark puts the mark on an object and changes nothing else.
func (d Applier) Mark(ctx context.Context, fresh *Live, mark reconcile.Mark) error {
	if fresh.hasMark(mark) {
		return nil
	}
	labels, annotations := map[string]any{}, map[string]any{}
	for name := range everyMark.Annotations() {
		annotations[name] = nil // a part that the mark does not have goes
	}
	for name, value := range mark.Annotations() {
		annotations[name] = value
	}
	for name, value := range mark.Labels() {
		labels[name] = value
	}
	is, err := d.merge(ctx, fresh, Object{"metadata": map[string]any{"labels": labels, "annotations": annotations}})
	if err != nil || !fresh.isApplied(d.Options) {
		return err // the first update takes the fields
	}
	_, err = d.takeFields(ctx, is, nil)
	return err
}

// Scale sets the number of pods of a Deployment or StatefulSet and changes nothing else. The next
// update sets what its manifest says.
func (d Applier) Scale(ctx context.Context, fresh *Live, replicas int) error {
	if n, isSaid := whole(at(fresh.Object, "spec", "replicas")); isSaid && n == int64(replicas) {
		return nil
	}
	_, err := d.merge(ctx, fresh, Object{"spec": map[string]any{"replicas": replicas}})
	return err
}

// Remove deletes an object; its pods are deleted afterwards. An object that is not there is gone.
func (d Applier) Remove(ctx context.Context, fresh *Live) error {
	if !fresh.Deletable() {
		return errors.New("it has an owner, or no field of it is ours: it is not deleted")
	}
	err := d.Writer.Delete(ctx, fresh.Ref(), fresh.Preconditions(), integration.Background)
	if errors.Is(err, integration.ErrNotThere) {
		return nil
	}
	return conflicting(err)
}

// merge sends a merge patch, and returns the object as it is then.
func (d Applier) merge(ctx context.Context, is *Live, patch Object) (*Live, error) {
	raw, err := json.Marshal(patch)
	if err != nil {
		return nil, err
	}
	if raw, err = d.Writer.Merge(ctx, is.Ref(), raw, is.Preconditions()); err != nil {
		return nil, conflicting(err)
	}
	return Read(is.Kind, raw, d.Options)
}

// takeFields makes the fields of managers ours, and returns the object as it is then.
func (d Applier) takeFields(ctx context.Context, is *Live, managers []string) (*Live, error) {
	raw, err := json.Marshal(is.Object)
	if err != nil {
		return nil, err
	}
	if raw, err = d.Writer.TakeFields(ctx, is.Ref(), raw, managers); err != nil {
		return nil, conflicting(err)
	}
	return Read(is.Kind, raw, d.Options)
}

// conflicting returns the error of a write: that others were faster is a conflict.
func conflicting(err error) error {
	if errors.Is(err, integration.ErrChanged) || errors.Is(err, integration.ErrNotThere) {
		return fmt.Errorf("%w: %w", reconcile.ErrConflict, err)
	}
	return err
}

// Applied returns what is applied to make an object as its manifest says: with the mark, with the
// digest, and with the preconditions of the live object unless that is nil. The manifest is
// adapted to the live object.
func Applied(of Kind, want Object, is *Live, namespace string, o Options,
	mark reconcile.Mark) (json.RawMessage, error) {
	kind, version, name := text(want["kind"]), text(want["apiVersion"]), text(at(want, "metadata", "name"))
	if kind != of.Name || version != of.APIVersion() || name == "" {
		return nil,
			reconcile.Config(fmt.Errorf("the manifest is a %.40q of %.100q with the name %.100q, and must be a %s of %s "+
				"with a name", kind, version, name, of, of.APIVersion()))
	}
	want = Adapt(want, is, o)
	out := with(want, o.digest(want), "metadata", "annotations", DigestAnnotation)
	if of.Namespaced {
		out = with(out, cmp.Or(namespace, text(at(want, "metadata", "namespace"))), "metadata", "namespace")
	}
	for name, value := range mark.Annotations() {
		out = with(out, value, "metadata", "annotations", name)
	}
	for name, value := range mark.Labels() {
		out = with(out, value, "metadata", "labels", name)
	}
	if is != nil {
		out = with(with(out, is.UID, "metadata", "uid"), is.Version, "metadata", "resourceVersion")
	}
	return json.Marshal(out)
}
