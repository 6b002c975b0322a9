package history

import (
	"context"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state"
)

// A Snapshot says which tasks passed and which are flaky. It reads each document once. It
// is for one goroutine.
type Snapshot struct {
	store Store
	now   time.Time
	read  map[string]*document // by integration
	same  func(integration, read string) bool
	firm  bool // a flaky task never passed
}

// Snapshot returns a snapshot that has read nothing yet.
func (s Store) Snapshot(now time.Time) *Snapshot {
	return &Snapshot{store: s, now: now, read: map[string]*document{}}
}

// In returns the snapshot as it is seen in the files of a side: a run counts only if the files
// that it read, which its name tells, are the same there.
func (s *Snapshot) In(same func(integration, read string) bool) *Snapshot {
	s.same = same
	return s
}

// Firm returns the snapshot as a merge needs it: no pass of a flaky task counts.
func (s *Snapshot) Firm() *Snapshot {
	s.firm = true
	return s
}

// isHere reports whether a run counts in these files.
func (s *Snapshot) isHere(integration string, r run) bool {
	return s.same == nil || s.same(integration, r.Read)
}

// Passed reports whether a task passed with its inputs and, as far as is remembered,
// never failed with them. It also returns when the last attempt that passed began. An
// attempt that began longer ago than within, or in the future, does not count.
func (s *Snapshot) Passed(ctx context.Context, t plan.Task, within time.Duration) (began time.Time, ok bool) {
	if s.firm && s.Flaky(ctx, t) {
		return time.Time{}, false
	}
	inputs := state.Name(t.Inputs)
	for _, r := range s.task(ctx, t).Runs {
		switch {
		case t.Inputs == "" || r.Inputs != inputs || !s.isHere(t.Integration, r):
		case r.Failed > 0:
			return time.Time{}, false
		case r.Passed > 0 && r.Began.After(began):
			began = r.Began
		}
	}
	age := s.now.Sub(began)
	return began, !began.IsZero() && age >= 0 && age <= within
}

// Flaky reports whether a task is flaky: it failed and passed with the same inputs.
func (s *Snapshot) Flaky(ctx context.Context, t plan.Task) bool {
	return s.task(ctx, t).flaky(s.now) != nil
}

// task returns the history of a task. If ctx ends during the reading, the next call reads
// again.
func (s *Snapshot) task(ctx context.Context, t plan.Task) *task {
	doc, read := s.read[t.Integration]
	if !read {
		doc = s.store.read(ctx, t.Integration, s.now)
		if ctx.Err() == nil {
			s.read[t.Integration] = doc
		}
	}
	return doc.task(t)
}
