package runner

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/owners"
	"github.com/app-sre/prcheck/owners/content"
	"github.com/app-sre/prcheck/report"
	"github.com/app-sre/prcheck/settings"
)

// An approvers says who must approve a change. The zero value says nothing: base has no change types, or the bundles
// are not at hand.
type approvers struct {
	report *owners.Report
	err    error
}

// whoMustApprove says who must approve a change, also of files that are in no bundle.
func whoMustApprove(ctx context.Context, at fileInputs) (who approvers) {
	if at.base == nil || at.head == nil || !owners.HasRules(at.base) {
		return who
	}
	in := owners.Input{Base: at.base, Head: at.head, Today: time.Now().UTC().Format(time.DateOnly)}
	var asked settings.Owners
	if asked, who.err = change.OwnersSettings(ctx, at.baseRef); who.err != nil {
		return who
	}
	in.Unordered = content.Unordered{All: asked.IgnoresOrder, Fields: asked.Unordered}
	two := change.Two{Base: at.baseRef, Head: at.headRef, InBase: at.base, InHead: at.head,
		Checkout: at.open.Settings.Checkout()}
	if in.Outside, in.ReadBase, who.err = two.Outside(ctx); who.err == nil {
		who.report, who.err = owners.Check(in)
	}
	return who
}

// page returns who must approve a change for the page; nil if nothing is known of it.
func (who approvers) page() *report.Approvals {
	r := who.report
	if who.err != nil {
		return &report.Approvals{Summary: sanitize.Line(who.err.Error()) + "."}
	}
	if r == nil {
		return nil
	}
	out := &report.Approvals{Summary: owners.Summary(r), Advice: owners.Advice(r)}
	for _, row := range owners.Rows(r) {
		out.Places = append(out.Places, report.Approval(row))
	}
	return out
}

// write writes who must approve a change below its report, for people. It decides nothing: what could not be found out
// is told, and planner owners fails on it.
func (who approvers) write(w io.Writer, form string) error {
	if form == "json" || who == (approvers{}) {
		return nil
	}
	heading, write := "\nWho must approve: ", owners.WriteText
	if form == "markdown" {
		heading, write = "\n### Who must approve\n\n", owners.WriteMarkdown
	}
	_, err := io.WriteString(w, heading)
	switch {
	case err != nil:
	case who.err != nil:
		_, err = fmt.Fprintln(w, sanitize.Line(who.err.Error())+".")
	default:
		err = write(w, who.report)
	}
	if err != nil {
		return fmt.Errorf("writing who must approve: %w", err)
	}
	return nil
}
