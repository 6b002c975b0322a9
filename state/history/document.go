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
	maxRuns     = 200  // of a task: of ten hours in which twenty merge requests an hour pass
	maxTasks    = 1000 // of an integration
	maxAllRuns  = 30 * maxTasks
	maxDocument = 8 << 20
	maxAttempts = 10        // of a run
	maxSkew     = time.Hour // by which the clocks of machines may differ
)

// A document is the history of an integration.
type document struct {
	Version     string  `json:"version"`
	Integration string  `json:"integration"`
	Tasks       []*task `json:"tasks"` // sorted by Task
}

// A task is the history of a task.
type task struct {
	Task  string       `json:"task"` // a digest of shard and command
	Runs  []run        `json:"runs"` // the oldest first
	Flaky *flakiness   `json:"flaky,omitempty"`
	Base  *baseFailure `json:"base,omitempty"`
}

// A run counts how the attempts of a task ended in one run.
type run struct {
	Inputs string `json:"inputs"` // a digest
	// Read names the files that the last attempt read, and Tree the files that it could read; "" if
	// that is not known.
	Read   string    `json:"read,omitempty"`
	Tree   string    `json:"tree,omitempty"`
	At     time.Time `json:"at"`
	Passed int       `json:"passed,omitempty"` // attempts
	Failed int       `json:"failed,omitempty"`
	// when the attempt that passed began; zero if none passed or the time is unknown
	Began time.Time `json:"began,omitzero"`
	// Announced are the effects of the attempt that passed. It is nil if nobody looked for
	// them or if they are too many.
	Announced *announced `json:"announced,omitempty"`
}

// A flakiness says when a task was first and last seen to fail and to pass with the same
// inputs.
type flakiness struct {
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
}

// A baseFailure says when a failure of a task was first and last seen on base.
type baseFailure struct {
	Mark  string    `json:"mark"` // identifies the failure
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
}

// kind describes the document of an integration.
func kind(integration string, now time.Time) state.Kind[document] {
	return state.Kind[document]{Version: Version, Limit: maxDocument, Valid: func(d *document) error {
		if d.Integration != integration || !d.isValid(now) {
			return errors.New("it is not valid")
		}
		return nil
	}}
}

// removeOld removes runs and tasks that were last seen longer ago than [Lapse].
func (d *document) removeOld(now time.Time) {
	for _, t := range d.Tasks {
		t.Runs = slices.DeleteFunc(t.Runs, func(r run) bool { return now.Sub(r.At) > Lapse })
	}
	d.Tasks = slices.DeleteFunc(d.Tasks, func(t *task) bool { return now.Sub(t.lastSeen()) > Lapse })
}

// isValid reports whether this package can have written the tasks of a document.
func (d document) isValid(now time.Time) bool {
	if len(d.Tasks) > maxTasks {
		return false
	}
	inPast := func(first, last time.Time) bool { return !last.Before(first) && last.Sub(now) <= maxSkew }
	for i, t := range d.Tasks {
		switch {
		case t == nil || t.Task == "" || len(t.Runs) > maxRuns || i > 0 && t.Task <= d.Tasks[i-1].Task:
			return false
		case t.Flaky != nil && !inPast(t.Flaky.First, t.Flaky.Last), t.Base != nil && !inPast(t.Base.First, t.Base.Last):
			return false
		}
		for _, r := range t.Runs {
			if !inPast(r.At, r.At) || !inPast(r.Began, r.At) || !r.Announced.isValid() || min(r.Passed, r.Failed) < 0 ||
				max(r.Passed, r.Failed) > maxAttempts {
				return false
			}
		}
	}
	return true
}

// lastSeen returns the time of the last entry in the history of a task.
func (t *task) lastSeen() time.Time {
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

// trim removes tasks without an entry, and the tasks whose last entries are oldest if
// there are too many.
func (d *document) trim() {
	d.Tasks = slices.DeleteFunc(d.Tasks, func(t *task) bool { return t.lastSeen().IsZero() })
	if len(d.Tasks) > maxTasks {
		slices.SortStableFunc(d.Tasks, func(a, b *task) int { return b.lastSeen().Compare(a.lastSeen()) })
		d.Tasks = d.Tasks[:maxTasks]
		slices.SortFunc(d.Tasks, func(a, b *task) int { return cmp.Compare(a.Task, b.Task) })
	}
	for _, t := range d.Tasks {
		t.Runs = t.Runs[max(0, len(t.Runs)-maxAllRuns/len(d.Tasks)):]
	}
}
