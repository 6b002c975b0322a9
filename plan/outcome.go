package plan

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// MissingReason is the reason of a task for which no result was found.
const MissingReason = "no result: the part that should have run it is missing"

// maxNamed is how many missing parts are named.
const maxNamed = 20

// OK reports whether the task passed.
func (r Result) OK() bool { return r.Status == Passed }

// OnBase reports whether the task fails the same way on base. Such a task did not
// pass, but it does not fail the check.
func (r Result) OnBase() bool { return r.Status == Failed && r.Class == ClassBaseline }

// Blocks reports whether the result fails the check.
func (r Result) Blocks() bool { return !r.OK() && !r.OnBase() }

// Failed reports whether any result fails the check. It does not know of missing
// results; [MergeResults] adds these.
func (rs *Results) Failed() bool {
	return slices.ContainsFunc(rs.Results, Result.Blocks)
}

// Result returns the result of the task with this id.
func (rs *Results) Result(task string) (Result, bool) {
	for _, r := range rs.Results {
		if r.Task == task {
			return r, true
		}
	}
	return Result{}, false
}

// WriteResults writes results as indented JSON. It returns an error for results
// that [ReadResults] would refuse.
func WriteResults(w io.Writer, rs *Results) error {
	out := *rs
	out.Version = Version
	fill(&out.Results)
	if err := out.check(); err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	return writeJSON(w, &out)
}

// ReadResults reads results and checks them: version, plan digest, unique tasks,
// known words. It reads at most 64 MiB and never panics.
func ReadResults(r io.Reader) (*Results, error) {
	var rs Results
	if _, err := readJSON(r, &rs); err != nil {
		return nil, fmt.Errorf("reading the results: %w", err)
	}
	if err := rs.check(); err != nil {
		return nil, fmt.Errorf("reading the results: %w", err)
	}
	return &rs, nil
}

// MergeResults puts the results of all parts of a plan together, in the order of
// the plan's tasks. A task without a result gets the status not run, with
// [MissingReason]. Results for another plan or for an unknown task, and two
// results for one task, are errors.
func MergeResults(p *Plan, parts ...*Results) (*Results, error) {
	known := make(map[string]bool, len(p.Tasks))
	for _, t := range p.Tasks {
		known[t.ID] = true
	}
	found := make(map[string]Result, len(p.Tasks))
	for _, part := range parts {
		if part.Plan != p.Digest {
			return nil, fmt.Errorf("merging results: they belong to plan %q, this is plan %q; give the plan that was run",
				part.Plan, p.Digest)
		}
		for _, r := range part.Results {
			if !known[r.Task] {
				return nil, fmt.Errorf("merging results: the plan has no task %q", r.Task)
			}
			if _, twice := found[r.Task]; twice {
				return nil, fmt.Errorf("merging results: task %q has two results; give each part once", r.Task)
			}
			found[r.Task] = r
		}
	}
	merged := &Results{Version: Version, Plan: p.Digest, Reused: p.Reused(), Results: make([]Result, len(p.Tasks))}
	for i, t := range p.Tasks {
		r, ok := found[t.ID]
		if !ok {
			r = Result{Task: t.ID, Status: NotRun, Reason: MissingReason, ExitCode: -1}
		}
		merged.Results[i] = r
	}
	for _, part := range parts {
		merged.Warnings = append(merged.Warnings, part.Warnings...)
	}
	if lost := missingParts(parts); lost != "" {
		merged.Warnings = append(merged.Warnings, lost)
	}
	merged.Observed, merged.Audit = mergeObserved(parts), mergeAudits(parts)
	return merged, nil
}

// missingParts names the parts without results, if all given parts are of one
// division of the plan. It returns "" if no part is missing.
func missingParts(parts []*Results) string {
	if len(parts) == 0 {
		return ""
	}
	given := map[int]bool{}
	n := parts[0].Part.Of
	for _, part := range parts {
		if part.Part.Of != n {
			return ""
		}
		given[part.Part.Part] = true
	}
	var lost []string
	for i := 1; i <= n; i++ {
		if !given[i] {
			lost = append(lost, Fraction{i, n}.String())
		}
	}
	if len(lost) > maxNamed {
		lost = append(lost[:maxNamed], fmt.Sprintf("%d more", len(lost)-maxNamed))
	}
	if len(lost) == 0 {
		return ""
	}
	if len(lost) == 1 {
		return "there are no results of part " + lost[0]
	}
	return "there are no results of the parts " + strings.Join(lost, ", ")
}

// Check returns an error for a result that contradicts itself or has unknown words.
func (r Result) Check() error {
	switch {
	case !slices.Contains([]Status{Passed, Failed, TimedOut, Canceled, NotRun}, r.Status):
		return fmt.Errorf("task %q: the status is %q; it must be passed, failed, timed_out, canceled or not_run", r.Task,
			r.Status)
	case !slices.Contains([]Class{"", ClassConfig, ClassTask, ClassTransient, ClassBaseline, ClassEnvironment}, r.Class):
		return fmt.Errorf("task %q: the class is %q; it must be config, task, transient, baseline or environment", r.Task,
			r.Class)
	case r.Status == Passed && (r.Class != "" || r.ExitCode > 0):
		return fmt.Errorf("task %q: passed with class %q and exit code %d contradicts itself", r.Task, r.Class, r.ExitCode)
	case r.Class == ClassBaseline && (r.Status != Failed || r.Baseline == nil || r.Baseline.Finding == ""):
		return fmt.Errorf("task %q: the class is baseline, but the status is %q and \"baseline\" must say what was found "+
			"on base", r.Task, r.Status)
	case r.Attempts < len(r.Before)+1 && len(r.Before) > 0:
		return fmt.Errorf("task %q: it has %d attempts and tells of %d before the last one", r.Task, r.Attempts,
			len(r.Before))
	case r.Flaky != nil && (r.Flaky.Failures < 0 || r.Flaky.Failures > r.Flaky.Runs ||
		r.Flaky.LastSeen.Before(r.Flaky.FirstSeen)):
		return fmt.Errorf("task %q: what flaky says contradicts itself", r.Task)
	case r.Unavailable != "" && r.Status != NotRun:
		return fmt.Errorf("task %q: its target is unavailable, but the status is %q", r.Task, r.Status)
	case r.Waited < 0 || r.TargetWait < 0 || slices.ContainsFunc(r.Spans, func(s Span) bool {
		return s.Started < 0 || s.Seconds < 0
	}):
		return fmt.Errorf("task %q: a time in waited_seconds, target_wait_seconds or spans is negative", r.Task)
	}
	return r.checkFindings()
}

// check returns an error for results without a plan, for two results of one task,
// and for results that [Result.Check] refuses.
func (rs *Results) check() error {
	if rs.Plan == "" {
		return errors.New(`"plan" is empty; it must be the digest of the plan that was run`)
	}
	seen := make(map[string]bool, len(rs.Results))
	for i, r := range rs.Results {
		switch {
		case r.Task == "":
			return fmt.Errorf("results[%d]: the task is empty", i)
		case seen[r.Task]:
			return fmt.Errorf("results[%d]: task %q has two results; give each part once", i, r.Task)
		}
		if err := r.Check(); err != nil {
			return err
		}
		seen[r.Task] = true
	}
	return nil
}
