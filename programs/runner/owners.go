package runner

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/owners"
)

// writeOwners writes who must approve a change below its report, for people, if base has change types. It decides
// nothing: rules of base that cannot be used are told, and planner owners fails on them.
func writeOwners(w io.Writer, form string, at fileInputs) error {
	if form == "json" || at.base == nil || at.head == nil || !owners.HasRules(at.base) {
		return nil
	}
	heading, write := "\nWho must approve: ", owners.WriteText
	if form == "markdown" {
		heading, write = "\n### Who must approve\n\n", owners.WriteMarkdown
	}
	if _, err := io.WriteString(w, heading); err != nil {
		return fmt.Errorf("writing who must approve: %w", err)
	}
	r, err := owners.Check(owners.Input{Base: at.base, Head: at.head, Today: time.Now().UTC().Format(time.DateOnly)})
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
