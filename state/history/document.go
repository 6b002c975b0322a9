package history

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/app-sre/prcheck/state"
)

// Version is the version of the documents.
const Version = "1"

// The bounds of a document.
const (
	maxRuns     = 30   // of a task
	maxTasks    = 1000 // of an integration
	maxDocument = 8 << 20
	maxAttempts = 10        // of a run
	ahead       = time.Hour // by which clocks of machines may differ
)

// A document is what is remembered of an integration.
type document struct {
	Version     string   `json:"version"`
	Integration string   `json:"integration"`
	Tasks       []*known `json:"tasks"` // by Task
}

// known is what is remembered of a task.
type known struct {
	Task  string  `json:"task"` // stands for its shard and command
	Runs  []run   `json:"runs"` // the oldest first
	Flaky *flake  `json:"flaky,omitempty"`
	Base  *broken `json:"base,omitempty"`
}

// A run is how the attempts of one run ended.
type run struct {
	Inputs string    `json:"inputs"` // stands for them
	At     time.Time `json:"at"`
	Passed int       `json:"passed,omitempty"`
	Failed int       `json:"failed,omitempty"`
	Began  time.Time `json:"began,omitzero"` // the attempt that passed; zero when none did, or nobody knows
}

// A flake is when a task was seen to fail and to pass with the same inputs.
type flake struct {
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
}

// broken is when a task was seen to fail on base.
type broken struct {
	Mark  string    `json:"mark"` // stands for how
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
}

// kind holds the document of an integration to what this package writes.
func kind(integration string, now time.Time) state.Kind[document] {
	return state.Kind[document]{Version: Version, Limit: maxDocument, Valid: func(d *document) error {
		if d.Integration != integration || !d.ok(now) {
			return errors.New("it is not as it was written")
		}
		return nil
	}}
}

// lapse forgets what was too long ago.
func (d *document) lapse(now time.Time) {
	for _, t := range d.Tasks {
		t.Runs = slices.DeleteFunc(t.Runs, func(r run) bool { return now.Sub(r.At) > Lapse })
	}
	d.Tasks = slices.DeleteFunc(d.Tasks, func(t *known) bool { return now.Sub(t.last()) > Lapse })
}

// ok tells whether the tasks can be what this package writes.
func (d document) ok(now time.Time) bool {
	if len(d.Tasks) > maxTasks {
		return false
	}
	past := func(first, last time.Time) bool { return !last.Before(first) && last.Sub(now) <= ahead }
	for i, t := range d.Tasks {
		switch {
		case t == nil || t.Task == "" || len(t.Runs) > maxRuns || i > 0 && t.Task <= d.Tasks[i-1].Task:
			return false
		case t.Flaky != nil && !past(t.Flaky.First, t.Flaky.Last), t.Base != nil && !past(t.Base.First, t.Base.Last):
			return false
		}
		for _, r := range t.Runs {
			if !past(r.At, r.At) || !past(r.Began, r.At) || min(r.Passed, r.Failed) < 0 || max(r.Passed, r.Failed) > maxAttempts {
				return false
			}
		}
	}
	return true
}

// last is when anything was last seen of a task.
func (t *known) last() time.Time {
	var at time.Time
	if n := len(t.Runs); n > 0 {
		at = t.Runs[n-1].At
	}
	if t.Flaky != nil && t.Flaky.Last.After(at) {
		at = t.Flaky.Last
	}
	if t.Base != nil && t.Base.Last.After(at) {
		at = t.Base.Last
	}
	return at
}

// trim forgets the tasks of which nothing was seen for longest.
func (d *document) trim() {
	d.Tasks = slices.DeleteFunc(d.Tasks, func(t *known) bool { return t.last().IsZero() })
	if len(d.Tasks) <= maxTasks {
		return
	}
	slices.SortStableFunc(d.Tasks, func(a, b *known) int { return b.last().Compare(a.last()) })
	d.Tasks = d.Tasks[:maxTasks]
	slices.SortFunc(d.Tasks, func(a, b *known) int { return cmp.Compare(a.Task, b.Task) })
}
