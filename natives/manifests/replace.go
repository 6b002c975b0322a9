package manifests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// The types of objects that belong to those of the kinds.
var (
	podType        = integration.Resource{Version: "v1", Plural: "pods"}
	claimType      = integration.Resource{Version: "v1", Plural: "persistentvolumeclaims"}
	replicaSetType = integration.Resource{Group: "apps", Version: "v1", Plural: "replicasets"}
)

// Replace deletes an object and makes it anew, when it and its pods are gone. The pods of a
// StatefulSet stay, and the new one takes them over, unless its selector changes.
//
// Claims grow before anything is deleted: a storage class that does not let them grow refuses
// while everything still runs.
func (d Applier) Replace(ctx context.Context, want Object, fresh *Live, mark reconcile.Mark) error {
	diff, err := Diff(want, fresh, d.Options)
	switch {
	case err != nil:
		return err
	case diff.Mistake != (reconcile.Mistake{}):
		return fmt.Errorf("%s: %s", diff.Mistake.Code, diff.Mistake.Message)
	case !diff.Replace:
		return reconcile.Transient(errors.New("it must not be replaced any more; the next run compares it"))
	case !fresh.Deletable():
		return errors.New("it has an owner, or no field of it is ours: it is not deleted")
	}
	want = Adapt(want, fresh, d.Options)
	if err := d.growClaims(ctx, want, fresh); err != nil {
		return err
	}
	dependents := integration.Foreground
	if fresh.Kind == secret || fresh.Kind == configMap || isBinding(fresh.Kind) {
		dependents = integration.Background // nothing depends on them
	}
	if fresh.Kind == StatefulSet &&
		canonical(at(want, "spec", "selector")) == canonical(at(fresh.Object, "spec", "selector")) {
		dependents = integration.Orphan
	}
	if err := d.removeAndWait(ctx, fresh, dependents); err != nil {
		return err
	}
	return d.Create(ctx, fresh.Kind, fresh.Namespace, want, mark)
}

// RemoveAndWait deletes an object, and waits until it and its pods are gone: another object takes its
// place.
func (d Applier) RemoveAndWait(ctx context.Context, fresh *Live) error {
	if !fresh.Deletable() {
		return errors.New("it has an owner, or no field of it is ours: it is not deleted")
	}
	return d.removeAndWait(ctx, fresh, integration.Foreground)
}

// removeAndWait deletes an object, and waits until it is gone, with its pods unless they stay.
func (d Applier) removeAndWait(ctx context.Context, fresh *Live, dependents integration.Propagation) error {
	var pods []Pod
	if dependents != integration.Orphan {
		var err error
		if pods, err = d.Pods(ctx, fresh); err != nil {
			return err
		}
	}
	err := d.Writer.Delete(ctx, fresh.Ref(), fresh.Preconditions(), dependents)
	if err != nil && !errors.Is(err, integration.ErrNotThere) {
		return conflicting(err)
	}
	return d.waitUntilGone(ctx, fresh, pods)
}

// Pods returns the pods of a Deployment or StatefulSet.
func (d Applier) Pods(ctx context.Context, is *Live) ([]Pod, error) {
	var sets []json.RawMessage
	var err error
	switch is.Kind {
	case Deployment:
		if sets, err = d.Writer.List(ctx, replicaSetType, is.Namespace, selector(is.Object)); err != nil {
			return nil, err
		}
	case StatefulSet:
	default:
		return nil, nil
	}
	pods, err := d.Writer.List(ctx, podType, is.Namespace, selector(is.Object))
	if err != nil {
		return nil, err
	}
	return PodsOf(is, sets, pods)
}

// selector returns the labels by which an object selects its pods; "" if that says more than
// labels can say.
func selector(o Object) string {
	labels := texts(at(o, "spec", "selector", "matchLabels"))
	if at(o, "spec", "selector", "matchExpressions") != nil {
		return ""
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		out = append(out, name+"="+labels[name])
	}
	return strings.Join(out, ",")
}

// waitUntilGone waits until a deleted object and pods of it are gone.
func (d Applier) waitUntilGone(ctx context.Context, was *Live, pods []Pod) error {
	limit, pause := d.Limit, d.Pause
	if limit <= 0 {
		limit = goneLimit
	}
	if pause <= 0 {
		pause = gonePause
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		isGone, err := d.isGone(ctx, was, pods)
		if isGone || err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return reconcile.Transient(fmt.Errorf("it was deleted to make it anew, and is not gone yet: %w; the next run "+
				"makes it", ctx.Err()))
		case <-time.After(pause):
		}
	}
}

