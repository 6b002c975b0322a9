package note

import (
	"fmt"

	md "github.com/app-sre/prcheck/internal/markdown"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// ran lists every task with what it said.
func (n Note) ran(rep *report.Report) folded {
	f := folded{head: []string{"task", "result", "time", "last line", "checked because", "log"}}
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
		case t.OnBase(), kindOf(t.Result) == unchecked:
			sign = "⚠️"
		}
		if t.Attempts > 0 {
			took = seconds(t.Seconds)
		}
		d, _ := n.Plan.Decision(t.Integration)
		f.rows = append(f.rows, row(name(t.Task), sign+" "+md.Escape(said(t)), took, md.Escape(lastLine(t.Tail)), md.Escape(d.Reason), n.log(t)))
	}
	f.summary = number(len(rep.Results), "task") + " planned: " + phrases(", ", amount(ends[plan.Passed], "passed"), amount(ends[plan.Failed], "failed"),
		amount(ends[plan.TimedOut], "timed out"), amount(ends[plan.Canceled], "canceled"), amount(ends[plan.NotRun], "not run"))
	return f
}

// skipped lists the integrations that were skipped, by rung.
func skipped(rep *report.Report) []folded {
	var out []folded
	for _, rung := range plan.Rungs() {
		f := folded{head: []string{"integration", "why"}}
		for _, i := range rep.Integrations {
			if i.Decision == plan.Skip && i.Rung == rung {
				f.rows = append(f.rows, row(name(i.Name), md.Escape(i.Reason)))
			}
		}
		if len(f.rows) > 0 {
			f.summary = fmt.Sprintf("%d skipped: %s (%s)", len(f.rows), meaning(rung), rung)
			out = append(out, f)
		}
	}
	return out
}

// meaning returns why integrations are skipped at a rung.
func meaning(r plan.Rung) string {
	switch r {
	case plan.RungDefinition:
		return "there is nothing to check"
	case plan.RungSchema:
		return "they may read nothing that changed"
	case plan.RungFields:
		return "they ask for nothing that changed"
	case plan.RungState:
		return "they would see the same"
	case plan.RungResult:
		return "they passed with the same input before"
	}
	return "none of their shards is affected"
}

// since says what is checked now and was not in the run before, and the other
// way round.
func since(p *plan.Plan, before *run) folded {
	was, known := before.checked()
	if !known {
		return folded{}
	}
	f := folded{head: []string{"integration", "since then"}}
	more, fewer, gone := 0, 0, len(was)
	for _, d := range p.Integrations {
		is, was := d.Decision != plan.Skip, was[hash(d.Name)]
		if was {
			gone--
		}
		switch {
		case is && !was:
			more++
			f.rows = append(f.rows, row(name(d.Name), "checked now: "+md.Escape(d.Reason)))
		case was && !is:
			fewer++
			f.rows = append(f.rows, row(name(d.Name), "not checked any more: "+md.Escape(d.Reason)))
		}
	}
	changes := phrases(", ", amount(more, "newly checked"), amount(fewer, "not checked any more"), amount(gone, "not there any more"))
	if changes == "" {
		changes = "the same integrations are checked"
	}
	if before.Tasks != len(p.Tasks) {
		changes += fmt.Sprintf("; %s, before %d", number(len(p.Tasks), "task"), before.Tasks)
	}
	f.summary = fmt.Sprintf("Since %s, which %s: %s", before.plainly(), before.ended(), changes)
	return f
}

// ended returns how the run before ended, as a verb.
func (r *run) ended() string {
	if r.Verdict == report.NotChecked {
		return "was not checked"
	}
	return string(r.Verdict)
}

// plainly returns how the summary of a fold, which is HTML, speaks of the run
// before.
func (r *run) plainly() string {
	if r.Commit == "" {
		return r.called()
	}
	return "<code>" + r.Commit + "</code>"
}

// amount returns "3 passed", or nothing.
func amount(n int, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d %s", n, what)
}
