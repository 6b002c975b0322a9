package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
)

// A scene is a native with a target that is as base says.
type scene interface {
	// change draws a change of the data, and says what it does.
	change(r *rand.Rand) (told []string)
	// check checks the change in a way.
	check(ctx context.Context, how way, report func(integration.Remark)) error
	// settle makes the change the new base, if it is good, and the target as it says.
	settle(ctx context.Context, isGood bool) error
}

// A way is how a change is checked.
type way int

// The ways: by a dry run that asks the target, by one that does not reach it, and by telling the data alone.
const (
	asked way = iota
	unreachable
	dataAlone
)

// A told check is what one dry run said.
type told struct {
	mu        sync.Mutex
	effects   []string
	isRefused bool // there is a mistake that base does not have
	unlooked  []plan.UnlookedKind
}

// take takes what a dry run says.
func (t *told) take(r integration.Remark) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case r.Effect != nil && r.Effect.Since == plan.SinceChange:
		t.effects = append(t.effects, textOf(*r.Effect))
	case r.Effect != nil:
		t.effects = append(t.effects, fmt.Sprintf("not new (%q): %s", r.Effect.Since, textOf(*r.Effect)))
	case r.Unlooked != nil:
		t.unlooked = append(t.unlooked, r.Unlooked.What)
	case r.Fails():
		t.isRefused = true
	}
}

// tell tells what the change does by the data alone.
func tell(ctx context.Context, n integration.Native, env integration.Environment) error {
	of, ok := n.(integration.Teller)
	if !ok {
		return errors.New("the native tells nothing")
	}
	return of.Tell(ctx, env)
}

// textOf returns an effect without what only a target knows.
func textOf(e plan.Effect) string {
	e.Since, e.Known, e.Times, e.Text = "", plan.Known{}, 0, ""
	e.Changes = slices.Clone(e.Changes)
	for i := range e.Changes {
		e.Changes[i].Old, e.Changes[i].Reason = nil, ""
	}
	raw, err := json.Marshal(e)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// A count is how many changes there were.
type count struct{ changes, refused, effects, quiet int }

// hold holds the law for the next change of a scene.
func hold(ctx context.Context, s scene, r *rand.Rand, n *count) error {
	edits := s.change(r)
	var live, off, data told
	errLive := s.check(ctx, asked, live.take)
	errOff := s.check(ctx, unreachable, off.take)
	errData := s.check(ctx, dataAlone, data.take)
	n.changes++
	isRefused := live.isRefused || errLive != nil
	if isRefused {
		n.refused++
	} else if err := errors.Join(differ(&live, &off, errOff), differ(&live, &data, errData)); err != nil {
		return fmt.Errorf("%w\nedits: %s", err, strings.Join(edits, ", "))
	}
	n.effects += len(live.effects)
	if len(live.effects) == 0 {
		n.quiet++
	}
	return s.settle(ctx, !isRefused)
}

// differ returns an error if a check by the data alone says something else than one that asks the target.
func differ(live, data *told, errData error) error {
	slices.Sort(live.effects)
	slices.Sort(data.effects)
	isAll := func(what plan.UnlookedKind) bool { return what == plan.UnlookedAll }
	switch {
	case errData != nil:
		return fmt.Errorf("the check by the data alone fails: %w", errData)
	case !slices.Equal(live.effects, data.effects):
		return fmt.Errorf("the target says\n  %s\nthe data say\n  %s", strings.Join(live.effects, "\n  "),
			strings.Join(data.effects, "\n  "))
	case len(data.unlooked) == 0:
		return errors.New("nobody reaches the target, and nothing says so")
	case slices.ContainsFunc(data.unlooked, isAll):
		return fmt.Errorf("the data are there, and nothing is known: %v", data.unlooked)
	}
	return nil
}
