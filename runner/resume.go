package runner

import (
	"fmt"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/journal"
	"github.com/app-sre/prcheck/wrapper"
)

// openJournal begins the journal of this run, if the options ask for one. With Resume
// the results that the journal holds are final and their tasks do not run again.
//
// An integration with "trace: static" is an exception: its tasks run again, since
// only their queries show whether it keeps the promise to ask always the same.
func (r *run) openJournal() (err error) {
	if r.opts.Journal == nil {
		return nil
	}
	r.journal, r.resumed, err = journal.Begin(r.opts.Journal, r.Plan, r.opts.Resume)
	if err != nil || !r.opts.Resume {
		return err
	}
	for _, t := range r.Plan.Tasks {
		if r.State != nil && r.Settings.For(t.Integration).Trace == integration.TraceStatic {
			delete(r.resumed, t.ID)
		}
	}
	_, err = fmt.Fprintf(r.opts.Notes, "runner: %d of %d tasks had finished before\n", len(r.resumed), len(r.Plan.Tasks))
	return err
}

// unfinished returns the plan with the tasks of which there is no result yet.
func (r *run) unfinished() *plan.Plan {
	if len(r.resumed) == 0 {
		return r.Plan // without a copy of its tasks, which may be many
	}
	left := *r.Plan
	left.Tasks = nil
	for _, t := range r.Plan.Tasks {
		if _, done := r.resumed[t.ID]; !done {
			left.Tasks = append(left.Tasks, t)
		}
	}
	return &left
}

// withResumed joins the results of this run, which are in the order of the tasks that
// were unfinished, with the results that were taken over. The outcome is in the order
// of the plan. When attempts of results that were taken over began is not known.
func (r *run) withResumed(results []plan.Result) []plan.Result {
	if len(r.resumed) == 0 {
		return results
	}
	all := make([]plan.Result, 0, len(r.Plan.Tasks))
	for _, t := range r.Plan.Tasks {
		result, done := r.resumed[t.ID]
		if done {
			result.Spans = nil
		} else {
			result, results = results[0], results[1:]
		}
		all = append(all, result)
	}
	return all
}

// rememberedAttempts returns, by task, how many attempts of a resumed run the state
// holds already.
func (r *run) rememberedAttempts() map[string]int {
	attempts := map[string]int{}
	for id := range r.resumed {
		attempts[id] = r.journal.RememberedAttempts()[id]
	}
	return attempts
}

// journaled returns an observer that writes each result to the journal before it
// calls observe. A failure because the log was lost is not written: the task may not
// be at fault, so a resumed run starts it again.
func (r *run) journaled(observe func(wrapper.Event)) func(wrapper.Event) {
	if r.journal == nil {
		return observe
	}
	return func(e wrapper.Event) {
		if e.Result != nil && !e.LogLost {
			r.journal.Add(*e.Result)
		}
		observe(e)
	}
}
