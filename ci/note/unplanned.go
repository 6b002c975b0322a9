package note

import (
	md "github.com/app-sre/prcheck/internal/markdown"
	"github.com/app-sre/prcheck/report"
)

// unplanned returns what there is to say without a plan, in place of a report.
func (n Note) unplanned() *view {
	v := &view{
		title: "### ❌ " + md.Escape(n.Tool) + ": could not be planned",
		actions: []string{
			"- **Nothing was checked**, so this does not pass: no plan could be made of the change.",
			"- **Look at the last words of planner** below. If they tell of passing trouble, run the pipeline again.",
		},
		ending: n.ending(),
	}
	if lines := tail(n.Unplanned, maxSaid); len(lines) > 0 {
		v.sections = []section{{title: "#### Last words of planner", tasks: 1, entries: []entry{{tail: lines}}}}
	}
	return v
}

// report returns the report of the note: without a plan an empty one that failed.
func (n Note) report() *report.Report {
	if n.Plan == nil {
		return &report.Report{Verdict: report.Failed}
	}
	return report.New(n.Plan, n.Results)
}
