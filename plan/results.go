package plan

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

// The ways a task can end. Everything but Passed fails the check.
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
	ClassTransient Class = "transient" // worth another try
	ClassBaseline  Class = "baseline"  // already broken on base
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
	Waited   float64 `json:"waited_seconds,omitempty"` // ready to start, until a slot was free
	Spans    []Span  `json:"spans,omitempty"`          // when each attempt ran, in their order; empty when it is not known
	Log      string  `json:"log,omitempty"`            // path of the complete log, relative to the results
	Tail     string  `json:"tail,omitempty"`           // last lines, masked
}

// A Span is when one attempt of a task ran.
type Span struct {
	Started float64 `json:"started_seconds"` // since the run, or the part of it, began
	Seconds float64 `json:"seconds"`
}

// End returns when the attempt ended, in seconds since the run began.
func (s Span) End() float64 { return s.Started + s.Seconds }
