package integration

import "time"

// A Flow is how commits of one source stand at the stages that they pass.
type Flow struct {
	Source string   `json:"source"` // of the commits, for people
	Stages []string `json:"stages"` // in the order in which commits pass them
	// Commits are the newest ones first. Those that run at a stage are always among them.
	Commits []Commit `json:"commits"`
	More    int      `json:"more,omitempty"` // commits that are left out because there are too many
}

// A Commit is how one commit stands at each stage of its [Flow].
type Commit struct {
	SHA    string    `json:"sha"`
	Passes []Passage `json:"passes"` // one for each stage, in their order
}

// A Passage is how a commit stands at a stage.
type Passage struct {
	State PassageState `json:"state"`
	// Code says in one word why it waits.
	Code string `json:"code,omitempty"`
	// Why says the same in a sentence, and who said it.
	Why string `json:"why,omitempty"`
	// Ran is for how long it runs or ran, in seconds; 0 if it did not, or if nobody knows.
	Ran int64 `json:"ran_seconds,omitempty"`
	// Until is when a wait ends if nothing else happens; zero if nobody knows.
	Until time.Time `json:"until,omitzero"`
}

// A PassageState is a word for how a commit stands at a stage.
type PassageState string

// The states. A commit that did not come yet is the zero value.
const (
	NotYet    PassageState = ""         // it did not come here yet
	Live      PassageState = "live"     // it runs
	Verifying PassageState = "verifies" // it runs and is being verified
	RanWell   PassageState = "ran"      // it ran well, and something newer runs
	Wanted    PassageState = "wanted"   // the data name it, and no run of it is known
	Waits     PassageState = "waits"    // it may not come yet
	Proposed  PassageState = "proposed" // an open merge request brings it
	Bad       PassageState = "bad"      // it ran and was bad
	Declined  PassageState = "rejected" // a person does not want it here
	Replaced  PassageState = "replaced" // something newer ran, and it never did
	NotKnown  PassageState = "unknown"  // what the stage ran cannot be read
)
