package deploy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// settle waits until what was written works, and returns the errors of what does not.
func (r *run) settle(ctx context.Context, env integration.Environment, p native.Part,
	done []reconcile.Step) map[reconcile.Key]error {
	v, err := r.view(p)
	if err != nil {
		return nil
	}
	var written []reconcile.Key
	for _, s := range done {
		if b, ok := s.Item.Body.(body); ok && b.Object != nil {
			written = append(written, s.Key)
		}
	}
	wrong := v.await(ctx, env, written)
	if r.isSingle() && v.file.PublishJobLogs {
		v.publishLogs(ctx, env, written)
	}
	return wrong
}

// verify waits until all objects of the cells work, also those that nobody had to write: an
// earlier run may have ended before they did.
func (r *run) verify(ctx context.Context) error {
	r.mu.Lock()
	views := slices.SortedFunc(values(r.views), func(a, b *view) int { return compareTexts(a.at, b.at) })
	r.mu.Unlock()
	var errs []error
	for _, v := range views {
		wrong := v.await(ctx, r.env, slices.Collect(keys(v.bodies)))
		for _, key := range slices.Sorted(keys(wrong)) {
			errs = append(errs, fmt.Errorf("%s: %w", key, wrong[key]))
			_, _ = fmt.Fprintf(r.env.Log, "%s does not work: %v\n", key, wrong[key]) // the log is for people
		}
	}
	return errors.Join(errs...)
}

// The pauses between two looks at a cluster: the first one, and the longest one.
const (
	firstPause = 50 * time.Millisecond
	maxPause   = 5 * time.Second
)

// await waits until objects work, and returns the errors of those that do not.
func (v *view) await(ctx context.Context, env integration.Environment, of []reconcile.Key) map[reconcile.Key]error {
	waiting := map[reconcile.Key]error{} // with why they do not work yet
	for _, key := range of {
		if manifests.Awaits(v.kinds[key]) {
			waiting[key] = errors.New("nobody has looked")
		}
	}
	wrong := map[reconcile.Key]error{}
	limit, cancel := context.WithTimeout(ctx, v.run.settings.patience())
	defer cancel()
	var last error
	for pause := firstPause; len(waiting) > 0; pause = min(2*pause, maxPause) {
		last = v.look(limit, env, waiting, wrong)
		if len(waiting) == 0 {
			break
		}
		select {
		case <-limit.Done():
			for key, why := range waiting {
				wrong[key] = reconcile.Transient(fmt.Errorf("it is not ready: %w", errors.Join(why, last)))
			}
			return wrong
		case <-time.After(pause):
		}
	}
	return wrong
}

// Types of what belongs to processes.
var (
	replicaSets = integration.Resource{Group: "apps", Version: "v1", Plural: "replicasets"}
	pods        = integration.Resource{Version: "v1", Plural: "pods"}
)

// look looks at the objects that are waited for. Those that work are waited for no more, and those
// that never will are wrong.
func (v *view) look(ctx context.Context, env integration.Environment, waiting, wrong map[reconcile.Key]error) error {
	reader, err := env.Cluster(ctx, v.cluster)
	if err != nil {
		return err
	}
	var sets, all []json.RawMessage
	isListed := false
	for _, key := range slices.Sorted(keys(waiting)) {
		l, err := v.read(ctx, reader, key)
		if err != nil {
			return err
		}
		if l == nil {
			waiting[key] = errors.New("it is not there")
			continue
		}
		h := manifests.HealthOf(l, nil)
		if hasPods := l.Kind == manifests.Deployment || l.Kind == manifests.StatefulSet; hasPods && !h.Ready {
			if !isListed {
				if sets, all, err = v.listPods(ctx, reader); err != nil {
					return err
				}
				isListed = true
			}
			theirs, err := manifests.PodsOf(l, sets, all)
			if err != nil {
				return err
			}
			h = manifests.HealthOf(l, theirs)
		}
		switch {
		case h.Ready:
			delete(waiting, key)
		case h.Failed:
			delete(waiting, key)
			wrong[key] = fmt.Errorf("it does not work: %s", h.Reason)
		default:
			waiting[key] = errors.New(h.Reason)
		}
	}
	return nil
}

// read reads an object, nil if it is not there.
func (v *view) read(ctx context.Context, reader integration.ClusterReader, key reconcile.Key) (*manifests.Live, error) {
	k, name, err := v.object(key)
	if err != nil {
		return nil, err
	}
	raw, err := reader.Get(ctx, k.Ref(v.namespace, name))
	if errors.Is(err, integration.ErrNotThere) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return manifests.Read(k, raw, v.options)
}

// listPods returns the ReplicaSets and pods of the namespace.
func (v *view) listPods(ctx context.Context,
	reader integration.ClusterReader) (sets, all []json.RawMessage, err error) {
	if sets, err = reader.List(ctx, replicaSets, v.namespace, ""); err != nil {
		return nil, nil, err
	}
	all, err = reader.List(ctx, pods, v.namespace, "")
	return sets, all, err
}
