package report

import (
	"slices"
	"strings"

	"github.com/app-sre/prcheck/plan"
)

// failedTasks returns the tasks that fail the check, without those whose target
// was unavailable. The tasks that ran come first, since they explain the others.
func (rep *Report) failedTasks() []TaskResult {
	var ran, rest []TaskResult
	for _, t := range rep.Results {
		switch {
		case !t.Blocks(), outcome(t) == unavailable:
		case t.Status == plan.Failed || t.Status == plan.TimedOut:
			ran = append(ran, t)
		default:
			rest = append(rest, t)
		}
	}
	return append(ran, rest...)
}

// brokenTasks returns the tasks that fail on base in the same way.
func (rep *Report) brokenTasks() []TaskResult {
	return slices.DeleteFunc(slices.Clone(rep.Results), func(t TaskResult) bool { return !t.OnBase() })
}

// integration returns the integration of a task. It is empty if the plan has none.
func (rep *Report) integration(t TaskResult) Integration {
	i, found := slices.BinarySearchFunc(rep.Integrations, t.Integration, func(i Integration, name string) int {
		return strings.Compare(i.Name, name)
	})
	if !found {
		return Integration{}
	}
	return rep.Integrations[i]
}

// runningIntegrations returns the integrations that are not skipped.
func (rep *Report) runningIntegrations() []Integration {
	return slices.DeleteFunc(slices.Clone(rep.Integrations), func(i Integration) bool { return i.Decision == plan.Skip })
}

// skippedAt returns the integrations that a rung skipped.
func (rep *Report) skippedAt(rung plan.Rung) []Integration {
	return slices.DeleteFunc(slices.Clone(rep.Integrations), func(i Integration) bool {
		return i.Decision != plan.Skip || i.Rung != rung
	})
}
