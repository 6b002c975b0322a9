package plan

import "time"

// Results are what the tasks of one plan, or of a part of it, said.
type Results struct {
	Version string   `json:"version"`
	Plan    string   `json:"plan"`          // digest of the plan
	Part    Fraction `json:"part,omitzero"` // of which part of the plan they are; zero when of the whole
	Results []Result `json:"results"`
	// Observed is what the integrations read while their tasks ran, in name
	// order; only of those that asked something.
	Observed []Observed `json:"observed,omitempty"`
	Warnings []string   `json:"warnings,omitempty"`
}

// Observed is what one integration read, against what it is allowed to read.
type Observed struct {
	Integration string   `json:"integration"`
	Read        []string `json:"read"`   // schemas of datafiles, sorted
	Unread      []string `json:"unread"` // schemas it is allowed and did not read, sorted
	// Fields are the top-level fields that were read of datafiles, sorted, by
	// their schema.
	Fields  map[string][]string `json:"fields,omitempty"`
	Partial bool                `json:"partial,omitempty"` // only some of its shards ran
}

// A Status is how a task ended.
type Status string

// The ways a task can end. Everything but Passed fails the check, and a failure
// of class baseline does not either.
const (
	Passed   Status = "passed"
	Failed   Status = "failed"
	TimedOut Status = "timed_out"
	Canceled Status = "canceled"
	NotRun   Status = "not_run"
)

// A Class says what kind of failure it is.
type Class string

// The classes. A passed task has none.
const (
	ClassConfig    Class = "config"    // the data or the settings are wrong
	ClassTask      Class = "task"      // the integration failed
	ClassTransient Class = "transient" // it may pass by itself: out of time, or the output says so
	ClassBaseline  Class = "baseline"  // it fails the same way on base: not for this change to mend
)

// A Result is what one task said.
type Result struct {
	Task     string  `json:"task"`
	Status   Status  `json:"status"`
	Class    Class   `json:"class,omitempty"`
	Reason   string  `json:"reason,omitempty"` // one line: "exit code 3", "timed out after 10m0s"
	ExitCode int     `json:"exit_code"`        // -1 when there is none
	Seconds  float64 `json:"seconds"`
	Attempts int     `json:"attempts"`
	Waited   float64 `json:"waited_seconds,omitempty"` // ready to start, until a slot and the targets were free
	Spans    []Span  `json:"spans,omitempty"`          // when each attempt ran, in their order; empty when it is not known
	Log      string  `json:"log,omitempty"`            // path of the complete log, relative to the results
	Tail     string  `json:"tail,omitempty"`           // last lines, masked

	// TargetWait is the part of Waited after the task was first held up by a target
	// although there was a slot, until it started.
	TargetWait float64 `json:"target_wait_seconds,omitempty"`
	// Unavailable names the target for which the task was not run, since it failed
	// others; "" otherwise.
	Unavailable string `json:"unavailable,omitempty"`

	Before   []Attempt `json:"before,omitempty"`   // the attempts before the last one
	Flaky    *Flaky    `json:"flaky,omitempty"`    // nil when nothing of the kind is remembered
	Baseline *Baseline `json:"baseline,omitempty"` // nil when it was not tried on base
}

// An Attempt is how an earlier attempt of a task ended.
type Attempt struct {
	Status Status `json:"status"`
	Class  Class  `json:"class,omitempty"`
	Reason string `json:"reason,omitempty"`
	Log    string `json:"log,omitempty"` // path of its complete log
}

// Flaky says that a task failed and passed with the same inputs.
type Flaky struct {
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	Failures  int       `json:"failures"` // attempts that failed although the same inputs passed, too
	Runs      int       `json:"runs"`     // all attempts that are remembered
	Rate      float64   `json:"rate"`     // of the failures in the runs
}

// Baseline is what a failed task said on base.
type Baseline struct {
	Finding string     `json:"finding"`         // one line: "fails the same way", "passes"
	Since   *time.Time `json:"since,omitempty"` // when it was first seen to fail the same way, as far as it is remembered
	Seconds float64    `json:"seconds"`
	Log     string     `json:"log,omitempty"` // path of the complete log on base
}

// A Span is when one attempt of a task ran.
type Span struct {
	Started float64 `json:"started_seconds"` // since the run, or the part of it, began
	Seconds float64 `json:"seconds"`
}

// End returns when the attempt ended, in seconds since the run began.
func (s Span) End() float64 { return s.Started + s.Seconds }
