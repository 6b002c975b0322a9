package plan

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Results tell how the tasks of one plan, or of a part of it, ended.
type Results struct {
	Version string   `json:"version"`
	Plan    string   `json:"plan"`          // digest of the plan
	Part    Fraction `json:"part,omitzero"` // the part of the plan; zero for the whole plan
	Results []Result `json:"results"`
	// Reused is how many tasks the plan leaves out because they passed with the same inputs. They
	// count as passes.
	Reused int `json:"reused,omitempty"`
	// Observed tells which schemas and fields the integrations read while their tasks
	// ran, in name order. Integrations that asked nothing are left out.
	Observed []Observed `json:"observed,omitempty"`
	Warnings []string   `json:"warnings,omitempty"`
	// Forecast is how long the tasks were to take together; nil if nobody knew, or if it was a
	// part that an earlier run had left. Merged results have none, since it is that of a machine.
	Forecast *Forecast `json:"forecast,omitempty"`
	// Audit tells how a sample of what the plan leaves out ended; nil if nobody asked for it.
	Audit *Audit `json:"audit,omitempty"`
}

// A Forecast is how long the tasks of a run were to take together, in seconds, and how long
// they took. Runs on base, which settle failures, do not count.
type Forecast struct {
	P50     float64 `json:"p50_seconds"`            // half of the simulated runs took no longer
	P90     float64 `json:"p90_seconds"`            // nine tenths of them took no longer
	Unknown int     `json:"unknown,omitempty"`      // tasks without an estimate; each counts as the median of the others
	Took    float64 `json:"took_seconds,omitempty"` // 0 if the run was interrupted, or has not ended
}

// Observed tells which schemas and fields one integration read, and which allowed
// schemas it did not read.
type Observed struct {
	Integration string   `json:"integration"`
	Read        []string `json:"read"`   // schemas of datafiles, sorted
	Unread      []string `json:"unread"` // allowed schemas that it did not read, sorted
	// Fields are the top-level fields of datafiles that it read, sorted, by schema.
	Fields map[string][]string `json:"fields,omitempty"`
	// Beyond lists, sorted, what its answers depend on although its definition does not allow
	// these schemas: schemas, and the backrefs of resources.
	Beyond  []string `json:"beyond,omitempty"`
	Partial bool     `json:"partial,omitempty"` // only some of its shards ran
}

// A Status is how a task ended.
type Status string

// The ways a task can end. Every status but Passed fails the check, except for a
// failure of class baseline.
const (
	Passed   Status = "passed"
	Failed   Status = "failed"
	TimedOut Status = "timed_out"
	Canceled Status = "canceled"
	NotRun   Status = "not_run"
)

// A Class is the kind of a failure.
type Class string

// The classes. A passed task has none.
const (
	ClassConfig    Class = "config"    // the data or the settings are wrong
	ClassTask      Class = "task"      // the integration failed
	ClassTransient Class = "transient" // it may pass by itself: out of time, or the output says so
	// ClassEnvironment: this machine was short of open files, memory or processes
	// when the task was to start, so nobody knows how it ends.
	ClassEnvironment Class = "environment"
	ClassBaseline    Class = "baseline" // it fails the same way on base, so the change did not break it
)

