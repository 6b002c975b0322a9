package baseline

import (
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
)

// How much is shown of a comparison.
const (
	maxShown   = 200 // characters of a line
	maxLeftOut = 10  // values that were not compared
)

// describeExtra describes how the words of lines differ: a line of head that base does not
// have as often, or else that base has more lines. Their words differ.
func describeExtra(r plan.Result, base, head []line) string {
	count := map[string]int{}
	for _, l := range base {
		count[l.words]++
	}
	for _, l := range head {
		if count[l.words]--; count[l.words] < 0 {
			return quote(r, l.shown, "a line of the log") + " is missing there"
		}
	}
	return fmt.Sprintf("it says more there (%d lines instead of %d)", len(base), len(head))
}

// describe describes a difference at a line of head.
func describe(r plan.Result, l line, d difference) string {
	if d.ordering && d.what == "the order" {
		return quote(r, l.shown, "a line of the log") + " stands at another place there"
	}
	return d.what + " differs there, in " + quote(r, l.shown, "a line of the log")
}

// quote returns a line in quotes. It returns the other words if the result does not show
// the line anyway: only there all secrets are masked.
func quote(r plan.Result, shown, otherwise string) string {
	shown = strings.TrimSpace(shown)
	if shown == "" || !strings.Contains(r.Tail+"\n"+r.Reason, shown) {
		return otherwise
	}
	shown = sanitize.Line(shown)
	if runes := []rune(shown); len(runes) > maxShown {
		shown = string(runes[:maxShown]) + "…"
	}
	return fmt.Sprintf("%q", shown)
}

// leftOut lists what was not compared: lines that do not count, and noise.
func leftOut(r plan.Result, head, base record, noise []difference) []string {
	var out []string
	if head.left+base.left > 0 {
		out = append(out, fmt.Sprintf("%d lines that announce effects or are of level DEBUG (%d on base)", head.left,
			base.left))
	}
	moved, values := 0, 0
	for _, d := range noise {
		if d.ordering {
			moved++
			continue
		}
		if values++; values <= maxLeftOut {
			out = append(out, d.what+" in "+quote(r, base.lines[d.line].shown, "a line of the log"))
		}
	}
	if values > maxLeftOut {
		out = append(out, fmt.Sprintf("%d more values", values-maxLeftOut))
	}
	if moved > 0 {
		out = append(out, fmt.Sprintf("the order of %d lines", moved))
	}
	return out
}
