package report

import (
	"fmt"
	"strings"
)

// A failureCard is one task that did not pass.
type failureCard struct {
	ID, Name, Result, Details, Tail, Class string
	Why                                    string // why it was checked
	Causes                                 []value
	Log                                    value
	Open                                   bool // the tail is shown from the start
	Integration                            value
	Others                                 []value // tasks that failed with the same cause
	MoreOthers                             int
	Findings                               findingList
}

// newFailureCards returns one card for all tasks that did not pass with the same cause, and
// the number of tasks that no card shows. The ids of the cards begin with name.
func (x *fileIndex) newFailureCards(name string, rep *Report, tasks []TaskResult) ([]failureCard, int) {
	groups := GroupFailures(tasks)
	more := 0
	for _, group := range groups[min(len(groups), maxFailures):] {
		more += len(group)
	}
	var out []failureCard
	for i, group := range groups[:min(len(groups), maxFailures)] {
		t, in := group[0], rep.integration(group[0])
		card := failureCard{
			ID: fmt.Sprintf("%s-%d", name, i+1), Name: visibleText(t.Task), Result: describeResult(t),
			Class:   cssClass(outcome(t)),
			Details: strings.Join(append(describeEffort(t), t.OtherRuns()...), ", "), Log: x.logValue(t),
			Tail:     cleanBlock(t.Tail),
			Findings: newFindingList(t), Open: i < maxOpen, Integration: value{Text: visibleText(t.Integration),
				Href: "#" + anchor(t.Integration)}, Why: cleanLine(in.Reason),
		}
		for _, cause := range in.Causes {
			card.Causes = append(card.Causes, x.causeValues(cause)...)
		}
		for _, other := range group[1:min(len(group), maxAlikeCards+1)] {
			card.Others = append(card.Others, value{Text: visibleText(other.Task), Href: "#" + anchor(other.Integration)})
		}
		card.MoreOthers = len(group) - 1 - len(card.Others)
		out = append(out, card)
	}
	return out, more
}

// causeValues returns a changed file and its fields, with links to them.
func (x *fileIndex) causeValues(c Cause) []value {
	if len(c.Fields) == 0 {
		return x.linkPaths([]string{c.Path})
	}
	var fields []string
	for _, field := range c.Fields {
		fields = append(fields, c.Path+"#"+field)
	}
	return x.linkFields(fields)
}

// logValue returns the log of a task, with a link if there is one.
func (x *fileIndex) logValue(t TaskResult) value {
	v := value{Text: cleanLine(t.Log), Code: true}
	if v.Text != "" && x.log != nil {
		v.Href = x.log(t.Task)
	}
	return v
}