// A Result tells how one task ended.
type Result struct {
	Task     string  `json:"task"`
	Status   Status  `json:"status"`
	Class    Class   `json:"class,omitempty"`
	Reason   string  `json:"reason,omitempty"` // one line: "exit code 3", "timed out after 10m0s"
	ExitCode int     `json:"exit_code"`        // -1 when there is none
	Seconds  float64 `json:"seconds"`
	Attempts int     `json:"attempts"`
	Waited   float64 `json:"waited_seconds,omitempty"` // ready to start, until a slot and the targets were free
	Spans    []Span  `json:"spans,omitempty"`          // when each attempt ran, in order; empty when that is not known
	Log      string  `json:"log,omitempty"`            // path of the complete log, relative to the results
	Tail     string  `json:"tail,omitempty"`           // last lines, masked

	// TargetWait is the part of Waited that begins when the task had a slot and a
	// target held it up for the first time.
	TargetWait float64 `json:"target_wait_seconds,omitempty"`
	// Unavailable names the target because of which the task was not run: other tasks
	// failed there. It is "" when there is no such target.
	Unavailable string `json:"unavailable,omitempty"`

	Before   []Attempt `json:"before,omitempty"`   // the attempts before the last one
	Flaky    *Flaky    `json:"flaky,omitempty"`    // nil when it is not known to be flaky
	Baseline *Baseline `json:"baseline,omitempty"` // nil when the task did not run on base
	Effects  *Effects  `json:"effects,omitempty"`  // nil when nobody looked for effects

	// Findings are those of the last attempt of a native integration: the worst first, and
	// those that the change did not cause last. FindingsBeyond counts those that are left out
	// because there are too many.
	Findings       []Finding `json:"findings,omitempty"`
	FindingsBeyond int       `json:"findings_beyond,omitempty"`
}

// An Attempt is how an earlier attempt of a task ended.
type Attempt struct {
	Status Status `json:"status"`
	Class  Class  `json:"class,omitempty"`
	Reason string `json:"reason,omitempty"`
	Log    string `json:"log,omitempty"` // path of its complete log
}

// Flaky tells that a task failed and passed with the same inputs.
type Flaky struct {
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	Failures  int       `json:"failures"` // attempts that failed although others passed with the same inputs
	Runs      int       `json:"runs"`     // all known attempts
	Rate      float64   `json:"rate"`     // Failures divided by Runs
}

// Baseline tells how a failed task ended on base.
type Baseline struct {
	Finding string     `json:"finding"`         // one line: "fails the same way", "passes"
	Since   *time.Time `json:"since,omitempty"` // when it was first seen to fail the same way; nil when that is not known
	Seconds float64    `json:"seconds"`
	Log     string     `json:"log,omitempty"` // path of the complete log on base
	// MoreLogs are the paths of the complete logs of the further runs that were compared:
	// on base, and on head without early exit.
	MoreLogs []string `json:"more_logs,omitempty"`
	Lines    int      `json:"lines,omitempty"`    // how many lines of the log were compared
	LeftOut  []string `json:"left_out,omitempty"` // what was not compared, if the failure is the same
}

// A Span is when one attempt of a task ran.
type Span struct {
	Started float64 `json:"started_seconds"` // after the start of the run, or of the part of it
	Seconds float64 `json:"seconds"`
}

// End returns when the attempt ended, in seconds since the run began.
func (s Span) End() float64 { return s.Started + s.Seconds }

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

// mergeObserved merges the observations of all parts. An integration read a schema
// if any part read it; a schema is unread if no part read it.
func mergeObserved(parts []*Results) []Observed {
	all := map[string]Observed{}
	for _, part := range parts {
		for _, o := range part.Observed {
			known, ok := all[o.Integration]
			if !ok {
				all[o.Integration] = o
				continue
			}
			read := slices.Concat(known.Read, o.Read)
			slices.Sort(read)
			known.Read = slices.Compact(read)
			known.Unread = slices.DeleteFunc(slices.Clone(known.Unread), func(s string) bool {
				return !slices.Contains(o.Unread, s)
			})
			known.Fields = mergeFields(known.Fields, o.Fields)
			beyond := slices.Concat(known.Beyond, o.Beyond)
			slices.Sort(beyond)
			known.Beyond = slices.Compact(beyond)
			known.Partial = known.Partial && o.Partial
			all[o.Integration] = known
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b Observed) int {
		return strings.Compare(a.Integration, b.Integration)
	})
}

// mergeFields returns the fields of both maps, sorted.
func mergeFields(a, b map[string][]string) map[string][]string {
	out := maps.Clone(a)
	for schema, fields := range b {
		if out == nil {
			out = map[string][]string{}
		}
		list := slices.Concat(out[schema], fields)
		slices.Sort(list)
		out[schema] = slices.Compact(list)
	}
	return out
}
