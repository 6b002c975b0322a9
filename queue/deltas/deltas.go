package deltas

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/app-sre/prcheck/queue"
	"github.com/app-sre/prcheck/state"
)

// The bounds of a document.
const (
	maxTasks    = 10000
	maxName     = 2000 // bytes
	maxDocument = 8 << 20
)

// Times for which a run counts.
const (
	// Started is for how long a run that did not end is taken for one that goes on, since it was begun or was last told
	// to go on.
	Started = 15 * time.Minute
	// Ended is for how long a run that ended counts, as the results of tasks do.
	Ended = time.Hour
)

// maxSkew is by how much the clocks of machines may differ.
const maxSkew = time.Minute

// Trees are those of a base and of a head that is rebased on it.
type Trees struct{ Base, Head string }

// A Task is a task of a run.
type Task struct {
	Name    string  `json:"name"`
	Inputs  string  `json:"inputs"`            // digest
	Outcome Outcome `json:"outcome,omitempty"` // "" while it runs
}

// An Outcome says how a task ended.
type Outcome string

// The outcomes of tasks.
const (
	Passed Outcome = "passed" // at its first attempt
	Failed Outcome = "failed" // also if base fails in the same way
	// Again is that of a task of which nothing was found out, or that passed at a later attempt.
	Again Outcome = "again"
)

// A document is what is remembered of a run.
type document struct {
	Version string    `json:"version"`
	Base    string    `json:"base"`
	Head    string    `json:"head"`
	Began   time.Time `json:"began"` // while it runs, when it was last known to
	Ended   time.Time `json:"ended,omitzero"`
	Tasks   []Task    `json:"tasks"`
	Labels  []string  `json:"labels,omitempty"` // that a merge request needs for what these tasks announce
}

var trees = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// check returns an error for a pair that is not one of trees.
func (t Trees) check() error {
	if !trees.MatchString(t.Base) || !trees.MatchString(t.Head) {
		return fmt.Errorf("%.80q on %.80q is no pair of trees", t.Head, t.Base)
	}
	return nil
}

func (t Trees) key() string { return "merge-queue/deltas/" + state.Name(t.Base, t.Head) + ".json" }

// kind describes the document of a pair.
func (t Trees) kind() state.Kind[document] {
	return state.Kind[document]{Version: "merge-queue-delta/v1", Limit: maxDocument, Valid: func(d *document) error {
		isWrong := func(one Task) bool {
			return one.Name == "" || one.Inputs == "" || max(len(one.Name), len(one.Inputs)) > maxName ||
				!slices.Contains([]Outcome{"", Passed, Failed, Again}, one.Outcome)
		}
		switch {
		case d.Base != t.Base || d.Head != t.Head:
			return errors.New("it is of another pair")
		case len(d.Tasks) > maxTasks || d.Began.IsZero() || slices.ContainsFunc(d.Tasks, isWrong):
			return errors.New("it is not valid")
		}
		return nil
	}}
}

// A Store remembers runs in a state.
type Store struct{ in state.Store }

// NewStore returns a store that keeps its documents in a state.
func NewStore(in state.Store) Store { return Store{in} }

// Begin remembers that the tasks of a pair run now. It is called again while they do.
func (s Store) Begin(ctx context.Context, of Trees, tasks []Task, now time.Time) error {
	return s.write(ctx, of, document{Began: now.UTC(), Tasks: tasks})
}

// A Run is how the tasks of a pair ended.
type Run struct {
	Tasks []Task
	// Labels are those that a merge request needs for what the tasks announce.
	Labels       []string
	Began, Ended time.Time
}

// End remembers how the tasks of a pair ended.
func (s Store) End(ctx context.Context, of Trees, r Run) error {
	return s.write(ctx, of, document{Began: r.Began.UTC(), Ended: r.Ended.UTC(), Tasks: r.Tasks, Labels: r.Labels})
}

func (s Store) write(ctx context.Context, of Trees, d document) error {
	if err := of.check(); err != nil {
		return err
	}
	kind := of.kind()
	d.Version, d.Base, d.Head = kind.Version, of.Base, of.Head
	if err := kind.Valid(&d); err != nil {
		return fmt.Errorf("remembering the run of a pair: %w", err)
	}
	raw, err := json.Marshal(d)
	if err == nil {
		err = s.in.Write(ctx, of.key(), raw)
	}
	if err != nil {
		return fmt.Errorf("remembering the run of a pair: %w", err)
	}
	return nil
}

// Fill says of each task of a pair how its run stands, and returns the labels that a merge request needs for what they
// announced. A document that cannot be read says nothing, and so does one from the future or one that is too old. It
// counts for tasks with the very same inputs.
func (s Store) Fill(ctx context.Context, of Trees, tasks []queue.PlannedTask, now time.Time) (labels []string) {
	if of.check() != nil {
		return nil
	}
	d, err := of.kind().Read(ctx, s.in, of.key())
	if err != nil || !d.counts(now) {
		return nil
	}
	for i, t := range tasks {
		for _, ran := range d.Tasks {
			if ran.Name == t.Name && ran.Inputs == t.Inputs && t.Inputs != "" {
				tasks[i].Run = d.stateOf(ran)
			}
		}
	}
	return d.Labels
}

// counts reports whether a run is young enough to say something.
func (d *document) counts(now time.Time) bool {
	if d.Ended.IsZero() {
		return now.Sub(d.Began) >= -maxSkew && now.Sub(d.Began) <= Started
	}
	return !d.Ended.Before(d.Began) && now.Sub(d.Ended) >= -maxSkew && now.Sub(d.Began) <= Ended
}

// stateOf returns how the run of a task stands.
func (d *document) stateOf(t Task) queue.RunState {
	switch {
	case d.Ended.IsZero():
		return queue.Started
	case t.Outcome == Passed:
		return queue.RunPassed
	case t.Outcome == Failed:
		return queue.RunFailed
	}
	return queue.NotStarted
}
