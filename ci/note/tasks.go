package note

import (
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
