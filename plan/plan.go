package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

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

// Decision returns the decision about the named integration.
func (p *Plan) Decision(name string) (Decision, bool) {
	for _, d := range p.Integrations {
		if d.Name == name {
			return d, true
		}
	}
	return Decision{}, false
}

// Task returns the task with this id.
func (p *Plan) Task(id string) (Task, bool) {
	for _, t := range p.Tasks {
		if t.ID == id {
			return t, true
		}
	}
	return Task{}, false
}

// Reused returns how many tasks the plan leaves out because they passed with the same inputs.
func (p *Plan) Reused() int {
	n := 0
	for _, d := range p.Integrations {
		n += d.Evidence.Reused
	}
	return n
}

// check returns an error for a plan that breaks a rule of the package comment.
func (p *Plan) check() error {
	tasks := make(map[string]Task, len(p.Tasks))
	for i, t := range p.Tasks {
		if t.ID == "" {
			return fmt.Errorf("tasks[%d]: the id is empty; give every task one", i)
		}
		if _, twice := tasks[t.ID]; twice {
			return fmt.Errorf("tasks[%d]: the id %q is taken; ids must be unique", i, t.ID)
		}
		if err := t.check(); err != nil {
			return fmt.Errorf("task %q: %w", t.ID, err)
		}
		tasks[t.ID] = t
	}
	for kind, label := range p.Require {
		if !kind.IsValid() || label == "" {
			return fmt.Errorf("require: %q needs the label %q; a kind is create, change, delete or other, and a label is "+
				"not empty", kind, label)
		}
	}
	listed := make(map[string]bool, len(p.Tasks))
	for i, d := range p.Integrations {
		if i > 0 && d.Name <= p.Integrations[i-1].Name {
			return fmt.Errorf("integrations[%d]: %q follows %q; every integration stands there once, in name order",
				i, d.Name, p.Integrations[i-1].Name)
		}
		if err := d.check(tasks, listed); err != nil {
			return fmt.Errorf("integration %q: %w", d.Name, err)
		}
	}
	for _, t := range p.Tasks {
		if !listed[t.ID] {
			return fmt.Errorf("task %q: no decision for integration %q lists it", t.ID, t.Integration)
		}
	}
	return p.MergeRequest.check(p.Reused())
}

// check checks one decision and marks its tasks as listed.
func (d Decision) check(tasks map[string]Task, listed map[string]bool) error {
	switch {
	case d.Name == "":
		return errors.New("the name is empty")
	case !slices.Contains([]Action{Run, Shards, Skip}, d.Decision):
		return fmt.Errorf("the decision is %q; it must be run, shards or skip", d.Decision)
	case !slices.Contains(Rungs(), d.Rung):
		return fmt.Errorf("the rung is %q; it must be one of %q", d.Rung, Rungs())
	case d.Reason == "":
		return errors.New("there is no reason; every decision needs one")
	case d.Decision == Skip && len(d.Tasks) > 0:
		return fmt.Errorf("it is skipped but has the task %q", d.Tasks[0])
	case d.Decision != Skip && len(d.Tasks) == 0:
		return fmt.Errorf("the decision is %q but there is no task; add one, or a blocked one", d.Decision)
	}
	for _, id := range d.Tasks {
		t, ok := tasks[id]
		switch {
		case !ok:
			return fmt.Errorf("its task %q does not exist", id)
		case t.Integration != d.Name:
			return fmt.Errorf("its task %q belongs to integration %q", id, t.Integration)
		case listed[id]:
			return fmt.Errorf("its task %q is listed twice", id)
		}
		listed[id] = true
	}
	return nil
}

// check checks one task alone.
func (t Task) check() error {
	limit, err := time.ParseDuration(t.Timeout)
	switch {
	case err != nil:
		return fmt.Errorf("the timeout %q is not a duration; write it like 10m0s", t.Timeout)
	case limit <= 0:
		return fmt.Errorf("the timeout %q is not positive", t.Timeout)
	case len(t.Argv) == 0 && !t.Native && t.Blocked == "":
		return errors.New("argv is empty; only native and blocked tasks have no command")
	case len(t.Argv) > 0 && t.Argv[0] == "":
		return errors.New("argv names no program: its first element is empty")
	}
	return nil
}

// CheckBundle returns an error unless a bundle with this sha256 is the bundle that the
// plan was made from. The error calls the bundle by the given name.
func (s Side) CheckBundle(name, sha256 string) error {
	if sha256 == s.SHA256 {
		return nil
	}
	return fmt.Errorf("bundle %q is not the one of the plan: its sha256 is %s, the plan's %s", name, sha256, s.SHA256)
}

// A Fraction names one of several parts, such as 2/8 for the second of eight parts.
// The zero value means the whole. A Fraction can be the value of a flag.
type Fraction struct{ Part, Of int }

// Tasks returns the tasks of this part, see [Partition].
func (f Fraction) Tasks(tasks []Task) []Task {
	if f == (Fraction{}) {
		return tasks
	}
	return Partition(tasks, f.Of)[f.Part-1].Tasks
}

// String returns the fraction as text; "" for the whole.
func (f Fraction) String() string {
	if f == (Fraction{}) {
		return ""
	}
	return fmt.Sprintf("%d/%d", f.Part, f.Of)
}

// Type returns the name of the value in the help of a flag.
func (f Fraction) Type() string { return "i/n" }

// MarshalText returns the text of [Fraction.String].
func (f Fraction) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads a text as [Fraction.Set] does.
func (f *Fraction) UnmarshalText(text []byte) error { return f.Set(string(text)) }

// Set reads the text of a fraction, such as 2/8. The text "" is an error.
func (f *Fraction) Set(s string) error {
	part, of, ok := strings.Cut(s, "/")
	i, n := number(part), number(of)
	switch {
	case !ok || i < 0 || n < 0:
		return fmt.Errorf("%q is no part of a plan; write the first of eight as 1/8", s)
	case n == 0 || n > MaxParts:
		return fmt.Errorf("a plan is divided into 1 to %d parts, not into %d", MaxParts, n)
	case i == 0 || i > n:
		return fmt.Errorf("there is no part %d of %d; they are 1/%d to %d/%d", i, n, n, n, n)
	}
	*f = Fraction{i, n}
	return nil
}

// number reads a number of at most nine digits, without a sign or leading zeros. It
// returns -1 for any other text.
func number(s string) int {
	if s == "" || len(s) > 9 || len(s) > 1 && s[0] == '0' {
		return -1
	}
	n := 0
	for _, c := range s {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// Label names the part of the integration that a task does: "" for the whole, a
// shard such as cluster, a static shard of it such as cluster{1/2}, or a static
// shard of the whole such as {1/2}. No shard key has braces, so no two parts of an
// integration share a label.
func (t Task) Label() string {
	if t.Static == (Fraction{}) {
		return t.Shard
	}
	return t.Shard + "{" + t.Static.String() + "}"
}

// Numbers returns the number of static shards that share the work, and the index of
// this static shard, from 0. For the zero value it returns 1 and 0.
func (f Fraction) Numbers() (shards, id int) { return max(f.Of, 1), max(f.Part, 1) - 1 }
