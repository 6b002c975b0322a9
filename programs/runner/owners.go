package runner

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/owners"
	"github.com/app-sre/prcheck/report"
)

// whoMustApprove says who must approve a change. It is not ok if base has no change types, or the bundles are not at
// hand.
func whoMustApprove(at fileInputs) (r *owners.Report, ok bool, err error) {
	if at.base == nil || at.head == nil || !owners.HasRules(at.base) {
		return nil, false, nil
	}
	r, err = owners.Check(owners.Input{Base: at.base, Head: at.head, Today: time.Now().UTC().Format(time.DateOnly)})
	return r, true, err
}

// approvals returns who must approve a change for the page; nil if base has no change types.
func approvals(at fileInputs) *report.Approvals {
	r, ok, err := whoMustApprove(at)
	if !ok {
		return nil
	}
	if err != nil {
		return &report.Approvals{Summary: err.Error() + "."}
	}
	out := &report.Approvals{Summary: owners.Summary(r), Advice: owners.Advice(r)}
	for _, row := range owners.Rows(r) {
		out.Places = append(out.Places, report.Approval(row))
	}
	return out
}

// writeOwners writes who must approve a change below its report, for people, if base has change types. It decides
// nothing: rules of base that cannot be used are told, and planner owners fails on them.
func writeOwners(w io.Writer, form string, at fileInputs) error {
	if form == "json" {
		return nil
	}
	r, ok, err := whoMustApprove(at)
	if !ok {
		return nil
	}
	heading, write := "\nWho must approve: ", owners.WriteText
	if form == "markdown" {
		heading, write = "\n### Who must approve\n\n", owners.WriteMarkdown
	}
	if _, err := io.WriteString(w, heading); err != nil {
		return fmt.Errorf("writing who must approve: %w", err)
	}
	if wrong := (*owners.RulesError)(nil); errors.As(err, &wrong) {
		_, err = fmt.Fprintln(w, sanitize.Line(err.Error())+".")
	} else if err == nil {
		err = write(w, r)
	}
	if err != nil {
		return fmt.Errorf("writing who must approve: %w", err)
	}
	return nil
}
