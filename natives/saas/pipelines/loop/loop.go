package loop

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/natives/saas/pipelines/decide"
	"github.com/app-sre/prcheck/natives/saas/pipelines/executor"
	"github.com/app-sre/prcheck/natives/saas/pipelines/ledger"
	"github.com/app-sre/prcheck/state"
)

// A RunnableFile is a saas file with its cells.
type RunnableFile struct {
	Name  string
	Cells []RunnableCell
	// Named are the uids of all targets that the data have, also of those that are disabled, and
	// Environments those of their namespaces.
	Named        map[string]bool
	Environments map[string]bool
	// Partial says that the data have mistakes, so that they may name more targets than these.
	// Nothing is forgotten then.
	Partial bool
}

// A RunnableCell is a cell with what runs it.
type RunnableCell struct {
	decide.Cell
	Environment string
	Order       executor.Order    // without an intent
	Executor    executor.Executor // nil if the cell has a mistake
	// Look returns the targets with all signals, when it is known what is applied of them, so that
	// what is applied need not be asked for. If it is nil, the targets have their signals.
	Look func(ctx context.Context, applied map[string]decide.Applied) []decide.WatchedTarget
}

// A Loop makes one iteration.
type Loop struct {
	State  state.Store // for reading
	Writes state.Store // nil in a dry run
	Policy decide.Policy
	Now    func() time.Time
	Writer string // names this iteration and no other
	// Gates asks the gates of a cell that would start.
	Gates func(ctx context.Context, c RunnableCell) []decide.Gate
	// Recorded says how the run of an intent ended that is gone; nil if nothing tells.
	// Retried returns when a person wanted a cell to run again last, a zero time for never; nil is never.
	Retried  func(ctx context.Context, c RunnableCell) time.Time
	Recorded func(ctx context.Context, c RunnableCell, it *decide.Intent) *decide.RunPhase
	// Begin returns what is known of a saas file of which nothing is remembered; nil is nothing.
	Begin   func(ctx context.Context, doc *ledger.Document) (*ledger.Document, error)
	Workers int

	runs map[executor.Place]*listing
}

// An Outcome is what became of a cell.
type Outcome struct {
	decide.Decision
	File, Environment string
	Started           bool // its run was created
	// Ended is the intent whose run ended since the last iteration, nil for none, and Result how it ended.
	Ended  *decide.Intent
	Result decide.RunPhase // Succeeded, Errored, or Lost if nobody knows
}

// A listing is the runs of a place.
type listing struct {
	runs map[string][]decide.Run // by cell
	err  error
}

// ErrState says that the state cannot be reached, so nothing starts.
var ErrState = errors.New("the state cannot be reached, so nothing starts")

// maxAge is how old a reading may be when a run is created for it. A process that slept in
// between must not create a run that others have dealt with.
const maxAge = time.Minute

// Run makes the iteration. The outcomes are in the order of files and cells. The error is
// [ErrState] if nothing was done; else it is about the memory of vanished files.
func (l *Loop) Run(ctx context.Context, files []RunnableFile) ([]Outcome, error) {
	works, err := l.read(ctx, files)
	if err != nil {
		return nil, err
	}
	l.list(ctx, works)
	l.each(ctx, len(works), func(ctx context.Context, i int) { works[i].run(ctx) })
	var out []Outcome
	for _, w := range works {
		out = append(out, w.outcomes...)
	}
	return out, nil
}

// each does something for n things at once.
func (l *Loop) each(ctx context.Context, n int, do func(ctx context.Context, i int)) {
	numbers := make([]string, n)
	for i := range numbers {
		numbers[i] = strconv.Itoa(i)
	}
	_, _ = reconcile.Each(ctx, numbers, max(l.Workers, 1), 0, func(ctx context.Context, number string, _ int) error {
		i, err := strconv.Atoi(number)
		if err == nil {
			do(ctx, i)
		}
		return err
	})
}

// read reads the documents of all files. If the state does not answer, nothing is done at all.
func (l *Loop) read(ctx context.Context, files []RunnableFile) ([]*work, error) {
	works := make([]*work, len(files))
	l.each(ctx, len(files), func(ctx context.Context, i int) {
		w := &work{Loop: l, file: files[i], readAt: l.Now()}
		w.doc, w.err = ledger.Read(ctx, l.State, files[i].Name)
		if w.err == nil && w.doc.Generation == 0 && l.Begin != nil {
			w.begin(ctx)
		}
		works[i] = w
	})
	for _, w := range works {
		switch {
		case w == nil:
			return nil, fmt.Errorf("%w: %w", ErrState, context.Cause(ctx))
		case w.isHeld:
		case errors.Is(w.err, state.ErrCorrupt), errors.Is(w.err, state.ErrOtherVersion),
			errors.Is(w.err, state.ErrUntrusted):
			w.setAside(ctx)
		case w.err != nil:
			return nil, fmt.Errorf("%w: %w", ErrState, w.err)
		}
	}
	return works, nil
}

// list lists the runs of all places, each with one request.
func (l *Loop) list(ctx context.Context, works []*work) {
	l.runs = map[executor.Place]*listing{}
	var places []executor.Place
	by := map[executor.Place]executor.Executor{}
	for _, w := range works {
		for _, c := range w.file.Cells {
			if at := c.Order.Place; c.Executor != nil && l.runs[at] == nil && w.err == nil {
				l.runs[at] = &listing{}
				by[at] = c.Executor
				places = append(places, at)
			}
		}
	}
	l.each(ctx, len(places), func(ctx context.Context, i int) {
		to := l.runs[places[i]]
		list, err := by[places[i]].Runs(ctx, places[i])
		to.runs, to.err = map[string][]decide.Run{}, err
		for _, r := range list {
			cell := r.File + "/" + r.Environment
			to.runs[cell] = append(to.runs[cell], r.Run)
		}
	})
	if ctx.Err() != nil {
		for _, to := range l.runs {
			to.err = errors.Join(to.err, context.Cause(ctx))
		}
	}
}
