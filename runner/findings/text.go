package findings

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
)

// A Failure says that findings fail a task.
type Failure struct {
	Findings int          // how many findings fail it
	First    plan.Finding // the first of them
	HasFile  bool         // one of them names a file of the data
	inData   bool         // all of them do
}

// Failure ends the collection. It returns nil if no finding fails the task.
func (c *Collection) Failure() *Failure {
	c.End()
	all := c.clean()
	n := 0
	for n < len(all) && all[n].Fails() {
		n++
	}
	if n == 0 {
		return nil
	}
	out := &Failure{Findings: n + c.beyondFails, First: all[0], inData: true}
	for _, f := range all[:n] {
		out.HasFile = out.HasFile || f.File != ""
		out.inData = out.inData && f.File != ""
	}
	return out
}

// Error says how many findings fail the task, and names the first.
func (f *Failure) Error() string {
	text := f.First.Message
	if place := f.First.Where(); place != "" {
		text = place + ": " + text
	}
	if f.First.Code != "" {
		text = string(f.First.Code) + ": " + text
	}
	switch {
	case f.Findings == 1:
		return text
	case f.inData:
		return fmt.Sprintf("%d mistakes in the data, the first: %s", f.Findings, text)
	}
	return fmt.Sprintf("%d findings fail it, the first: %s", f.Findings, text)
}

// cleanMessage returns a message as one short line without secrets and without characters
// that a terminal acts on.
func (c *Collection) cleanMessage(r *report) string {
	stream := c.masker.Stream()
	masked := stream.Feed([]byte(r.Message))
	if !r.isCut { // else the end may be the beginning of a secret
		masked = append(masked, stream.Flush()...)
	}
	text := []rune(c.masker.Text(sanitize.Line(string(masked))))
	if r.isCut || len(text) > plan.MaxFindingMessage {
		text = append(text[:min(len(text), plan.MaxFindingMessage-1)], '…')
	}
	return cmp.Or(strings.TrimSpace(string(text)), "(a finding without a message)")
}

// isPlace reports whether a text can be a path in a bundle, or a JSON pointer, that people are
// shown.
func isPlace(text string) bool {
	isHidden := func(r rune) bool { return !unicode.IsPrint(r) }
	return strings.HasPrefix(text, "/") && len(text) <= plan.MaxFindingPlace && utf8.ValidString(text) &&
		!strings.ContainsFunc(text, isHidden)
}
