package history

import (
	"context"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state"
)

// A Snapshot tells which tasks passed, and which are flaky, from one reading of each
// document. It is for one goroutine.
type Snapshot struct {
	store Store
	now   time.Time
	read  map[string]*document
}

// Snapshot returns a snapshot in which nothing was read yet.
func (s Store) Snapshot(now time.Time) *Snapshot { return &Snapshot{s, now, map[string]*document{}} }

// Passed tells whether a task passed with its inputs and never failed with them, as
// far as that is remembered, and when it last began to. What began longer ago than
// that, or in the future, does not count.
func (s *Snapshot) Passed(ctx context.Context, t plan.Task, within time.Duration) (began time.Time, ok bool) {
	inputs := state.Name(t.Inputs)
	for _, r := range s.known(ctx, t).Runs {
		switch {
		case t.Inputs == "" || r.Inputs != inputs:
		case r.Failed > 0:
			return time.Time{}, false
		case r.Passed > 0 && r.Began.After(began):
			began = r.Began
		}
	}
	age := s.now.Sub(began)
	return began, !began.IsZero() && age >= 0 && age <= within
}

// Flaky tells whether a task is known to have failed and passed with the same inputs.
func (s *Snapshot) Flaky(ctx context.Context, t plan.Task) bool {
	return s.known(ctx, t).flaky(s.now) != nil
}

// known returns what is remembered of a task. A reading that ctx ended is made
// anew next time.
func (s *Snapshot) known(ctx context.Context, t plan.Task) *known {
	doc, read := s.read[t.Integration]
	if !read {
		doc = s.store.read(ctx, t.Integration, s.now)
		if ctx.Err() == nil {
			s.read[t.Integration] = doc
		}
	}
	return doc.task(t)
}
