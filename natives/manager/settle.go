package manager

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// defaultWait is how long canaries, and processes that must end, are waited for if the settings
// say nothing.
const defaultWait = 5 * time.Minute

// patience returns how long something is waited for that others depend on.
func (s ownSettings) patience() time.Duration {
	if s.Wait == nil {
		return defaultWait
	}
	return *s.Wait
}

// settle waits until what was written is ready: canaries, and all others if the settings say how
// long. It returns the errors of those that are not.
func settle(ctx context.Context, env integration.Environment, p native.Part,
	done []reconcile.Step) map[reconcile.Key]error {
	v, err := newView(env, p)
	waiting := map[reconcile.Key]error{} // with why they are not ready
	for _, s := range done {
		b, _ := s.Item.Body.(body)
		if err == nil && isProcess(kindOf(b.Object)) && (b.Await || v.settings.Wait != nil) {
			waiting[s.Key] = errors.New("nobody has looked")
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	wrong := map[reconcile.Key]error{}
	limit, cancel := context.WithTimeout(ctx, v.settings.patience())
	defer cancel()
	err = poll(limit, func() (bool, error) {
		healths, err := v.look(ctx, env, slices.Collect(maps.Keys(waiting)))
		for key, h := range healths {
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
		return len(waiting) == 0, err
	})
	for key, why := range waiting {
		wrong[key] = reconcile.Transient(fmt.Errorf("it is not ready: %w: %w", why, err))
	}
	return wrong
}

// Types of what belongs to a process.
var (
	replicaSets = integration.Resource{Group: "apps", Version: "v1", Plural: "replicasets"}
	pods        = integration.Resource{Version: "v1", Plural: "pods"}
)

// look returns the health of objects. One that is not there is not ready.
func (v *view) look(ctx context.Context, env integration.Environment,
	keys []reconcile.Key) (map[reconcile.Key]manifests.Health, error) {
	reader, err := env.Cluster(ctx, v.cluster)
	if err != nil {
		return nil, err
	}
	out, unready := map[reconcile.Key]manifests.Health{}, map[reconcile.Key]*manifests.Live{}
	for _, k := range []manifests.Kind{manifests.Deployment, manifests.StatefulSet} {
		isWanted := func(key reconcile.Key) bool { kind, _ := v.object(key); return kind == k }
		if !slices.ContainsFunc(keys, isWanted) {
			continue
		}
		list, err := reader.List(ctx, k.Resource, v.namespace, "")
		if err != nil {
			return nil, err
		}
		for _, raw := range list {
			l, err := manifests.Read(k, raw, v.options)
			if err != nil {
				return nil, err
			}
			key := v.key(k, l.Name)
			if !slices.Contains(keys, key) {
				continue
			}
			if out[key] = manifests.HealthOf(l, nil); !out[key].Ready {
				unready[key] = l
			}
		}
	}
	if len(unready) == 0 {
		return out, nil
	}
	return out, v.lookAtPods(ctx, reader, unready, out)
}

// lookAtPods adds what the pods of objects say about their health.
func (v *view) lookAtPods(ctx context.Context, reader integration.ClusterReader, of map[reconcile.Key]*manifests.Live,
	out map[reconcile.Key]manifests.Health) error {
	sets, err := reader.List(ctx, replicaSets, v.namespace, "")
	if err != nil {
		return err
	}
	all, err := reader.List(ctx, pods, v.namespace, "")
	if err != nil {
		return err
	}
	for key, l := range of {
		theirs, err := manifests.PodsOf(l, sets, all)
		if err != nil {
			return err
		}
		out[key] = manifests.HealthOf(l, theirs)
	}
	return nil
}

// The pauses between two looks at a cluster: the first one, and the longest one.
const (
	firstPause = 50 * time.Millisecond
	maxPause   = 2 * time.Second
)

// poll looks again and again until something is so, or the context ends. What fails may pass: it
// is told if the time is over.
func poll(ctx context.Context, look func() (bool, error)) error {
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		is, err := look()
		if is && err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return reconcile.Join(reconcile.Transient(ctx.Err()), err)
		case <-time.After(pause):
		}
	}
}
