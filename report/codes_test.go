package report_test

import (
	"maps"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// TestCodes checks that a report counts decisions by the code of their reason.
// Decisions of an earlier prcheck have no code.
func TestCodes(t *testing.T) {
	p := change(t)
	p.Integrations[0].Code, p.Integrations[4].Code = plan.CodeNoAllowedFile, plan.CodeNoAllowedFile
	p.Integrations[1].Code = plan.CodeSameState
	seal(t, p)
	rep := report.New(p, nil)
	want := map[plan.Rung]map[plan.Code]int{
		plan.RungSchema: {plan.CodeNoAllowedFile: 2},
		plan.RungState:  {plan.CodeSameState: 1},
	}
	for _, r := range rep.Rungs {
		if !maps.Equal(r.Codes, want[r.Rung]) {
			t.Errorf("%s: got %v, want %v", r.Rung, r.Codes, want[r.Rung])
		}
	}
	if got := rep.Integrations[1].Code; got != plan.CodeSameState {
		t.Errorf("got the code %q", got)
	}
}
