package report

import (
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
)

// headline returns the verdict and the effects in one line.
func headline(rep *Report) string {
	return outcomeHeadline(rep) + effectsHeadline(rep, plainly)
}

// effectsHeadline returns the part of a headline that counts the effects. Deletions go
// through emphasize. It is "" if nobody looked for effects.
func effectsHeadline(rep *Report, emphasize func(string) string) string {
	if text := rep.Effects.SummaryWith(emphasize); text != "" {
		return "; " + text
	}
	return ""
}

// outcomeHeadline returns the verdict in one sentence.
func outcomeHeadline(rep *Report) string {
	c := rep.Counts
	broken := ""
	if c.Baseline > 0 {
		broken = fmt.Sprintf(", %d already broken on base", c.Baseline)
	}
	switch blocking := c.blocking(); {
	case rep.Verdict == plan.VerdictNotChecked:
		return cleanLine(rep.NotChecked)
	case blocking > 0:
		return fmt.Sprintf("%d of %s did not pass (%s)%s", blocking, phrase.Count(c.Tasks, "task"), failureBreakdown(c),
			broken)
	case rep.Verdict == plan.VerdictFailed:
		return "the results do not fit the plan, see the warnings"
	case c.Tasks == 0:
		return "nothing to run"
	case c.Baseline > 0 && c.Passed == 0 && c.Reused > 0:
		return fmt.Sprintf("%d of %s passed%s; %s passed before with the same inputs", c.Passed,
			phrase.Count(c.Tasks, "task"), broken, phrase.Count(c.Reused, "task"))
	case c.Baseline > 0 && c.Passed == 0:
		return fmt.Sprintf("%d of %s passed%s: not checked", c.Passed, phrase.Count(c.Tasks, "task"), broken)
	case c.Baseline > 0:
		return fmt.Sprintf("%d of %s passed%s", c.Passed, phrase.Count(c.Tasks, "task"), broken)
	}
	return phrase.Count(c.Tasks, "task") + " passed"
}

// verdictLabel returns a verdict as words: "not checked" for not_checked.
func verdictLabel(v plan.Verdict) string { return strings.ReplaceAll(string(v), "_", " ") }

// blocking returns the number of tasks that make the check fail.
func (c Counts) blocking() int { return c.Tasks - c.Passed - c.Baseline }

// failureBreakdown returns how many tasks failed, timed out and so on, such as
// "2 failed, 1 not run".
func failureBreakdown(c Counts) string {
	var parts []string
	for _, end := range []struct {
		n    int
		word string
	}{{c.Failed, "failed"}, {c.TimedOut, "timed out"}, {c.Canceled, "canceled"}, {c.NotRun - c.Unavailable, "not run"},
		{c.Unavailable, "not run since the target is unavailable"}} {
		if end.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", end.n, end.word))
		}
	}
	return strings.Join(parts, ", ")
}

// planHeadline returns in one sentence how many tasks a plan has to run.
func planHeadline(p *plan.Plan) string {
	blocked := 0
	for _, t := range p.Tasks {
		if t.Blocked != "" {
			blocked++
		}
	}
	switch {
	case len(p.Tasks) == 0:
		return "nothing to run"
	case blocked > 0:
		return fmt.Sprintf("%s to run, %d of them cannot be started", phrase.Count(len(p.Tasks), "task"), blocked)
	}
	return phrase.Count(len(p.Tasks), "task") + " to run"
}

// selectionSummary returns how many integrations are checked and how many are
// skipped.
func selectionSummary(c Counts) string {
	text := fmt.Sprintf("%d of %s to check", c.Run+c.Shards, phrase.Count(c.Integrations, "integration"))
	if c.Shards > 0 {
		text += fmt.Sprintf(" (%d on some shards only)", c.Shards)
	}
	text = fmt.Sprintf("%s, %d skipped", text, c.Skip)
	if c.Believed > 0 {
		text += fmt.Sprintf(" (%d only believed)", c.Believed)
	}
	if c.Reused > 0 {
		text += fmt.Sprintf("; %s passed before with the same inputs", phrase.Count(c.Reused, "task"))
	}
	return text
}

// changesSummary returns how many files, schemas and types changed.
func changesSummary(c plan.Changes) string {
	kinds := map[plan.Kind]int{}
	for _, d := range c.Datafiles {
		kinds[d.Kind]++
	}
	text := phrase.Count(len(c.Datafiles), "datafile")
	var parts []string
	for _, kind := range []plan.Kind{plan.Added, plan.Removed, plan.Modified, plan.Metadata} {
		if kinds[kind] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", kinds[kind], kind))
		}
	}
	if len(parts) > 0 {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	return fmt.Sprintf("%s, %s, %s, %s", text, phrase.Count(len(c.Resources), "resource"),
		phrase.Count(len(c.Schemas), "schema"), phrase.Count(len(c.GraphQL), "GraphQL type"))
}
