package peer

import (
	"fmt"
	"maps"
	"slices"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner/proof"
	"github.com/app-sre/prcheck/trace"
)

// maxShown is how many differences are kept to be shown, and how many reasons for silence.
const maxShown = 20

// Answers tell how a server answered. An answer is the same or different; a question without an
// answer counts as not asked.
type Answers struct {
	Server      string       `json:"address"`
	Asked       int          `json:"asked"`
	Same        int          `json:"same"`
	Different   int          `json:"different"`
	NotAsked    int          `json:"not_asked"`
	Differences []Difference `json:"differences,omitempty"` // the first ones
	Silences    []Silence    `json:"silences,omitempty"`

	refuted    map[string]Difference // the first one of each integration
	unanswered map[string]bool       // integrations
}

// A Silence is a reason for which questions were not answered.
type Silence struct {
	Side      trace.Side `json:"side"`
	Why       string     `json:"why"`
	Questions int        `json:"questions"`
}

// differ counts another answer.
func (a *Answers) differ(d Difference) {
	a.Asked++
	a.Different++
	if len(a.Differences) < maxShown {
		a.Differences = append(a.Differences, d)
	}
	if a.refuted == nil {
		a.refuted = map[string]Difference{}
	}
	for _, name := range d.Integrations {
		if _, known := a.refuted[name]; !known {
			a.refuted[name] = d
		}
	}
}

// silent counts a question without an answer.
func (a *Answers) silent(q proof.Question, of trace.Side, why string) {
	a.NotAsked++
	if a.unanswered == nil {
		a.unanswered = map[string]bool{}
	}
	for _, name := range q.Integrations {
		a.unanswered[name] = true
	}
	if len(a.Silences) >= maxShown {
		why = "for other reasons"
	}
	for i := range a.Silences {
		if s := &a.Silences[i]; s.Side == of && s.Why == why {
			s.Questions++
			return
		}
	}
	a.Silences = append(a.Silences, Silence{of, why, 1})
}

// merge adds up what both sides of a server answered.
func merge(server string, base, head *Answers) *Answers {
	out := &Answers{
		Server: server, Asked: base.Asked + head.Asked, Same: base.Same + head.Same,
		Different: base.Different + head.Different, NotAsked: base.NotAsked + head.NotAsked,
		Differences: slices.Concat(base.Differences, head.Differences), Silences: slices.Concat(base.Silences, head.Silences),
		refuted: map[string]Difference{}, unanswered: map[string]bool{},
	}
	out.Differences = out.Differences[:min(len(out.Differences), maxShown)]
	for _, side := range []*Answers{head, base} { // the first difference is that of base
		maps.Copy(out.refuted, side.refuted)
		maps.Copy(out.unanswered, side.unanswered)
	}
	return out
}

// Numbers returns how many answers there were, in words.
func (a *Answers) Numbers() string {
	return fmt.Sprintf("%d asked, %d same, %d different, %d not asked", a.Asked, a.Same, a.Different, a.NotAsked)
}

// Confirm reports whether the server answered all questions, and as we do.
func (a *Answers) Confirm() bool { return a.Different+a.NotAsked == 0 }

// Judge returns the report of a proof as the answers leave it. What rests on another answer is
// refuted. What rests on a question that was not answered is believed.
func (a *Answers) Judge(r proof.Report) proof.Report {
	isRefuted := func(name string) bool { _, ok := a.refuted[name]; return ok }
	for _, name := range slices.Sorted(maps.Keys(a.refuted)) {
		r.Refuted = append(slices.Clip(r.Refuted), proof.Gap{Integration: name, Why: a.refuted[name].Sentence()})
	}
	proven, believed, assumed := r.Proven, slices.Clone(r.Believed), map[plan.Assumption][]string{}
	r.Proven = nil
	for of, names := range r.Assumed {
		assumed[of] = slices.DeleteFunc(slices.Clone(names), isRefuted)
	}
	for _, name := range proven {
		if a.unanswered[name] {
			believed = append(believed, name)
		} else if !isRefuted(name) {
			r.Proven = append(r.Proven, name)
		}
	}
	r.Believed = slices.DeleteFunc(believed, isRefuted)
	slices.Sort(r.Believed)
	for _, name := range r.Believed {
		if a.unanswered[name] {
			assumed[plan.AssumedAnswers] = append(assumed[plan.AssumedAnswers], name)
		}
	}
	r.Assumed = assumed
	return r
}
