package report

import (
	"fmt"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
)

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
