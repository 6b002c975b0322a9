package note

import (
	"fmt"

	md "github.com/app-sre/prcheck/internal/markdown"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

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
