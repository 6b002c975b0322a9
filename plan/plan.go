package plan

import "time"

// Version names the format of both documents of this package. Fields may be
// added within a version, never renamed.
const Version = "prcheck/v1"

// A Plan is the planner's answer for one change: the changed files, a decision for
// every integration, and the tasks that must run.
type Plan struct {
	Version string `json:"version"`
	Digest  string `json:"digest"`
	Base    Side   `json:"base"`
	Head    Side   `json:"head"`
	Config  string `json:"config,omitempty"` // "sha256:…" of the prcheck.yaml
	// Require are the labels that the merge request needs if its tasks announce effects of
	// a kind, or if nobody can tell. They come from the settings.
	Require map[EffectKind]string `json:"require,omitempty"`
	// MergeRequest is nil if the plan was not made in the pipeline of a merge request.
	MergeRequest *MergeRequest `json:"merge_request,omitempty"`
	Changes      Changes       `json:"changes"`
	Integrations []Decision    `json:"integrations"`
	Warnings     []string      `json:"warnings"`
	Tasks        []Task        `json:"tasks"`
}

// A Side is one of the two bundles.
type Side struct {
	Ref    string `json:"ref"`
	SHA256 string `json:"sha256"` // of the bundle file's bytes, as 64 hex digits
	Commit string `json:"commit"`
	// Tree is git's id of the tree of all files of the side; "" for a bundle without files.
	Tree string `json:"tree,omitempty"`
	// Edited are the files of a working tree that differ from HEAD, sorted, if they are at most
	// [MaxEdited].
	Edited []EditedFile `json:"edited,omitempty"`
}

// MaxEdited bounds how many edited files a plan names.
const MaxEdited = 2000

// An EditedFile is a file of a working tree that differs from HEAD.
type EditedFile struct {
	Path string `json:"path"`         // in the repository
	ID   string `json:"id,omitempty"` // git's mode and id of its content; "" when it is gone
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

// The kinds of change. Metadata is a modification of $file_sha256sum or
// __identifier alone. It selects no integration.
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

// An Action tells whether an integration runs.
type Action string

// The actions.
const (
	Run    Action = "run"    // in full
	Shards Action = "shards" // on the affected shards only
	Skip   Action = "skip"   // proven unaffected
)

// A Decision is the answer for one integration: the rung that decided, the code and
// the sentence of the reason, and the facts that a proof needs.
type Decision struct {
	Name     string   `json:"name"`
	Decision Action   `json:"decision"`
	Rung     Rung     `json:"rung"`
	Code     Code     `json:"code,omitempty"` // of the reason; "" in plans of an earlier prcheck
	Reason   string   `json:"reason"`         // one sentence, with remarks after semicolons
	Evidence Evidence `json:"evidence"`
	// Believed tells that a skip rests on the word of the definition about its schemas
	// alone: no run of the integration, no trace and no strict setting stands behind it.
	Believed bool     `json:"believed,omitempty"`
	Tasks    []string `json:"tasks"` // task ids
}

// Evidence holds the facts that a decision rests on. Fields that do not apply are
// empty.
type Evidence struct {
	// paths of its definition, base before head when they differ
	Definition []string `json:"definition,omitempty"`
	Fields     []string `json:"fields,omitempty"`  // fields of its definition that changed
	Allowed    int      `json:"allowed,omitempty"` // how many schemas it may read
	// changed schemas it is allowed to read, or that its queries read
	Schemas []string          `json:"schemas,omitempty"`
	Paths   []string          `json:"paths,omitempty"`   // changed files that matter to it (at most 20)
	Rule    string            `json:"rule,omitempty"`    // the paths rule that selected it
	Queries []QueryDifference `json:"queries,omitempty"` // its queries, each with the result of the comparison
	Traces  []TraceProof      `json:"traces,omitempty"`  // its traces (at most 20)
	State   *State            `json:"state,omitempty"`   // both desired states, digested
	Keys    []string          `json:"keys,omitempty"`    // affected shard keys
	Doubts  []string          `json:"doubts,omitempty"`  // facts that could not be proven, so that it runs
	// how many tasks are left out because they passed with the same inputs
	Reused int       `json:"reused,omitempty"`
	Passed []Earlier `json:"passed,omitempty"` // these tasks (at most 20, or all if effects are looked for)
	Edited []string  `json:"edited,omitempty"` // edits of head to the rules for it (at most 20), so that it runs
}

// A QueryDifference is one declared query, with the result of comparing its answers.
type QueryDifference struct {
	Name     string   `json:"name"`
	SHA256   string   `json:"sha256"`             // of its text
	Reached  int      `json:"reached"`            // changed files with a difference in a field that it reads
	Roots    int      `json:"roots"`              // root elements that differ; 0 when it was evaluated as a whole
	Fields   []string `json:"fields,omitempty"`   // changed fields it reads, as PATH#POINTER (at most 20)
	Complete bool     `json:"complete,omitempty"` // evaluated as a whole on both sides
}

// A TraceProof is the record of one task that passed. It proves a skip when the task
// would get the same answers again.
type TraceProof struct {
	Shard    string `json:"shard,omitempty"`
	Digest   string `json:"digest,omitempty"` // of the trace; "" when there is none
	Requests int    `json:"requests"`         // how many requests were compared
	Doubt    string `json:"doubt,omitempty"`  // why it proves nothing; "" when it does
}

// An Earlier is a task that is not in the plan because it passed before with the
// same inputs.
type Earlier struct {
	Shard  string    `json:"shard,omitempty"`
	Inputs string    `json:"inputs"` // as the task would have them
	Began  time.Time `json:"began"`  // when it last passed with them
	// Effects are those of the run that passed. They are nil when nobody looks for effects.
	Effects *Effects `json:"effects,omitempty"`
}

// A State holds the digests of a desired state on both sides, as far as the state
// was evaluated.
type State struct {
	Base string `json:"base"`
	Head string `json:"head"`
}

// A Task is one dry-run.
type Task struct {
	ID          string   `json:"id"`
	Integration string   `json:"integration"`
	Shard       string   `json:"shard,omitempty"`
	Static      Fraction `json:"static,omitzero"` // which static shard of the shard; zero for all of them
	// with placeholders such as {config}, which the runner fills in
	Argv []string `json:"argv"`
	// the conditions of its definition that hold, by their names in pr_check
	When []string `json:"when,omitempty"`
	// a native integration: run in the runner itself, argv is empty
	Native bool `json:"native,omitempty"`
	// it runs the command that head gives the integration, beside base's
	NewCommand bool `json:"new_command,omitempty"`
	// why it cannot be started; it is reported as not run and fails the check
	Blocked         string  `json:"blocked,omitempty"`
	Order           int     `json:"order"`
	Timeout         string  `json:"timeout"`                        // as time.Duration prints it
	EstimateSeconds float64 `json:"estimate_seconds,omitempty"`     // half of the runs took no longer
	EstimateP90     float64 `json:"estimate_p90_seconds,omitempty"` // nine tenths of them did not
	Memory          int64   `json:"memory_bytes,omitempty"`         // memory that it needs, as the settings say
	// "sha256:…" of everything that decides how it is started
	Command string `json:"command,omitempty"`
	Inputs  string `json:"inputs"` // "sha256:…" of everything that decides what it does
}
