package runner

import (
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/baseline"
	"github.com/app-sre/prcheck/runner/effects"
)

// hasPassed reports whether nothing more than a run that passed is asked of a unit, and all its
// runs on head so far have.
func (t *trial) hasPassed() bool {
	hasFailed := func(r baseline.Run) bool { return !r.Result.OK() }
	return t.unit.Passed && len(t.head) > 0 && !slices.ContainsFunc(t.head, hasFailed)
}

// differs reports whether the first runs of both sides say something else, as far as one pair
// tells.
func (t *trial) differs() bool {
	c := t.compare(0)
	return c.IsClear() && !c.Same
}

// mayBeNoise reports whether another run on base may show that the sides say the same.
func (t *trial) mayBeNoise() bool {
	for i := range t.head {
		if t.compare(i).Unclear {
			return true
		}
	}
	return false
}

// judge returns the outcome of a unit that ran, and what was found. A skip is wrong if both
// runs on head differ from all runs on base in the same clear way.
func (t *trial) judge() (plan.AuditOutcome, string) {
	if t.hasPassed() {
		return plan.AuditRight, ""
	}
	first := t.compare(0)
	same := first.Same
	for i := range t.head {
		c := t.compare(i)
		switch {
		case !c.IsClear():
			return plan.AuditUnclear, c.Finding
		case c.Same != same:
			return plan.AuditUnclear, "it differs from base in one of two runs: " + first.Finding
		}
	}
	switch {
	case same:
		return plan.AuditRight, ""
	case len(t.head) < 2: // nobody confirmed it
		return plan.AuditUnclear, first.Finding
	case first.Unclear:
		return plan.AuditUnclear, "it may be noise: " + first.Finding
	}
	if t.head[0].Result.OK() != t.head[1].Result.OK() {
		return plan.AuditUnclear, "two runs on head end in different ways"
	}
	return plan.AuditWrong, first.Finding
}

// compare compares a run on head with all runs on base: what they say, what they announce and
// what they find.
func (t *trial) compare(i int) baseline.Comparison {
	if t.unit.Passed && t.head[i].Result.OK() {
		return baseline.Comparison{Same: true}
	}
	c := baseline.CompareUnaffected(t.task, t.head[i], t.base...)
	if !c.Same {
		return c
	}
	if t.unit.Passed {
		return baseline.Unclear("it no longer passes, on base neither: " + t.head[i].Result.Reason)
	}
	for _, b := range t.base[1:] {
		if otherReport(b.Result, t.base[0].Result) != "" { // then it says nothing that head has another one
			return c
		}
	}
	if other := otherReport(t.head[i].Result, t.base[0].Result); other != "" {
		return baseline.Comparison{Finding: other}
	}
	return c
}

// otherReport returns how the effects and findings of two runs differ, "" if they do not.
// Effects that are not known do not differ.
func otherReport(head, base plan.Result) string {
	if head.Effects != nil && base.Effects != nil {
		for _, e := range effects.Compare(head.Effects, base.Effects).Items {
			switch e.Since {
			case plan.SinceChange:
				return fmt.Sprintf("it would %s %q, and not on base", e.Kind, e.Subject)
			case plan.SinceGone:
				return fmt.Sprintf("on base it would %s %q", e.Kind, e.Subject)
			case plan.SinceBase:
			}
		}
	}
	onBase := map[plan.Finding]int{}
	for _, f := range base.Findings {
		onBase[identity(f)]++
	}
	for _, f := range head.Findings {
		if onBase[identity(f)]--; onBase[identity(f)] < 0 {
			return fmt.Sprintf("it finds %q, and not on base", f.Message)
		}
	}
	for _, f := range base.Findings {
		if onBase[identity(f)] > 0 {
			return fmt.Sprintf("on base it finds %q", f.Message)
		}
	}
	return ""
}
