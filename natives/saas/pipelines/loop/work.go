package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/app-sre/prcheck/natives/saas/pipelines/decide"
	"github.com/app-sre/prcheck/natives/saas/pipelines/executor"
	"github.com/app-sre/prcheck/natives/saas/pipelines/ledger"
	"github.com/app-sre/prcheck/state"
)

// A work is the iteration over one saas file.
type work struct {
	*Loop
	file     RunnableFile
	doc      *ledger.Document // as it is in the state
	begun    *ledger.Document // what other programs remember; nil if nothing is taken over
	readAt   time.Time
	err      error // why nothing is done
	isHeld   bool  // what other programs remember cannot be taken over
	outcomes []Outcome
}

// begin fills a new document with what other programs remember.
func (w *work) begin(ctx context.Context) {
	doc, err := w.Begin(ctx, w.doc)
	if err != nil {
		w.err, w.isHeld = fmt.Errorf("what other programs remember is not taken over: %w", err), true
		return
	}
	w.begun = doc
}

// setAside keeps a copy of a document that cannot be read.
func (w *work) setAside(ctx context.Context) {
	if w.Writes == nil || !errors.Is(w.err, state.ErrCorrupt) {
		return
	}
	if err := ledger.SetAside(ctx, w.Writes, w.file.Name); err != nil {
		w.err = fmt.Errorf("%w; keeping a copy: %w", w.err, err)
	}
}

// run makes the iteration.
func (w *work) run(ctx context.Context) {
	next := w.decide(ctx)
	if w.err != nil || w.Writes == nil {
		return
	}
	if next != w.doc && !next.Same(w.doc) {
		was, err := ledger.Write(ctx, w.Writes, w.doc, next, w.Writer)
		if err != nil {
			w.fail(fmt.Errorf("remembering the decisions: %w", err))
			return
		}
		w.doc, w.readAt = was, w.Now()
	}
	if !slices.ContainsFunc(w.outcomes, func(o Outcome) bool { return o.Create }) {
		return
	}
	if err := w.confirm(ctx); err != nil {
		w.fail(fmt.Errorf("no run is created: %w", err))
		return
	}
	w.start(ctx)
}

// confirm reads the document again if it was read some time ago. Other loops may have dealt with
// its intents since then.
func (w *work) confirm(ctx context.Context) error {
	if age := w.Now().Sub(w.readAt); age >= 0 && age < maxAge/4 {
		return nil
	}
	now := w.Now()
	doc, err := ledger.Read(ctx, w.State, w.file.Name)
	if err != nil {
		return err
	}
	if doc.Generation != w.doc.Generation || doc.Writer != w.doc.Writer {
		return ledger.ErrChanged
	}
	w.readAt = now
	return nil
}

// decide decides about all cells, and returns the document with the decisions.
func (w *work) decide(ctx context.Context) *ledger.Document {
	next := w.doc
	if w.begun != nil {
		next = w.begun
	}
	for _, c := range w.file.Cells {
		out := Outcome{File: w.file.Name, Environment: c.Environment}
		if w.err != nil {
			out.Decision = decide.Decision{Cell: c.Key, State: decide.Broken, Hold: w.err.Error(),
				Errors: []string{w.err.Error()}}
			w.outcomes = append(w.outcomes, out)
			continue
		}
		was := next.Cells[c.Environment].Intent
		out.Decision = w.decideCell(ctx, c, next)
		out.Ended, out.Result = ended(was, out.Memory)
		next = next.With(c.Environment, out.Memory)
		w.outcomes = append(w.outcomes, out)
	}
	switch {
	case w.err != nil:
		return w.doc
	case w.file.Partial:
		return next
	}
	return next.WithoutGone(w.file.Named, w.file.Environments, w.Now())
}

