package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
)

// EffectCounts are numbers of effects by kind.
type EffectCounts struct {
	Create int `json:"create"`
	Change int `json:"change"`
	Delete int `json:"delete"`
	Other  int `json:"other"`
}

// Of returns the number of effects of a kind.
func (c EffectCounts) Of(kind plan.EffectKind) int {
	switch kind {
	case plan.EffectCreate:
		return c.Create
	case plan.EffectChange:
		return c.Change
	case plan.EffectDelete:
		return c.Delete
	}
	return c.Other
}

// Sum returns the number of effects of all kinds.
func (c EffectCounts) Sum() int { return c.Create + c.Change + c.Delete + c.Other }

// String returns the numbers in words: "3 to create, 1 to delete", or "none".
func (c EffectCounts) String() string {
	return cmp.Or(strings.Join(countEffects(c, plainly), ", "), "none")
}

// IsValid reports whether no number is negative.
func (c EffectCounts) IsValid() bool { return min(c.Create, c.Change, c.Delete, c.Other) >= 0 }

// add adds n effects of a kind. A kind of a later prcheck counts as other.
func (c *EffectCounts) add(kind plan.EffectKind, n int) {
	switch kind {
	case plan.EffectCreate:
		c.Create += n
	case plan.EffectChange:
		c.Change += n
	case plan.EffectDelete:
		c.Delete += n
	default:
		c.Other += n
	}
}

// SummaryWith returns [AllEffects.Summary] with the deletions as emphasize returns them.
func (e AllEffects) SummaryWith(emphasize func(string) string) string {
	if !e.Looked() {
		return ""
	}
	parts := countEffects(e.Counts, emphasize)
	switch unasked := e.describeUnasked(); {
	case e.Silent():
		parts = append(parts, "no effects announced")
	case unasked != "" && len(parts) == 0:
		parts = append(parts, "no effects by the data alone", unasked)
	case unasked != "":
		parts = append(parts, unasked)
	}
	if n := e.Pending.Sum(); n > 0 {
		text := fmt.Sprintf("%d already pending on base", n)
		if d := e.Pending.Delete; d > 0 {
			text += " (" + emphasize(fmt.Sprintf("%d to delete", d)) + ")"
		}
		parts = append(parts, text)
	}
	if n := e.Gone.Sum(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d no longer announced", n))
	}
	if n := e.doubtful(); n > 0 {
		parts = append(parts, "effects of "+phrase.Count(n, "task")+" unknown")
	}
	return strings.Join(parts, ", ")
}

// plainly returns a text as it is.
func plainly(text string) string { return text }

// countEffects returns the numbers of each kind that occurs, such as "3 to create".
func countEffects(c EffectCounts, emphasize func(string) string) []string {
	var out []string
	add := func(n int, word string, show func(string) string) {
		if n > 0 {
			out = append(out, show(fmt.Sprintf("%d %s", n, word)))
		}
	}
	add(c.Create, "to create", plainly)
	add(c.Change, "to change", plainly)
	add(c.Delete, "to delete", emphasize)
	add(c.Other, "other", plainly)
	return out
}

// describeEffects returns the effects of one task in a few words. It returns "" if nobody
// looked for them.
func describeEffects(e *plan.Effects) string {
	switch {
	case e == nil:
		return ""
	case e.Unknown != "":
		return "unknown: " + cleanLine(e.Unknown)
	}
	var counts EffectCounts
	for _, kind := range plan.EffectKinds() {
		counts.add(kind, e.Count(kind))
	}
	return counts.String()
}
