package promotion

// A Code says in one word why something waits. Each wait has one.
type Code string

// The codes.
const (
	Soaks    Code = "soak"     // it did not run for long enough at the publishers
	Window   Code = "window"   // its schedule is not open
	NotRun   Code = "gate"     // a publisher did not run it, or with another configuration
	Rejected Code = "rejected" // a person does not want it there
	Pinned   Code = "pinned"   // a person went back, pinned the target, or holds it
	Blocked  Code = "blocked"  // the app blocks it
	Checks   Code = "checks"   // the checks of its merge request failed
	SLO      Code = "slo"      // the service misses an objective
	Bad      Code = "bad"      // a publisher, or the target itself, found it bad
	Verify   Code = "verify"   // it is being verified
	Freight  Code = "freight"  // what moves with it is not ready
	Queued   Code = "queued"   // another promotion of its stage is open
	Unknown  Code = "unknown"  // something does not answer, or cannot be read
)
