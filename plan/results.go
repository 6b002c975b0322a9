package plan

import "time"

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
