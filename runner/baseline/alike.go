package baseline

import (
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
)

// CompareUnaffected reports whether a task that a change should not concern says the same on
// head as on base. There is at least one run on base. It is stricter than [Compare]: the task
// may pass, and lines in which a dry run says what it would do count as well. What differs
// between two runs on base is noise here, too.
//
// All runs must have been started in the same way. A task that ends in a way from which nothing
// follows cannot be compared: it timed out on both sides, got a signal, or was not run.
func CompareUnaffected(t plan.Task, head Run, base ...Run) Comparison {
	h, b := ending(t, head.Result), ending(t, base[0].Result)
	isOther := func(r Run) bool { return ending(t, r.Result) != b }
	switch {
	case h == "" || b == "" || h == timedOut && b == timedOut:
		return Unclear("it says nothing: " + reasonOf(head.Result) + "; on base: " + reasonOf(base[0].Result))
	case slices.ContainsFunc(base, isOther):
		return Unclear("runs on base end in different ways")
	case h != b:
		return Comparison{Finding: sanitize.Line(h + "; on base: " + b)}
	}
	if isConfig(head.Result) {
		return Comparison{Same: true, Finding: "ends the same way on base"}
	}
	for _, r := range append(slices.Clone(base), head) {
		if r.LogErr != nil {
			return Unclear("a log cannot be compared: " + r.LogErr.Error())
		}
	}
	counts := alsoEffects
	if !head.Result.OK() && saysOnlyInfo(head) {
		counts = all
	}
	c := compareLogs(head, base, counts)
	if c.Same {
		c.Finding = "says the same on base"
	} else if what, ok := strings.CutPrefix(c.Finding, differs("").Finding); ok {
		c.Finding = "says something else on base: " + what
	}
	return c
}

// IsClear reports whether a comparison says that both sides are the same, or that they differ.
func (c Comparison) IsClear() bool { return c.Same || !c.hidden }

// Unclear returns the comparison for runs of which nothing can be said.
func Unclear(why string) Comparison { return Comparison{Finding: sanitize.Line(why), hidden: true} }

// timedOut is the ending of a task that took too long.
const timedOut = "it timed out"

// ending says in a few words how a task ended, "" if nothing follows from it.
func ending(t plan.Task, r plan.Result) string {
	switch {
	case r.OK():
		return "it passes"
	case r.Status == plan.TimedOut:
		return timedOut
	case t.Native && IsComparable(t, r): // its reason is a line that is compared
		return "it fails"
	case isConfig(r), IsComparable(t, r):
		return "it fails: " + r.Reason
	}
	return ""
}

// isConfig reports whether a task failed because its data or settings are wrong.
func isConfig(r plan.Result) bool { return r.Status == plan.Failed && r.Class == plan.ClassConfig }

// reasonOf returns how a task ended in its own words.
func reasonOf(r plan.Result) string {
	if r.Reason == "" {
		return string(r.Status)
	}
	return r.Reason
}
