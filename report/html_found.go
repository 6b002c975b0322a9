package report

import (
	"cmp"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
)

// A findingList holds the findings of one task as the page shows them.
type findingList struct {
	Rows []findingRow
	Rest []string // what the rows do not show
}

// A findingRow is one finding.
type findingRow struct{ Severity, Class, Code, Where, Message string }

// newFindingList returns the findings of a task.
func newFindingList(t TaskResult) findingList {
	shown, rest := t.ShownFindings(maxShownFindings)
	out := findingList{Rest: rest}
	for _, f := range shown {
		out.Rows = append(out.Rows, findingRow{
			Severity: cleanLine(string(f.Severity)), Class: severityClass(f.Severity), Code: cleanLine(string(f.Code)),
			Where: cleanLine(f.Where()), Message: cleanLine(f.Message),
		})
	}
	return out
}

// severityClass returns the CSS class of a finding: the class of an outcome or change that is
// as bad.
func severityClass(s plan.Severity) string {
	switch s {
	case plan.SeverityError:
		return "failed"
	case plan.SeverityWarning:
		return "modified"
	case plan.SeverityNote:
	}
	return "other"
}

// A remarkedView holds the findings of tasks that passed.
type remarkedView struct {
	Note, More string
	Count      int
	Tasks      []remarkedTask
}

// A remarkedTask is one task that passed, with its findings.
type remarkedTask struct {
	Task     value
	Findings findingList
}

// newRemarkedView returns the findings of tasks that passed, or nil if there are none.
func newRemarkedView(r Remarked) *remarkedView {
	if len(r.Tasks)+r.Old == 0 {
		return nil
	}
	v := &remarkedView{Note: startSentence(cmp.Or(r.Summary, r.OldNote())), Count: len(r.Tasks)}
	if note := r.OldNote(); note != "" && r.Summary != "" {
		v.Note += "; " + note
	}
	for _, t := range r.Tasks[:min(len(r.Tasks), maxRemarked)] {
		v.Tasks = append(v.Tasks, remarkedTask{value{Text: visibleText(t.Task), Href: "#" + anchor(t.Integration)},
			newFindingList(t)})
	}
	if more := len(r.Tasks) - len(v.Tasks); more > 0 {
		v.More = "and " + phrase.Count(more, "more task")
	}
	return v
}
