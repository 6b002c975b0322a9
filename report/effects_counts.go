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
	if len(parts) > 0 && e.Open > 0 {
		parts[len(parts)-1] += e.describeOpen()
	}
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

// describeOpen says how many of the effects were not compared with base.
func (e AllEffects) describeOpen() string {
	if e.Open == e.Counts.Sum() {
		return " (not compared with main)"
	}
	return fmt.Sprintf(" (%d of them not compared with main)", e.Open)
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

// An UnaskedPart is a part of a task at which nobody looked.
type UnaskedPart struct {
	Task string `json:"task"`
	plan.Unlooked
}

// Reason says in one line what is not known of the part, and why.
func (p UnaskedPart) Reason() string {
	text := ""
	if p.Part != "" {
		text = p.Part + ": "
	}
	entries := fmt.Sprintf("%d entries", p.Entries)
	if p.Entries == 1 {
		entries = "1 entry"
	}
	switch {
	case p.What == plan.UnlookedDrift:
		text += entries + " not compared with what is there"
	case p.What == plan.UnlookedRemoved && p.Entries > 0:
		text += "the fate of the things of " + entries + " is not known"
	case p.What == plan.UnlookedRemoved:
		text += "the fate of things that no entry names is not known"
	default:
		text += "nothing is known of " + entries
	}
	return text + ": " + p.Why
}

// addUnasked adds the parts of a task at which nobody looked. Where anything may be done, the effects of
// the task are unknown.
func (e *AllEffects) addUnasked(a announcement) {
	isTold := false
	for _, u := range a.effects.Unlooked {
		p := UnaskedPart{a.task, u}
		if u.What == plan.UnlookedDrift || u.What == plan.UnlookedRemoved {
			e.Unasked = append(e.Unasked, p)
		} else if !isTold {
			isTold = true
			e.Unknown = append(e.Unknown, EffectGap{a.task, a.tasks, p.Reason()})
		}
	}
}

// unaskedGaps returns the parts at which nobody looked as gaps.
func (e AllEffects) unaskedGaps() []EffectGap {
	var out []EffectGap
	for _, p := range e.Unasked {
		out = append(out, EffectGap{p.Task, 1, p.Reason()})
	}
	return out
}

// mayHave returns the number of parts at which nobody looked and where the change may have an effect of a
// kind.
func (e AllEffects) mayHave(kind plan.EffectKind) (n int) {
	for _, p := range e.Unasked {
		if p.MayHave(kind) {
			n++
		}
	}
	return n
}

// describeUnasked says how many parts nobody looked at, "" if there are none.
func (e AllEffects) describeUnasked() string {
	if n := len(e.Unasked); n > 0 {
		return fmt.Sprintf("%s not looked at", phrase.Count(n, "part"))
	}
	return ""
}
