package promotions

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/reconcile"
)

// The codes of findings.
const (
	codeHeld    = "PROMOTION_HELD"    // something newer is not promoted
	codeUnknown = "PROMOTION_UNKNOWN" // nobody knows what may be promoted
)

// The states of subscribers.
const (
	stateSame    = "same"    // nothing is newer
	stateOpen    = "open"    // it is promoted by an open merge request
	stateWanted  = "promote" // it is to be promoted
	stateHeld    = "held"
	stateUnknown = "unknown"
	stateMerged  = "merged" // of a merge request
)

// stateOf returns how a subscriber stands.
func (w *work) stateOf(c *component, s *subscriber) string {
	switch {
	case s.unknown != nil:
		return stateUnknown
	case s.differs(s.d) && w.open[c.branch] != nil:
		return stateOpen
	case s.differs(s.d):
		return stateWanted
	case s.d.Hold != "":
		return stateHeld
	}
	return stateSame
}

// report prints the table of all subscribers, reports those that are held, and returns the errors.
func (w *work) report(errs []error) error {
	table := tabwriter.NewWriter(w.env.Log, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "TARGET\tSTATE\tCURRENT\tCANDIDATE\tOPENS\tHOLD") // the log takes everything
	for _, c := range w.components {
		for _, s := range c.subscribers {
			stand := w.standing(c, s)
			opens := ""
			if !stand.Opens.IsZero() {
				opens = stand.Opens.UTC().Format("2006-01-02 15:04Z")
			}
			candidate := s.d.Candidate
			_, _ = fmt.Fprintf(table, "%s\t%s\t%.12s\t%.12s\t%s\t%s\n", s.label(), stand.State, s.q.Ref, candidate, opens, strings.ReplaceAll(stand.Hold, "\n", "; "))
			w.env.Stand(stand)
			w.find(s, stand)
			if err := firstOf(s.unknown, s.d.Err); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", s.label(), err))
			}
		}
	}
	_ = table.Flush()
	return reconcile.Join(errs...)
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// standing returns how a subscriber stands, for the table and the metrics.
func (w *work) standing(c *component, s *subscriber) integration.Standing {
	out := integration.Standing{Key: s.label(), State: w.stateOf(c, s), Hold: s.hold(), Opens: s.d.Opens}
	if s.d.Candidate != "" {
		out.Reasons = []string{fmt.Sprintf("from %.12s", s.q.Ref), fmt.Sprintf("to %.12s", s.d.Candidate)}
	}
	if out.Hold == "" && s.differs(s.d) {
		out.Hold = c.hold
	}
	out.Waits = out.Hold != ""
	if m := w.open[c.branch]; m != nil && out.State == stateOpen {
		out.Since = m.Opened
	}
	return out
}

// find reports a subscriber that waits.
func (w *work) find(s *subscriber, stand integration.Standing) {
	if stand.Hold == "" {
		return
	}
	f := plan.Finding{Code: codeHeld, Severity: plan.SeverityNote, File: s.target().Place.File, Pointer: s.target().Place.Pointer, Message: s.label() + ": " + stand.Hold}
	if s.unknown != nil || s.d.Err != nil {
		f.Code, f.Severity = codeUnknown, plan.SeverityError
	}
	if !stand.Opens.IsZero() {
		f.Message += "; it opens at " + stand.Opens.UTC().Format("2006-01-02 15:04Z")
	}
	w.env.Report(integration.Finding{Finding: f})
}
