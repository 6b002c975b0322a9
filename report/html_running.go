package report

import (
	"bytes"
	"fmt"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
)

// A Running is what a page says of a run that has not ended.
type Running struct {
	All, Ended, Failed int           // tasks
	Now                []RunningTask // that run
	// Live says that a server tells the page what happens next. Otherwise the page is a copy that was written while
	// tasks ran.
	Live  bool
	After uint64 // the last event that a live page knows
}

// A RunningTask is a task that runs.
type RunningTask struct {
	Name    string
	Number  int // of the task in the plan
	Seconds int // since it started
}

// Headline says how far the run is.
func (r Running) Headline() string {
	text := fmt.Sprintf("%d of %s ended", r.Ended, phrase.Count(r.All, "task"))
	if r.Ended == r.All {
		text += ", failures are compared with base"
	}
	if r.Failed > 0 {
		text += fmt.Sprintf(", %d failed so far", r.Failed)
	}
	return text
}

// verdict says in a word what is known of the run.
func (r Running) verdict() string {
	if r.Live {
		return "Running"
	}
	return "Not finished"
}

// show changes a page to that of a run that has not ended: what is shown is what ended so far.
func (r Running) show(v *pageView) {
	copied := Running{All: r.All, Ended: r.Ended, Failed: r.Failed, Live: r.Live, After: r.After}
	for _, t := range r.Now {
		copied.Now = append(copied.Now, RunningTask{visibleText(t.Name), t.Number, t.Seconds})
	}
	v.Running, v.Passed, v.Verdict, v.Headline = &copied, false, r.verdict(), r.Headline()
	v.Title = "prcheck: " + r.Headline()
	if r.Live {
		v.Connect = liveConnect
	}
	if v.Effects == nil {
		v.Effects = &effectsView{}
	}
	v.Effects.Live = r.Live
}

// Partial returns a plan with those of its tasks that have a result, for a page that is shown while tasks run.
func Partial(p *plan.Plan, results *plan.Results) *plan.Plan {
	ended := map[string]bool{}
	for _, r := range results.Results {
		ended[r.Task] = true
	}
	out := *p
	out.Tasks, out.Integrations = nil, nil
	for _, t := range p.Tasks {
		if ended[t.ID] {
			out.Tasks = append(out.Tasks, t)
		}
	}
	for _, d := range p.Integrations {
		all := d.Tasks
		d.Tasks = nil
		for _, id := range all {
			if ended[id] {
				d.Tasks = append(d.Tasks, id)
			}
		}
		out.Integrations = append(out.Integrations, d)
	}
	return &out
}

// EffectRows returns the rows of a page with the effects of its report, each as HTML. The ids of the effects count on
// after those that a page has already.
func EffectRows(page Page, after int) (rows []string, effects int, err error) {
	links := newFileIndex(page)
	links.effectsBefore = after
	v := links.newEffectsView(page.Report)
	if v == nil {
		return nil, 0, nil
	}
	for _, part := range v.Parts {
		for _, row := range part.Rows {
			row.Group, row.Folded, row.Alike = 0, false, ""
			var out bytes.Buffer
			if err := pageTemplate().ExecuteTemplate(&out, "effect-row", row); err != nil {
				return nil, 0, err
			}
			rows = append(rows, out.String())
		}
	}
	return rows, v.Count, nil
}
