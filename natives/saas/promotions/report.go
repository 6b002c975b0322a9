package promotions

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/promotion"
	"github.com/app-sre/prcheck/plan"
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
	_, began := w.began(c, s)
	switch {
	case s.unknown != nil:
		return stateUnknown
	case (began || s.differs(s.d)) && w.open[c.branch] != nil:
		return stateOpen
	case began || s.differs(s.d):
		return stateWanted
	case s.d.Hold != "":
		return stateHeld
	}
	return stateSame
}

// report prints the table of all subscribers, reports those that are held, and returns the errors.
func (w *work) report(errs []error) error {
	var out, nobodyKnows saas.Outages
	places := map[string]plan.Place{}
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
			_, _ = fmt.Fprintf(table, "%s\t%s\t%.12s\t%.12s\t%s\t%s\n", cell(s.label()), stand.State, cell(s.q.Ref),
				cell(candidate), opens, cell(strings.ReplaceAll(stand.Hold, "\n", "; ")))
			w.env.Stand(stand)
			if unknown := firstOf(s.unknown, s.d.Err); unknown != nil && stand.Hold != "" {
				nobodyKnows.Add(errors.New(stand.Hold), s.label())
				places[s.label()] = s.target().Place
			} else {
				w.find(s, stand)
			}
			out.Add(firstOf(s.unknown, s.d.Err), s.label())
		}
	}
	_ = table.Flush()
	for _, o := range nobodyKnows.All() {
		w.env.Report(integration.Remark{Finding: plan.Finding{Code: codeUnknown, Severity: plan.SeverityError,
			Place: places[o.Targets[0]], Message: o.Err().Error()}})
	}
	for _, line := range w.waits() {
		w.say(line)
	}
	for _, err := range errs {
		out.Add(err, "")
	}
	return reconcile.Join(out.Errors()...)
}

// waits returns a line for each commit that waits: its code, its end, its target, and why.
func (w *work) waits() []string {
	var out []string
	for _, c := range w.components {
		for _, s := range c.subscribers {
			d := w.wait(c, s)
			if d.Code == "" {
				continue
			}
			until := ""
			if !d.Opens.IsZero() {
				until = " until " + d.Opens.UTC().Format("2006-01-02T15:04Z")
			}
			commit := "?"
			if d.Commit != "" {
				commit = fmt.Sprintf("%.12s", d.Commit)
			}
			out = append(out, fmt.Sprintf("HELD %s %s%s: %s: %s", d.Code, commit, until, s.label(), d.Hold))
		}
	}
	if len(out) == 0 {
		out = append(out, "nothing waits")
	}
	return out
}

// wait returns what a subscriber waits for; the code is "" if it waits for nothing.
func (w *work) wait(c *component, s *subscriber) promotion.Decision {
	switch {
	case s.unknown != nil:
		return promotion.Decision{Code: promotion.Unknown, Commit: s.lately, Hold: s.hold()}
	case s.queue != nil:
		return promotion.Decision{Code: promotion.Queued, Commit: s.queue.commit, Opens: s.queue.until, Hold: s.queue.why}
	case s.d.Hold != "":
		d := s.d
		d.Commit = cmp.Or(d.Commit, s.lately)
		return d
	case c.hold != "" && s.differs(s.d):
		return promotion.Decision{Code: cmp.Or(c.code, promotion.Checks), Commit: s.d.Ref, Opens: c.opens, Hold: c.hold}
	}
	return promotion.Decision{}
}

// cell returns a text as it may stand in a cell of the table.
func cell(text string) string { return strings.ReplaceAll(sanitize.Line(text), "\t", " ") }

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// began returns what a subscriber is promoted to since a window that is over.
func (w *work) began(c *component, s *subscriber) (entry, bool) {
	if s.differs(s.d) {
		return entry{}, false
	}
	e, _ := find(w.remembered[c.branch].Begun, s.entry(w.settings, s.d))
	still, ok, err := s.goesOn(w.settings, e)
	return still, ok && err == nil
}

// standing returns how a subscriber stands, for the table and the metrics.
func (w *work) standing(c *component, s *subscriber) integration.Standing {
	out := integration.Standing{Key: s.label(), State: w.stateOf(c, s), Hold: s.hold(), Opens: s.d.Opens}
	to := s.d.Candidate
	e, began := w.began(c, s)
	if began {
		to, out.Hold, out.Opens = e.Ref, "", time.Time{}
	}
	if to != "" {
		out.Reasons = []string{fmt.Sprintf("from %.12s", s.q.Ref), fmt.Sprintf("to %.12s", to)}
	}
	if out.Hold == "" && (began || s.differs(s.d)) {
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
	f := plan.Finding{Code: codeHeld, Severity: plan.SeverityNote, Place: s.target().Place,
		Message: s.label() + ": " + stand.Hold}
	if !stand.Opens.IsZero() {
		f.Message += "; it opens at " + stand.Opens.UTC().Format("2006-01-02 15:04Z")
	}
	w.env.Report(integration.Remark{Finding: f})
}
