package note

import (
	"fmt"

	md "github.com/app-sre/prcheck/internal/markdown"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// A taskKind says what the result of a task means for the author of the change.
type taskKind int

const (
	kindPassed     taskKind = iota
	kindFailure             // the author must look at it
	kindUnanswered          // it was canceled or did not run
	kindUnchecked           // it did not run because its target was unavailable
	kindBaseline            // it fails the same way without the change
)

// classify returns the kind of a result.
func classify(r plan.Result) taskKind {
	switch {
	case r.OK():
		return kindPassed
	case r.OnBase():
		return kindBaseline
	case r.Status == plan.NotRun && r.Unavailable != "":
		return kindUnchecked
	case r.Status == plan.Canceled || r.Status == plan.NotRun:
		return kindUnanswered
	}
	return kindFailure
}

// taskGroups are the tasks that did not pass, and those that are fixed. Each list
// is in the order of the plan.
type taskGroups struct {
	compared     bool // whether it is known which tasks failed in the run before
	newFailures  []report.TaskResult
	stillFailing []report.TaskResult
	unanswered   []report.TaskResult
	unchecked    []report.TaskResult
	baseline     []report.TaskResult
	fixed        []report.TaskResult
	vanished     int // tasks that failed before and are not in the plan any more
	transient    int // failures that may pass when tried again, new or not
	newTransient int // new failures that may pass when tried again
}

// groupTasks groups the tasks of a report by kind, and compares them with the run
// before.
func groupTasks(rep *report.Report, before *run) taskGroups {
	failedBefore, compared := before.failedHashes()
	g := taskGroups{compared: compared, vanished: len(failedBefore)}
	for _, t := range rep.Results {
		failed := failedBefore[hashName(t.Task)]
		if failed {
			g.vanished--
		}
		switch classify(t.Result) {
		case kindPassed:
			if failed {
				g.fixed = append(g.fixed, t)
			}
		case kindUnanswered:
			g.unanswered = append(g.unanswered, t)
		case kindUnchecked:
			g.unchecked = append(g.unchecked, t)
		case kindBaseline:
			g.baseline = append(g.baseline, t)
		case kindFailure:
			g.addFailure(t, failed)
		}
	}
	return g
}

// addFailure adds a failure. FailedBefore says whether the task failed in the run
// before, too.
func (g *taskGroups) addFailure(t report.TaskResult, failedBefore bool) {
	if failedBefore {
		g.stillFailing = append(g.stillFailing, t)
	} else {
		g.newFailures = append(g.newFailures, t)
	}
	if t.Class == plan.ClassTransient {
		g.transient++
		if !failedBefore {
			g.newTransient++
		}
	}
}

// listActions returns what the author must do, one line each, and what became
// better since the run before.
func (g taskGroups) listActions(rep *report.Report, before *run) []string {
	var out []string
	add := func(n int, format string, args ...any) {
		if n > 0 {
			out = append(out, "- "+fmt.Sprintf(format, args...))
		}
	}
	if effects := effectsAction(rep, before); effects != "" {
		out = append(out, effects)
	}
	if rep.Verdict == plan.VerdictNotChecked {
		add(1, "**Nothing was checked**, so this does not pass: %s.", md.Escape(rep.NotChecked))
	}
	lasting := len(g.newFailures) + len(g.stillFailing) - g.transient
	newLasting := len(g.newFailures) - g.newTransient
	comparison := "."
	if g.compared {
		comparison = fmt.Sprintf(": %s since %s.", joinNonEmpty(", ", countUnlessZero(newLasting, "new"),
			countUnlessZero(lasting-newLasting, "still failing")), before.markdownName())
	}
	add(lasting, "**Look at %s** below%s", phrase.Count(lasting, "failure"), comparison)
	if findings := rep.Remarked(); len(findings.Tasks) > 0 {
		add(1, "**Read the findings** of tasks that passed, below: %s.", findings.Summary)
	}
	add(g.transient, "**Try %s again**: the problem looks temporary.", phrase.Count(g.transient, "task"))
	add(len(g.unanswered), "**%s gave no answer**; the reasons are below.", phrase.Count(len(g.unanswered), "task"))
	add(len(g.unchecked), "**Not checked:** %s, since %s; try again when %s back.", phrase.Count(len(g.unchecked), "task"),
		singularOrPlural(countTargets(g.unchecked), "a target is unavailable", "targets are unavailable"),
		singularOrPlural(countTargets(g.unchecked), "it is", "they are"))
	add(len(g.baseline), "**Not your change:** %s failed on base already.", phrase.Count(len(g.baseline), "task"))
	if g.compared {
		add(len(g.fixed), "✅ %s fixed since %s.", phrase.Count(len(g.fixed), "failure"), before.markdownName())
		add(g.vanished, "%s of %s not planned any more.", phrase.Count(g.vanished, "failure"), before.markdownName())
	}
	add(len(rep.Warnings), "⚠️ %s below.", phrase.Count(len(rep.Warnings), "warning"))
	return out
}

// countTargets counts the unavailable targets of some tasks.
func countTargets(tasks []report.TaskResult) int {
	names := map[string]bool{}
	for _, t := range tasks {
		names[t.Unavailable] = true
	}
	return len(names)
}
