package plan_test

import (
	"math"
	"testing"

	"github.com/app-sre/prcheck/plan"
)

// The bound is that of Clopper and Pearson: values of published tables, and the closed form for
// no wrong skip, 1 - 0.05^(1/n).
func TestUpperBound(t *testing.T) {
	for _, c := range []struct {
		wrong, of int
		want      float64
	}{
		{0, 0, 1}, {0, 1, 0.95}, {1, 1, 1}, {5, 5, 1}, {1, 10, 0.3942}, {2, 10, 0.5069}, {5, 10, 0.7776}, {9, 10, 0.9949},
		{1, 100, 0.0466},
		{0, 10, 1 - math.Pow(0.05, 1.0/10)}, {0, 812, 1 - math.Pow(0.05, 1.0/812)}, {0, 1e6, 1 - math.Pow(0.05, 1e-6)},
		{3000, 1e6, 0.003091},
	} {
		got := plan.AuditCount{Right: c.of - c.wrong, Wrong: c.wrong}.UpperBound()
		if math.Abs(got-c.want) > 1e-4*math.Min(1, 10*c.want) {
			t.Errorf("%d of %d: got %v, want %v", c.wrong, c.of, got, c.want)
		}
	}
}

func TestAuditCountText(t *testing.T) {
	for _, c := range []struct {
		count plan.AuditCount
		want  string
	}{
		{plan.AuditCount{}, "0 wrong of 0 audited skips"},
		{plan.AuditCount{Right: 1}, "0 wrong of 1 audited skip: less than 95 %"},
		{plan.AuditCount{Wrong: 1}, "1 wrong of 1 audited skip: less than 100 %"},
		{plan.AuditCount{Right: 812}, "0 wrong of 812 audited skips: less than 0.37 %"},
		{plan.AuditCount{Right: 810, Wrong: 2, Unclear: 3},
			"2 wrong of 812 audited skips: less than 0.78 %; 3 more could not be compared"},
		{plan.AuditCount{Right: 1e6}, "0 wrong of 1000000 audited skips: less than 0.0003 %"},
	} {
		if got := c.count.String(); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.count, got, c.want)
		}
	}
}

// The parts of a plan audit other units each. The last total counts.
func TestMergeAudits(t *testing.T) {
	p := &plan.Plan{Digest: "x"}
	part := func(n int, of int, a *plan.Audit) *plan.Results {
		return &plan.Results{Plan: "x", Part: plan.Fraction{Part: n, Of: of}, Audit: a}
	}
	unit := func(task string, o plan.AuditOutcome) plan.Audited {
		return plan.Audited{Task: task, Rung: plan.RungState, Outcome: o}
	}
	total := func(n int) map[plan.Rung]plan.AuditCount {
		return map[plan.Rung]plan.AuditCount{plan.RungState: {Right: n}}
	}
	got, err := plan.MergeResults(p,
		part(1, 3,
			&plan.Audit{Rate: 0.5, Skipped: 3, Units: []plan.Audited{unit("a", plan.AuditRight), unit("l", plan.AuditLeft)},
				Total: total(7)}),
		part(2, 3, nil),
		part(3, 3,
			&plan.Audit{Rate: 0.5, Skipped: 2, Units: []plan.Audited{unit("b", plan.AuditWrong), unit("u", plan.AuditUnclear)},
				Total: total(6)}))
	if err != nil {
		t.Fatal(err)
	}
	a := got.Audit
	if a == nil || a.Rate != 0.5 || a.Skipped != 5 || len(a.Units) != 4 || plan.Sum(a.Total).Right != 7 {
		t.Fatalf("got %+v", a)
	}
	if n := plan.Sum(a.Count()); n != (plan.AuditCount{Right: 1, Wrong: 1, Unclear: 1}) {
		t.Errorf("got %+v", n)
	}
	if none, err := plan.MergeResults(p, part(1, 1, nil)); err != nil || none.Audit != nil {
		t.Errorf("got %+v, %v", none.Audit, err)
	}
}
