package plan

// Results are what the tasks of one plan, or of a part of it, said.
type Results struct {
	Version string   `json:"version"`
	Plan    string   `json:"plan"` // digest of the plan
	Results []Result `json:"results"`
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
	Log      string  `json:"log,omitempty"`  // path of the complete log, relative to the results
	Tail     string  `json:"tail,omitempty"` // last lines, masked
}
