package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/app-sre/prcheck/plan"
)

// An Explanation is what is known about the decision about one integration.
type Explanation struct {
	Version  string        `json:"version"`
	Decision plan.Decision `json:"decision"`
	Tasks    []plan.Task   `json:"tasks"`
	Flips    *plan.Flips   `json:"flips,omitempty"` // nil if they were not looked for
}

// ExplainJSON writes an [Explanation] as JSON. The errors are those of [ExplainText].
func ExplainJSON(w io.Writer, p *plan.Plan, name string, flips *plan.Flips) error {
	d, ok := p.Decision(name)
	if !ok {
		return fmt.Errorf("%w %q; %s", ErrUnknown, cleanLine(name), suggestNames(p, name))
	}
	out := Explanation{Version: plan.Version, Decision: d, Tasks: []plan.Task{}, Flips: flips}
	for _, id := range d.Tasks {
		if task, ok := p.Task(id); ok {
			out.Tasks = append(out.Tasks, task)
		}
	}
	return encodeJSON(w, out)
}

// maxFlipChanges bounds how many changes of one flip are written as text.
const maxFlipChanges = 10

// writeFlips writes which changes would have decided otherwise.
func (t *text) writeFlips(d plan.Decision, f plan.Flips) {
	verb := "be skipped"
	if d.Decision == plan.Skip {
		verb = "run"
	}
	t.printHeading("What would flip it")
	if len(f.Known) == 0 {
		t.printLine("  nothing known: %s", cleanLine(f.Why))
		return
	}
	for _, flip := range f.Known {
		t.printLine("  It would %s, decided at %s, %s:", verb, cleanLine(string(flip.Rung)), flipCondition(flip))
		for _, c := range flip.Changes[:min(len(flip.Changes), maxFlipChanges)] {
			t.printLine("    %s", describeFlipChange(flip.Kind, c))
		}
		if more := len(flip.Changes) - maxFlipChanges; more > 0 {
			t.printLine("    and %d more", more)
		}
		if !flip.Smallest {
			t.printLine("    (a part of this may be enough)")
		}
		if len(flip.Keys) > 0 {
			t.printLine("    affected shards: %s", cleanLine(strings.Join(flip.Keys, ", ")))
		}
	}
}

// flipCondition returns the words that lead to the changes of a flip.
func flipCondition(f plan.Flip) string {
	switch f.Kind {
	case plan.FlipTakeBack:
		return "if this part of the change were taken back"
	case plan.FlipRules:
		return "if base and head had this rule"
	}
	return "if head were also changed like this"
}

// describeFlipChange returns one change of a flip as a line.
func describeFlipChange(kind plan.FlipKind, c plan.FlipChange) string {
	place := c.Path
	if c.Part == plan.PartTypes {
		place = "all GraphQL types"
	}
	if c.Field != "" && c.Part == plan.PartSettings {
		place = c.Field + " in " + c.Path
	} else if c.Field != "" {
		place += "#" + c.Field
	}
	if kind == plan.FlipTakeBack && c.Schema != "" {
		place += " (schema " + c.Schema + ")"
	}
	switch {
	case c.Removed:
		place += " taken out"
	case len(c.Without) > 0:
		place += fmt.Sprintf(" without %s (right only if it reads no file of %s)", strings.Join(c.Without, ", "),
			pronoun(len(c.Without)))
	case c.To != "":
		place += " = " + c.To
	}
	return cleanLine(place)
}

// pronoun returns the word for one schema or several ones.
func pronoun(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}
