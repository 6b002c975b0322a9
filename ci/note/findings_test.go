package note_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/ci/note"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// lines finds a line for each pointer.
type lines struct{}

func (lines) Locate(report.Origin) report.Location { return report.Location{} }
func (lines) Concerns(report.Origin, string) bool  { return false }
func (lines) Find(file, pointer string) report.Location {
	return report.Location{Path: "data" + file, Line: 10 + len(pointer)}
}
func forgotten(message string, old bool) plan.Finding {
	return at(plan.SeverityWarning, "FORGOTTEN", message, old)
}
func at(s plan.Severity, code, message string, old bool) plan.Finding {
	return plan.Finding{Severity: s, Code: plan.FindingCode(code), Place: plan.Place{File: "/services/app/prod.yml",
		Pointer: "/name"}, Message: message, Old: old}
}

const removal = "app/prod: this change removes its entry, and then nobody deletes it: say delete: true first"

// The author of a change sees the findings of tasks, also of those that passed, and only those
// that the change caused.
func TestFindings(t *testing.T) {
	p := newPlan(t, 3)
	rs := newResultsWith(p, nil)
	rs.Results[0].Findings = []plan.Finding{forgotten(removal, false),
		at(plan.SeverityError, "DUPLICATE", "an old mistake", true)}
	rs.Results[1].Findings = []plan.Finding{at(plan.SeverityNote, "FINISHED", "the entry can be removed", true)}
	red := rs.Results[2]
	red.Status, red.Class, red.ExitCode, red.Reason = plan.Failed, plan.ClassConfig, -1,
		"DUPLICATE: /services/app/prod.yml#/name: two entries have the key app/prod"
	red.Findings = []plan.Finding{at(plan.SeverityError, "DUPLICATE", "two entries have the key app/prod", false),
		forgotten("another", false)}
	red.FindingsBeyond = 3
	failing := *rs
	failing.Results = append(append([]plan.Result{}, rs.Results[:2]...), red)
	for name, c := range map[string]struct {
		results *plan.Results
		locator report.Locator
	}{"mr-warning": {rs, lines{}}, "mr-mistake": {&failing, lines{}}, "mr-unlocated": {rs, nil}} {
		t.Run(name, func(t *testing.T) {
			got := writeBody(t, note.Note{Tool: "prcheck", Serial: 2, Commit: head, Links: links(), Plan: p, Results: c.results,
				Locator: c.locator}, "")
			if strings.Contains(got, "an old mistake") || strings.Contains(got, "can be removed") {
				t.Errorf("it shows what base has as well:\n%s", got)
			}
			if before, _, _ := strings.Cut(got, "<details>"); !strings.Contains(before, "then nobody deletes it") {
				t.Errorf("it does not show the warning, or folds it:\n%s", got)
			}
			compareGolden(t, name, got)
		})
	}
}

// However many findings there are, the note stays within its limit, and says how many are
// missing.
func TestManyFindings(t *testing.T) {
	p := newPlan(t, 80)
	rs := newResultsWith(p, func(i int) plan.Result {
		if i%2 == 0 {
			return failed(plan.ClassConfig, -1, "")
		}
		return plan.Result{}
	})
	for i := range rs.Results {
		for n := range plan.MaxFindings {
			rs.Results[i].Findings = append(rs.Results[i].Findings, forgotten(fmt.Sprintf("%03d of task %d: %s", n, i, removal),
				false))
		}
	}
	n := note.Note{Tool: "prcheck", Serial: 2, Commit: head, Links: links(), Plan: p, Results: rs}
	for _, limit := range []int{0, 50_000, 5_000, 1_000} {
		n.Limit = limit
		got := writeBody(t, n, "")
		if shown := strings.Count(got, "nobody deletes it"); !strings.Contains(got, "; 8000 warnings") ||
			shown < 100 != (limit > 0 && limit < 50_000) || shown > 400 {
			t.Errorf("%d: %d findings are shown, or nothing says how many there are:\n%s", limit, shown, got)
		}
		if size := len(got); limit == 0 && size > 200_000 {
			t.Errorf("the note has %d bytes", size)
		}
	}
}
