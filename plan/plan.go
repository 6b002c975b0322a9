package plan

import "time"

// Version names the format of both documents of this package. Fields may be
// added within a version, never renamed.
const Version = "prcheck/v1"

// A Plan is the planner's whole answer for one change: what changed, what was
// decided for every integration, and the tasks that follow from it.
type Plan struct {
	Version      string     `json:"version"`
	Digest       string     `json:"digest"`
	Base         Side       `json:"base"`
	Head         Side       `json:"head"`
	Config       string     `json:"config,omitempty"` // "sha256:…" of the prcheck.yaml that was used
	Changes      Changes    `json:"changes"`
	Integrations []Decision `json:"integrations"`
	Warnings     []string   `json:"warnings"`
	Tasks        []Task     `json:"tasks"`
}

// A Side is one of the two bundles.
type Side struct {
	Ref    string `json:"ref"`
	SHA256 string `json:"sha256"` // 64 hex digits: of the bundle file's bytes
	Commit string `json:"commit"`
}

// Changes are the differences between the two bundles.
type Changes struct {
	Datafiles []Datafile `json:"datafiles"`
	Resources []Resource `json:"resources"`
	Schemas   []string   `json:"schemas"` // JSON schema files that differ
	GraphQL   []string   `json:"graphql"` // GraphQL types that differ
}

// A Kind says how a file changed.
type Kind string

// The kinds of change. Metadata is a modification of nothing but
// $file_sha256sum or __identifier: it selects nothing.
const (
	Added    Kind = "added"
	Removed  Kind = "removed"
	Modified Kind = "modified"
	Metadata Kind = "metadata"
)

// A Datafile is one changed datafile.
type Datafile struct {
	Path      string   `json:"path"`
	Schema    string   `json:"schema"`               // on head; on base when removed
	OldSchema string   `json:"old_schema,omitempty"` // on base, when it differs
	Kind      Kind     `json:"kind"`
	Fields    []string `json:"fields,omitempty"` // JSON pointers, when modified or metadata
}

// A Resource is one changed resource.
type Resource struct {
	Path   string `json:"path"`
	Schema string `json:"schema,omitempty"`
	Kind   Kind   `json:"kind"`
}

// A Verdict is what was decided for an integration.
type Verdict string

// The verdicts.
const (
	Run    Verdict = "run"    // in full
	Shards Verdict = "shards" // on the affected shards only
	Skip   Verdict = "skip"   // proven unaffected
)

// A Rung is the step of the ladder that decided.
type Rung string

// The rungs in climbing order.
const (
	RungDefinition Rung = "definition"
	RungSchema     Rung = "schema"
	RungFields     Rung = "fields"
	RungState      Rung = "state"
	RungShards     Rung = "shards"
	RungResult     Rung = "result"
)

// Rungs lists every rung in climbing order.
func Rungs() []Rung {
	return []Rung{RungDefinition, RungSchema, RungFields, RungState, RungShards, RungResult}
}

// A Decision is the answer for one integration: the rung that gave it, one
// sentence why, and what a proof of it needs.
type Decision struct {
	Name     string   `json:"name"`
	Decision Verdict  `json:"decision"`
	Rung     Rung     `json:"rung"`
	Reason   string   `json:"reason"`
	Evidence Evidence `json:"evidence"`
	Tasks    []string `json:"tasks"` // task ids
}

// Evidence is what a decision rests on. Only what applies is filled in.
type Evidence struct {
	Definition []string  `json:"definition,omitempty"` // paths of its definition, base before head when they differ
	Fields     []string  `json:"fields,omitempty"`     // fields of its definition that changed
	Allowed    int       `json:"allowed,omitempty"`    // how many schemas it may read
	Schemas    []string  `json:"schemas,omitempty"`    // changed schemas it is allowed to read, or that its queries read
	Paths      []string  `json:"paths,omitempty"`      // changed files that matter to it (at most 20)
	Rule       string    `json:"rule,omitempty"`       // the paths rule that selected it
	Queries    []Query   `json:"queries,omitempty"`    // its queries, each with what comparing it found
	Traces     []Trace   `json:"traces,omitempty"`     // what was remembered of it (at most 20)
	State      *State    `json:"state,omitempty"`      // both desired states, digested
	Keys       []string  `json:"keys,omitempty"`       // affected shard keys
	Doubts     []string  `json:"doubts,omitempty"`     // what could not be proven, so that it runs
	Reused     int       `json:"reused,omitempty"`     // how many tasks are left out, since they passed with the same inputs
	Passed     []Earlier `json:"passed,omitempty"`     // those (at most 20)
	Edited     []string  `json:"edited,omitempty"`     // what head edits of the rules for it (at most 20), so that it runs
}

// A Query is one declared query and what comparing it found.
type Query struct {
	Name     string   `json:"name"`
	SHA256   string   `json:"sha256"`             // of its text
	Reached  int      `json:"reached"`            // changed files with a difference in a field that it reads
	Roots    int      `json:"roots"`              // root elements that differ, when it was not evaluated as a whole
	Fields   []string `json:"fields,omitempty"`   // changed fields it reads, as PATH#POINTER (at most 20)
	Complete bool     `json:"complete,omitempty"` // evaluated as a whole on both sides
}

// A Trace is what was remembered of one task that passed, and whether it proves
// that the task would see the same again.
type Trace struct {
	Shard    string `json:"shard,omitempty"`
	Digest   string `json:"digest,omitempty"` // of the trace; "" when there is none
	Requests int    `json:"requests"`         // how many it compares
	Doubt    string `json:"doubt,omitempty"`  // why it proves nothing; "" when it does
}

// An Earlier is a task that is not in the plan, since it passed before with the
// same inputs.
type Earlier struct {
	Shard  string    `json:"shard,omitempty"`
	Inputs string    `json:"inputs"` // as the task would have them
	Began  time.Time `json:"began"`  // when it last passed with them
}

// A State is the digest of a desired state on both sides, as far as it was
// evaluated.
type State struct {
	Base string `json:"base"`
	Head string `json:"head"`
}

// A Task is one dry-run.
type Task struct {
	ID              string   `json:"id"`
	Integration     string   `json:"integration"`
	Shard           string   `json:"shard,omitempty"`
	Static          Fraction `json:"static,omitzero"`   // which of the static shards of it; zero when it is all of them
	Argv            []string `json:"argv"`              // run-time placeholders such as {config} are still in it
	When            []string `json:"when,omitempty"`    // the conditions of its definition that hold, by the names of pr_check
	Native          bool     `json:"native,omitempty"`  // a native integration: run in the runner itself, argv is empty
	Blocked         string   `json:"blocked,omitempty"` // why it cannot be started; it is reported as not run and fails the check
	Order           int      `json:"order"`
	Timeout         string   `json:"timeout"`                        // as time.Duration prints it
	EstimateSeconds float64  `json:"estimate_seconds,omitempty"`     // half of the runs took no longer
	EstimateP90     float64  `json:"estimate_p90_seconds,omitempty"` // nine tenths of them did not
	Memory          int64    `json:"memory_bytes,omitempty"`         // that it needs, as the settings say
	Command         string   `json:"command,omitempty"`              // "sha256:…" of all that decides how it is started
	Inputs          string   `json:"inputs"`                         // "sha256:…" of all that decides what it does
}