// isGone reports whether an object and pods of it are gone.
func (d Applier) isGone(ctx context.Context, was *Live, pods []Pod) (bool, error) {
	is, err := d.Read(ctx, was.Kind, was.Namespace, was.Name)
	switch {
	case err != nil:
		return false, err
	case is != nil && is.UID != was.UID:
		return false, fmt.Errorf("%w: it was made anew by somebody else", reconcile.ErrConflict)
	case is != nil:
		return false, nil
	}
	for _, p := range pods {
		if p.isFinished {
			continue
		}
		raw, err := d.Writer.Get(ctx, integration.ObjectRef{Resource: podType, Namespace: was.Namespace, Name: p.Name})
		if errors.Is(err, integration.ErrNotThere) {
			continue
		}
		if err != nil {
			return false, err
		}
		left, err := readDependents([]json.RawMessage{raw})
		if err != nil || left[0].Metadata.UID == p.uid {
			return false, err
		}
	}
	return true, nil
}

// growClaims makes the claims of a StatefulSet as large as its manifest says. Those that are
// large enough stay as they are. A server lets only claims grow that have a volume.
func (d Applier) growClaims(ctx context.Context, want Object, is *Live) error {
	templates := claimsOf(want)
	if is.Kind != StatefulSet || len(templates) == 0 {
		return nil
	}
	all, err := d.Writer.List(ctx, claimType, is.Namespace, "")
	if err != nil {
		return err
	}
	for _, raw := range all {
		o, err := decode(raw)
		if err != nil {
			return fmt.Errorf("reading a claim: %w", err)
		}
		for _, t := range templates {
			isOfTemplate := isNumbered(text(at(o, "metadata", "name")), t.name+"-"+is.Name)
			if isOfTemplate && isSmaller(text(at(o, "spec", "resources", "requests", "storage")), t.storage) {
				if err := d.growClaim(ctx, o, is.Namespace, t.storage); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// growClaim makes a claim larger.
func (d Applier) growClaim(ctx context.Context, o Object, namespace, storage string) error {
	name := text(at(o, "metadata", "name"))
	if text(at(o, "status", "phase")) != "Bound" {
		return reconcile.Transient(fmt.Errorf("the claim %.100s must grow to %.20s and has no volume yet: the next run "+
			"tries again; "+
			"if it never gets one, delete it", name, storage))
	}
	patch, err := json.Marshal(with(nil, storage, "spec", "resources", "requests", "storage"))
	if err != nil {
		return err
	}
	was := integration.Preconditions{UID: text(at(o, "metadata", "uid")),
		ResourceVersion: text(at(o, "metadata", "resourceVersion"))}
	ref := integration.ObjectRef{Resource: claimType, Namespace: namespace, Name: name}
	if _, err := d.Writer.Merge(ctx, ref, patch, was); err != nil {
		return fmt.Errorf("growing the claim %.100s to %.20s: %w", name, storage, conflicting(err))
	}
	return nil
}

// adaptToOrphans returns the manifest that is right for pods that a StatefulSet of this name left
// behind, when a run was killed between its deletion and its creation: without the label of
// [InstanceLabel] if they do not have it, or else they would be in the way for ever.
func (d Applier) adaptToOrphans(ctx context.Context, of Kind, namespace string, want Object) (Object, error) {
	name := text(at(want, "metadata", "name"))
	labels := texts(at(want, "spec", "selector", "matchLabels"))
	if of != StatefulSet || labels[InstanceLabel] == "" || d.Options.MigrateSelector || d.Options.AsWritten {
		return want, nil
	}
	old := without(want, "spec", "selector", "matchLabels", InstanceLabel)
	raw, err := d.Writer.List(ctx, podType, namespace, selector(old))
	if err != nil {
		return nil, err
	}
	pods, err := readDependents(raw)
	if err != nil {
		return nil, err
	}
	for i := range pods {
		if m := &pods[i].Metadata; pods[i].controller() == "" && isNumbered(m.Name, name) && m.Labels[InstanceLabel] == "" {
			return Adapt(want, &Live{Kind: StatefulSet, Object: old}, d.Options), nil
		}
	}
	return want, nil
}

// ordinal matches the end of the names that a StatefulSet gives.
var ordinal = lazyregexp.New(`^-[0-9]+$`)

// isNumbered reports whether a name is that of a numbered object.
func isNumbered(name, of string) bool {
	rest, ok := strings.CutPrefix(name, of)
	return ok && ordinal.MatchString(rest)
}
