package manager

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// prepare stops the processes that would do the same work as new ones, and waits until they are
// gone: if an integration has three static shards in place of two, the number changes for all. An
// object that goes and whose name one of another kind takes is deleted at once. It returns the errors
// of steps that must not be done.
func prepare(ctx context.Context, env integration.Environment, act integration.Actors, p native.Part,
	plan *reconcile.Plan) map[reconcile.Key]error {
	v, err := newView(env, p)
	r := newRollout(plan)
	if old := r.stops(); err == nil && len(old) > 0 {
		err = v.stop(ctx, act, old, r.taken)
	}
	for key := range r.before {
		if err != nil {
			r.wrong[key] = fmt.Errorf("an old process must end before it: %w", err)
		}
	}
	return r.wrong
}

// A rollout says what must end before what begins.
type rollout struct {
	wrong  map[reconcile.Key]error                             // steps that must not be done
	before map[reconcile.Key]map[reconcile.Key]*manifests.Live // objects that must end before a step
	taken  map[reconcile.Key]bool                              // those whose name an object of another kind takes
}

// newRollout returns what must end before the steps of a plan.
func newRollout(plan *reconcile.Plan) rollout {
	r := rollout{map[reconcile.Key]error{}, map[reconcile.Key]map[reconcile.Key]*manifests.Live{},
		map[reconcile.Key]bool{}}
	old := map[string][]running{}          // by integration
	going := map[string][]reconcile.Step{} // deletions, by name
	byKey := map[reconcile.Key]reconcile.Step{}
	for _, s := range plan.Steps {
		byKey[s.Key] = s
		if l := liveOf(s); l != nil {
			if share, ok := shareOf(l.Kind, l.Object); ok {
				old[share.integration] = append(old[share.integration], running{s, l, share})
			}
			if s.Action == reconcile.Remove {
				going[l.Name] = append(going[l.Name], s)
			}
		}
	}
	for _, s := range plan.Steps {
		o := objectOf(s)
		if s.Action == reconcile.Create && runs(o) {
			r.takeName(s, going[fmt.Sprint(field(o, "metadata")["name"])])
		}
		share, ok := shareOf(kindOf(o), o)
		if !ok || !runs(o) || !s.Action.Writes() || s.Action == reconcile.Remove {
			continue
		}
		r.holdBack(s, byKey)
		for _, o := range old[share.integration] {
			if o.step.Key != s.Key && share.overlaps(o.share) {
				r.meet(s, share, o)
			}
		}
	}
	r.spare()
	return r
}

// spare lets everything run that would have to end for a step that must not be done, and refuses
// the steps for which something would have to end that would not be started again.
func (r *rollout) spare() {
	for isChanged := true; isChanged; {
		isChanged = false
		for key, stops := range r.before {
			for other := range stops {
				if r.wrong[key] == nil && r.wrong[other] != nil {
					r.wrong[key] = fmt.Errorf("%s does the same work, and cannot be changed: %w", other, r.wrong[other])
				}
			}
			if r.wrong[key] != nil {
				delete(r.before, key)
				isChanged = true
			}
		}
	}
}

// stops returns the processes that must end.
func (r *rollout) stops() []*manifests.Live {
	all := map[reconcile.Key]*manifests.Live{}
	for _, stops := range r.before {
		maps.Copy(all, stops)
	}
	var out []*manifests.Live
	for _, key := range slices.Sorted(maps.Keys(all)) {
		out = append(out, all[key])
	}
	return out
}

// A running process is one that is there. It may have been stopped.
type running struct {
	step reconcile.Step
	*manifests.Live
	share share
}

// putBefore notes that an object must end before a step.
func (r *rollout) putBefore(step, old reconcile.Key, l *manifests.Live) {
	if r.before[step] == nil {
		r.before[step] = map[reconcile.Key]*manifests.Live{}
	}
	r.before[step][old] = l
}

// takeName lets the objects go first whose name a new object takes. They are of other kinds.
func (r *rollout) takeName(s reconcile.Step, going []reconcile.Step) {
	for _, old := range going {
		r.putBefore(s.Key, old.Key, liveOf(old))
		r.taken[old.Key] = true
	}
}

