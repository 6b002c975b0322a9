package runner

import (
	"fmt"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/journal"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/wrapper"
)

// openJournal begins the journal of this run, if the options name one. With Resume the
// run keeps the results that the journal holds, and their tasks do not run again.
//
// Tasks of an integration with "trace: static" are an exception and run again: only their
// queries show whether the integration keeps its promise.
func (r *run) openJournal() (err error) {
	if r.opts.Journal == nil {
		return nil
	}
	r.journal, r.resumed, err = journal.Begin(r.opts.Journal, r.Plan, r.opts.Resume)
	if err != nil || !r.opts.Resume {
		return err
	}
	for _, t := range r.Plan.Tasks {
		if r.State != nil && r.Settings.For(t.Integration).Trace == settings.TraceStatic {
			delete(r.resumed, t.ID)
		}
	}
	_, err = fmt.Fprintf(r.opts.Notes, "runner: %d of %d tasks had finished before\n", len(r.resumed), len(r.Plan.Tasks))
	return err
}

// unfinished returns the plan with only those tasks that have no result yet.
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

// withResumed merges the results of this run with the results that were kept from an
// earlier run. The results of this run are in the order of the unfinished tasks, the
// merged results are in the order of the plan. Kept results have no spans, because spans
// count from the start of this run.
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

// rememberedAttempts returns, by task, how many attempts of kept results the state
// remembers already.
func (r *run) rememberedAttempts() map[string]int {
	attempts := map[string]int{}
	for id := range r.resumed {
		attempts[id] = r.journal.RememberedAttempts()[id]
	}
	return attempts
}

// journaled returns an observer that writes each result to the journal and then calls
// observe. It does not write the result of a task whose log could not be kept or that
// could not be started: the task may not be at fault, so a resumed run starts it again.
func (r *run) journaled(observe func(wrapper.Event)) func(wrapper.Event) {
	if r.journal == nil {
		return observe
	}
	return func(e wrapper.Event) {
		if e.Result != nil && !e.LogLost && e.Result.Class != plan.ClassEnvironment {
			r.journal.Add(*e.Result)
		}
		observe(e)
	}
}
