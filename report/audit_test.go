package report_test

import (
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

func TestAuditSummary(t *testing.T) {
	unit := func(o plan.AuditOutcome) plan.Audited {
		return plan.Audited{Task: "a", Rung: plan.RungState, Outcome: o}
	}
	year := map[plan.Rung]plan.AuditCount{plan.RungState: {Right: 811, Wrong: 1}}
	for _, c := range []struct {
		audit plan.Audit
		want  string
	}{
		{plan.Audit{}, "the plan leaves out nothing that can run on both sides"},
		{plan.Audit{Total: year},
			"the plan leaves out nothing that can run on both sides; in the last year 1 wrong of 812 audited skips: less than 0.59 %"},
		{plan.Audit{Skipped: 3}, "none of the 3 units that the plan leaves out came into the sample"},
		{plan.Audit{Skipped: 1, Units: []plan.Audited{unit(plan.AuditRight)}},
			"1 of 1 unit that the plan leaves out was audited; 0 wrong of 1 audited skip: less than 95 %"},
		{plan.Audit{Skipped: 9, Units: []plan.Audited{unit(plan.AuditRight), unit(plan.AuditWrong), unit(plan.AuditUnclear),
			unit(plan.AuditLeft)}, Total: year},
			"3 of 9 units that the plan leaves out were audited, and 1 skip is wrong; for 1 more the time was up; in the last year 1 wrong of 812 audited skips: less than 0.59 %"},
		{plan.Audit{Skipped: 9, Units: []plan.Audited{unit(plan.AuditLeft)}},
			"0 of 9 units that the plan leaves out were audited; for 1 more the time was up"},
	} {
		if got := report.AuditSummary(&c.audit); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// A report shows each wrong skip, also if there are many, and texts of tasks are harmless in it.
func TestAuditLines(t *testing.T) {
	a := plan.Audit{Skipped: 500}
	for range 60 {
		a.Units = append(a.Units, plan.Audited{Task: "x<b>\n|`", Rung: plan.RungSchema, Outcome: plan.AuditWrong,
			Finding: strings.Repeat("<script>\x1b[2J", 50), Remedy: "z"},
			plan.Audited{Task: "u", Rung: plan.RungSchema, Outcome: plan.AuditUnclear, Finding: "why"})
	}
	lines := report.AuditLines(&a)
	if len(lines) != 60+20+1 || !strings.HasPrefix(lines[59], "wrong skip: ") || lines[80] != "and 40 more" {
		t.Errorf("got %d lines, the last: %s", len(lines), lines[len(lines)-1])
	}
	rep := &report.Report{Audit: &a}
	var text, md strings.Builder
	if err := report.Text(&text, rep, report.Style{}); err != nil {
		t.Fatal(err)
	}
	if err := report.Markdown(&md, rep); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), "\x1b") || strings.Contains(md.String(), "<script>") ||
		strings.Count(text.String(), "wrong skip: ") != 60 {
		t.Errorf("got\n%.500s\n%.500s", &text, &md)
	}
}