// meet decides what becomes of a process that is there and does work of one that is to be
// written.
func (r *rollout) meet(s reconcile.Step, share share, o running) {
	wanted, isWanted := shareOf(kindOf(objectOf(o.step)), objectOf(o.step))
	switch {
	case isWanted && runs(objectOf(o.step)) && share.overlaps(wanted):
		return // the data want both
	case o.step.Action.Writes() || !runs(o.Object): // its pods may still be ending
		r.putBefore(s.Key, o.step.Key, o.Live)
	default:
		r.wrong[s.Key] = fmt.Errorf("%s does the same work and stays: %s", o.step.Key, o.step.Reason)
	}
}

// holdBack refuses a step whose canary was written before and does not work.
func (r *rollout) holdBack(s reconcile.Step, steps map[reconcile.Key]reconcile.Step) {
	for _, key := range s.Needs {
		canary, planned := steps[key]
		l := liveOf(canary)
		if !planned || canary.Action.Writes() || l == nil {
			continue
		}
		if h := manifests.HealthOf(l, nil); !h.Ready {
			r.wrong[s.Key] = fmt.Errorf("its canary %s is not ready: %s", key, h.Reason)
		}
	}
}

// objectOf returns what the object of a step should be, nil if it must go or if no entry names it.
func objectOf(s reconcile.Step) manifests.Object {
	if s.Item == nil || s.Item.Delete {
		return nil
	}
	b, _ := s.Item.Body.(body)
	return b.Object
}

// liveOf returns the object of a step as it was read, nil if it is not there.
func liveOf(s reconcile.Step) *manifests.Live {
	if s.Thing == nil {
		return nil
	}
	p, _ := s.Thing.Body.(process)
	return p.Live
}

// stop deletes objects whose name is taken, scales other processes down, and waits until none of them
// is left.
func (v *view) stop(ctx context.Context, act integration.Actors, old []*manifests.Live,
	taken map[reconcile.Key]bool) error {
	writer, err := act.Cluster(ctx, v.cluster)
	if err != nil {
		return err
	}
	d := manifests.Applier{Writer: writer, Options: v.options, Limit: v.settings.patience(), Pause: firstPause}
	for _, l := range old {
		end := scaleDown
		if taken[v.key(l.Kind, l.Name)] {
			end = removeFirst
		}
		if err := end(ctx, d, l); err != nil {
			return fmt.Errorf("stopping %s: %w", v.key(l.Kind, l.Name), err)
		}
	}
	limit, cancel := context.WithTimeout(ctx, v.settings.patience())
	defer cancel()
	for _, l := range old {
		err := poll(limit, func() (bool, error) {
			is, err := d.Read(ctx, l.Kind, l.Namespace, l.Name)
			if err != nil || is == nil {
				return is == nil, err
			}
			pods, err := d.Pods(ctx, is)
			return err == nil && manifests.HealthOf(is, pods).Ready, err
		})
		if err != nil {
			return fmt.Errorf("waiting until %s has ended: %w", v.key(l.Kind, l.Name), err)
		}
	}
	return nil
}

// maxConflicts is how often a process is stopped anew when others change it all the time.
const maxConflicts = 5

// scaleDown takes all replicas of a process that is ours.
func scaleDown(ctx context.Context, d manifests.Applier, l *manifests.Live) error {
	return again(ctx, d, l, func(l *manifests.Live) error { return d.Scale(ctx, l, 0) })
}

// removeFirst deletes an object that is ours, and waits until it and its pods are gone.
func removeFirst(ctx context.Context, d manifests.Applier, l *manifests.Live) error {
	return again(ctx, d, l, func(l *manifests.Live) error { return d.RemoveAndWait(ctx, l) })
}

// again does something to an object that is ours. The status of an object changes all the time, so it
// is read again if somebody was faster.
func again(ctx context.Context, d manifests.Applier, l *manifests.Live, do func(*manifests.Live) error) error {
	was, err := l, error(nil)
	for range maxConflicts {
		switch {
		case l == nil:
			return nil // it is gone
		case !l.Deletable() || l.Mark() != was.Mark() || l.UID != was.UID:
			return errors.New("it does the same work, and is not ours to stop")
		}
		if err = do(l); !errors.Is(err, reconcile.ErrConflict) {
			return err
		}
		var unread error
		if l, unread = d.Read(ctx, was.Kind, was.Namespace, was.Name); unread != nil {
			return unread
		}
	}
	return err
}
