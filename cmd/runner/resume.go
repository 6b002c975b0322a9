package main

import (
	"fmt"
	"io"
	"os"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/journal"
	"github.com/app-sre/prcheck/wrapper"
)

// begin begins the journal of the run. With resume the results that it holds are
// final and their tasks do not run, but those of integrations that promised to
// ask always the same: only what they ask shows whether they keep the promise.
func (j *job) begin(file *os.File, resume bool, stderr io.Writer) (err error) {
	j.journal, j.finished, err = journal.Begin(file, j.plan, resume)
	if err != nil || !resume {
		return err
	}
	for _, t := range j.plan.Tasks {
		if j.state != nil && j.settings.For(t.Integration).Trace == integration.TraceStatic {
			delete(j.finished, t.ID)
		}
	}
	_, err = fmt.Fprintf(stderr, "runner: %d of %d tasks had finished before\n", len(j.finished), len(j.plan.Tasks))
	return err
}

// left is the plan with the tasks that did not finish before.
func (j job) left() *plan.Plan {
	if len(j.finished) == 0 {
		return j.plan // which may be large
	}
	left := *j.plan
	left.Tasks = nil
	for _, t := range j.plan.Tasks {
		if _, done := j.finished[t.ID]; !done {
			left.Tasks = append(left.Tasks, t)
		}
	}
	return &left
}

// whole puts the results of the tasks that were left among those of the others,
// in the order of the plan. When those ran is not known any more.
func (j job) whole(left []plan.Result) []plan.Result {
	if len(j.finished) == 0 {
		return left
	}
	all := make([]plan.Result, 0, len(j.plan.Tasks))
	for _, t := range j.plan.Tasks {
		r, done := j.finished[t.ID]
		if done {
			r.Spans = nil
		} else {
			r, left = left[0], left[1:]
		}
		all = append(all, r)
	}
	return all
}

// counted is how many attempts of the tasks that finished before are remembered.
func (j job) counted() map[string]int {
	attempts := map[string]int{}
	for id := range j.finished {
		attempts[id] = j.journal.Counted()[id]
	}
	return attempts
}

// observe notes what ended, and then shows it. A failure for want of a log is not
// the task's last word.
func (j job) observe(show func(wrapper.Event)) func(wrapper.Event) {
	if j.journal == nil {
		return show
	}
	return func(e wrapper.Event) {
		if e.Result != nil && !e.Lost {
			j.journal.Add(*e.Result)
		}
		show(e)
	}
}
