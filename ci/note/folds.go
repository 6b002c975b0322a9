package note

import (
	"fmt"

	md "github.com/app-sre/prcheck/internal/markdown"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// newTasksFold returns a table of all tasks with their results.
func (n Note) newTasksFold(rep *report.Report) fold {
	f := fold{head: []string{"task", "result", "time", "last line", "checked because", "log"}}
	if len(rep.Results) == 0 {
		return f
	}
	ends := map[plan.Status]int{}
	for _, t := range rep.Results {
		ends[t.Status]++
		sign, took := "❌", ""
		switch {
		case t.OK():
			sign = "✅"
		case t.OnBase(), classify(t.Result) == kindUnchecked:
			sign = "⚠️"
		}
		if t.Attempts > 0 {
			took = formatSeconds(t.Seconds)
		}
		d, _ := n.Plan.Decision(t.Integration)
		f.rows = append(f.rows, tableRow(showName(t.Task), sign+" "+md.Escape(describeResult(t)), took,
			md.Escape(lastLine(t.Tail)), md.Escape(d.Reason), n.logLink(t)))
	}
	f.summary = phrase.Count(len(rep.Results), "task") + " planned: " +
		joinNonEmpty(", ", countUnlessZero(ends[plan.Passed], "passed"), countUnlessZero(ends[plan.Failed], "failed"),
			countUnlessZero(ends[plan.TimedOut], "timed out"), countUnlessZero(ends[plan.Canceled], "canceled"),
			countUnlessZero(ends[plan.NotRun], "not run"))
	return f
}

// newSkippedFolds returns for each rung a table of the integrations that it skipped.
func newSkippedFolds(rep *report.Report) []fold {
	var out []fold
	for _, rung := range plan.Rungs() {
		f := fold{head: []string{"integration", "why"}}
		for _, i := range rep.Integrations {
			if i.Decision == plan.Skip && i.Rung == rung {
				f.rows = append(f.rows, tableRow(showName(i.Name), md.Escape(i.Reason)))
			}
		}
		if len(f.rows) > 0 {
			f.summary = fmt.Sprintf("%d skipped: %s (%s)", len(f.rows), rung.Skipped(), rung)
			out = append(out, f)
		}
	}
	return out
}

// newTrainFold returns a table of the results that do not hold in a merge train.
func newTrainFold(t *plan.Train) fold {
	f := fold{head: []string{"task", "why it does not hold"}}
	if t == nil || t.Hold == t.Results {
		return f
	}
	for _, m := range t.Moved {
		f.rows = append(f.rows, tableRow(showName(m.Name()), md.Escape(m.Reason)))
	}
	f.summary = fmt.Sprintf("results of the merge request's pipeline that do not hold in this train: %d", t.Results-t.Hold)
	if more := t.More(); more > 0 {
		f.summary += fmt.Sprintf(", %d of them not listed", more)
	}
	return f
}

// newSinceFold returns a table of the integrations that are checked now and were
// not checked in the run before, and the reverse.
func newSinceFold(p *plan.Plan, before *run) fold {
	checkedBefore, known := before.checkedHashes()
	if !known {
		return fold{}
	}
	f := fold{head: []string{"integration", "since then"}}
	more, fewer, gone := 0, 0, len(checkedBefore)
	for _, d := range p.Integrations {
		is, was := d.Decision != plan.Skip, checkedBefore[hashName(d.Name)]
		if was {
			gone--
		}
		switch {
		case is && !was:
			more++
			f.rows = append(f.rows, tableRow(showName(d.Name), "checked now: "+md.Escape(d.Reason)))
		case was && !is:
			fewer++
			f.rows = append(f.rows, tableRow(showName(d.Name), "not checked any more: "+md.Escape(d.Reason)))
		}
	}
	changes := joinNonEmpty(", ", countUnlessZero(more, "newly checked"), countUnlessZero(fewer, "not checked any more"),
		countUnlessZero(gone, "not there any more"))
	if changes == "" {
		changes = "the same integrations are checked"
	}
	if before.Tasks != len(p.Tasks) {
		changes += fmt.Sprintf("; %s, before %d", phrase.Count(len(p.Tasks), "task"), before.Tasks)
	}
	f.summary = fmt.Sprintf("Since %s, which %s: %s", before.htmlName(), before.endVerb(), changes)
	return f
}