// decideCell decides about one cell. The gates are asked only if a run would start.
func (w *work) decideCell(ctx context.Context, c RunnableCell, doc *ledger.Document) decide.Decision {
	var uids []string
	for _, t := range c.Targets {
		uids = append(uids, t.UID)
	}
	m := doc.Memory(c.Environment, uids)
	if c.Look != nil && c.Mistake == "" && !c.Deprecated {
		c.Targets = c.Look(ctx, m.Targets)
	}
	c.Runs = w.runsOf(ctx, c, m)
	c.Asked = w.asked(ctx, c, m)
	d := decide.Decide(c.Cell, m, w.Policy, w.Now())
	if !d.NeedsGates {
		return d
	}
	c.Gates = &decide.Gates{}
	missing, err := c.Executor.Missing(ctx, c.Order)
	if err != nil {
		c.Gates.Unknown = err.Error()
	}
	c.Gates.NoPipeline = missing
	if missing == "" && err == nil && w.Gates != nil {
		c.Gates.Gates = w.Gates(ctx, c)
	}
	return decide.Decide(c.Cell, m, w.Policy, w.Now())
}

// ended returns the intent of before if its run ended, and how.
func ended(was *decide.Intent, now decide.Memory) (*decide.Intent, decide.RunPhase) {
	switch {
	case was == nil || was.Phase != decide.Running || now.Intent != nil && now.Intent.ID == was.ID:
		return nil, ""
	case now.Failed == nil || now.Failed.ID != was.ID:
		return was, decide.Succeeded
	case now.Failed.Lost:
		return was, ""
	}
	return was, decide.Errored
}

// asked reports whether a person wants a run again that failed, or fails by now.
func (w *work) asked(ctx context.Context, c RunnableCell, m decide.Memory) bool {
	var since time.Time
	switch {
	case w.Retried == nil:
		return false
	case m.Intent != nil:
		since = m.Intent.Since
	case m.Failed != nil:
		since = m.Failed.Since
	default:
		return false
	}
	return w.Retried(ctx, c).After(since)
}

// runsOf returns the runs of a cell.
func (w *work) runsOf(ctx context.Context, c RunnableCell, m decide.Memory) decide.Runs {
	if c.Executor == nil {
		return decide.Runs{Unknown: "nobody knows where its runs are"}
	}
	of := w.runs[c.Order.Place]
	switch {
	case of == nil:
		return decide.Runs{Unknown: "its runs were not listed"}
	case of.err != nil:
		return decide.Runs{Unknown: of.err.Error()}
	}
	out := decide.Runs{List: of.runs[w.file.Name+"/"+c.Environment]}
	isMine := func(r decide.Run) bool { return m.Intent != nil && r.Intent == m.Intent.ID }
	if it := m.Intent; it != nil && it.Phase == decide.Running && w.Recorded != nil &&
		!slices.ContainsFunc(out.List, isMine) {
		out.Gone = w.Recorded(ctx, c, it)
	}
	return out
}

// start creates the runs of pending intents, and remembers that they were created.
func (w *work) start(ctx context.Context) {
	next := w.doc
	for i, c := range w.file.Cells {
		out := &w.outcomes[i]
		it := w.doc.Cells[c.Environment].Intent
		if !out.Create || it == nil || it.Phase != decide.Pending {
			continue
		}
		if age := w.Now().Sub(w.readAt); age > maxAge || age < -maxAge || ctx.Err() != nil {
			out.Errors = append(out.Errors, "its run is not created now: too much time went by; the next round goes on")
			continue
		}
		order := c.Order
		order.Intent = it
		err := c.Executor.Start(ctx, order)
		m := out.Memory
		switch {
		case err == nil:
			out.Started = true
			started := *it
			started.Phase = decide.Running
			m.Intent = &started
		case errors.Is(err, executor.ErrTaken):
			m.Intent = nil // it never had a run; the next round makes another intent
			fallthrough
		default:
			out.Errors = append(out.Errors, fmt.Sprintf("creating run %s: %v", it.Run, err))
		}
		out.Memory = m
		next = next.With(c.Environment, m)
	}
	if next == w.doc || next.Same(w.doc) {
		return
	}
	_, err := ledger.Write(ctx, w.Writes, w.doc, next, w.Writer+"-started")
	if err != nil && !errors.Is(err, ledger.ErrChanged) {
		w.fail(fmt.Errorf("remembering that runs were created: %w", err))
	}
}

// fail tells an error of the saas file at each of its cells. Nothing else starts.
func (w *work) fail(err error) {
	for i := range w.outcomes {
		w.outcomes[i].Errors = append(w.outcomes[i].Errors, err.Error())
	}
}
