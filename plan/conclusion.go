package plan

import (
	"cmp"
	"slices"
	"strings"
)

// A Conclusion is the result of one or more rungs for one integration: an action,
// its reasons, and the evidence. The rungs return conclusions, and
// [Conclusion.Then] puts two of them together without changing them. A rung that
// decides nothing returns a conclusion without an action.
type Conclusion struct {
	Action   Action
	Rung     Rung     // the rung that decided
	Before   []Reason // at the rung result: why the rungs below did not skip the integration
	Reason   Reason   // the reason that decided
	Remarks  []Reason // further parts of the sentence
	Evidence Evidence
	Believed bool // the skip rests on the word of the definition alone
}

// Then returns the conclusion after another rung was asked as well. If next has
// an action, its action and reasons replace the earlier ones. Otherwise its
// remarks are added. The evidence of both is kept.
func (c Conclusion) Then(next Conclusion) Conclusion {
	evidence := c.Evidence.with(next.Evidence)
	if next.Action == "" {
		next.Action, next.Rung, next.Before, next.Reason, next.Believed = c.Action, c.Rung, c.Before, c.Reason, c.Believed
		next.Remarks = slices.Concat(c.Remarks, next.Remarks)
	}
	next.Evidence = evidence
	return next
}

// Reasons lists all reasons in the order in which the sentence tells them.
func (c Conclusion) Reasons() []Reason {
	return slices.Concat(c.Before, []Reason{c.Reason}, c.Remarks)
}

// Sentence returns all reasons as one sentence.
func (c Conclusion) Sentence() string {
	var parts []string
	for _, r := range c.Reasons() {
		parts = append(parts, r.String())
	}
	return strings.Join(parts, "; ")
}

// Decision writes the conclusion down as the decision about an integration.
func (c Conclusion) Decision(name string, tasks []Task) Decision {
	d := Decision{
		Name: name, Decision: c.Action, Rung: c.Rung, Code: c.Reason.Code, Reason: c.Sentence(),
		Evidence: c.Evidence, Believed: c.Believed, Tasks: []string{},
	}
	for _, t := range tasks {
		d.Tasks = append(d.Tasks, t.ID)
	}
	return d
}

// with returns the evidence of two rungs together.
func (e Evidence) with(more Evidence) Evidence {
	return Evidence{
		Definition: slices.Concat(e.Definition, more.Definition),
		Fields:     slices.Concat(e.Fields, more.Fields),
		Allowed:    cmp.Or(more.Allowed, e.Allowed),
		Schemas:    slices.Concat(e.Schemas, more.Schemas),
		Paths:      slices.Concat(e.Paths, more.Paths),
		Rule:       cmp.Or(more.Rule, e.Rule),
		Queries:    slices.Concat(e.Queries, more.Queries),
		Traces:     slices.Concat(e.Traces, more.Traces),
		State:      cmp.Or(more.State, e.State),
		Keys:       slices.Concat(e.Keys, more.Keys),
		Doubts:     slices.Concat(e.Doubts, more.Doubts),
		Reused:     cmp.Or(more.Reused, e.Reused),
		Passed:     slices.Concat(e.Passed, more.Passed),
		Edited:     slices.Concat(e.Edited, more.Edited),
	}
}
