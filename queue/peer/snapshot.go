package peer

import (
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/queue"
)

// The labels that the peer gives, beside those of approval, hold and error.
const (
	GroupLead   = "omm-group-lead"
	Pending     = "omm-pending"
	MergeError  = "merge-error"
	RebaseError = "rebase-error"
	pipelineErr = "pipeline-error"
	stale       = "stale"
	autoMerge   = "bot/automerge"
	lgtm        = "lgtm"
	tenant      = "tenant-"
)

// The states of pipelines.
const (
	running  = "running"
	pending  = "pending"
	success  = "success"
	failed   = "failed"
	canceled = "canceled"
	skipped  = "skipped"
)

// A Pipeline is a pipeline of a merge request or of a branch.
type Pipeline struct {
	ID        int
	Status    string
	Source    string
	SHA       string
	CreatedAt time.Time
	UpdatedAt time.Time
}

// A Said is a note of a merge request.
type Said struct {
	Body      string
	At        time.Time
	UpdatedAt time.Time
}

// A Listed is a merge request as the peer finds it.
type Listed struct {
	queue.Request
	ListedHead   string // as the list of the forge has it, which may be older than Head
	State        string // opened, merged or closed
	MergeStatus  string // of the list
	IsRebased    bool   // the head of the target is an ancestor of Head
	IsEmpty      bool   // it has no commit
	Squash       bool
	Pipelines    []Pipeline
	Statuses     map[string]string // of the head, by name
	Notes        []Said
	UpdatedAt    time.Time
	MergeError   string
	MergedAt     time.Time
	MergeCommit  string
	SquashCommit string
	// What the forge answers when the peer tries, for tests.
	RefusesMerge, RefusesRebase bool
}

func (m *Listed) has(label string) bool { return slices.Contains(m.Labels, label) }

func (m *Listed) hasAny(labels []string) bool {
	return slices.ContainsFunc(labels, m.has)
}

// isGood reports whether a merge request is approved and not held.
func (m *Listed) isGood() bool { return m.hasAny(queue.Classes) && !m.hasAny(queue.HoldLabels) }

func (m *Listed) isError() bool { return m.hasAny(queue.ErrorLabels) }

// tenants returns the labels by which the peer guesses what a merge request touches.
func (m *Listed) tenants() (out []string) {
	for _, label := range m.Labels {
		if strings.HasPrefix(label, tenant) {
			out = append(out, label)
		}
	}
	return out
}

// newest returns the pipelines, the newest first, without those that a function leaves out.
func (m *Listed) newest(isOut func(Pipeline) bool) []Pipeline {
	out := slices.Clone(m.Pipelines)
	slices.SortStableFunc(out, func(a, b Pipeline) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return slices.DeleteFunc(out, isOut)
}

func isSkipped(p Pipeline) bool { return p.Status == skipped }

func isNone(Pipeline) bool { return false }

// A Strategy says how the peer rebases.
type Strategy string

// The strategies.
const (
	OldBurst        Strategy = "old-burst"
	ActiveCap       Strategy = "active-cap"
	ActiveCapGroups Strategy = "active-cap-multi-merge"
)

// Rules are the settings of the peer for a project.
type Rules struct {
	Rebase         bool
	Wait           bool // for pipelines
	Insist         bool // try the loop again while a pipeline runs
	Groups         bool // merge several after one that was tested (multi_merge)
	Strategy       Strategy
	MergeLimit     int
	RebaseLimit    int
	FailureLimit   int
	Timeout        time.Duration // of pipelines; 0 is none
	Window         time.Duration // of a group
	People         []string      // who may label, beside the bot; nil is everybody
	Bot            string
	MustPass       []string // names of statuses
	Days           int      // until a merge request is stale
	Closing        bool
	SquashAlways   bool
	TakeConflicts  bool // look at what cannot be merged as well, as rebasing does
	IsCareful      bool // hold what has no evidence
	TargetPipeline []Pipeline
}

// Defaults returns the settings of a project that sets none.
func Defaults() Rules {
	return Rules{Wait: true, Strategy: OldBurst, MergeLimit: 8, RebaseLimit: 8, FailureLimit: 3,
		Window: 5 * time.Minute, Bot: "bot", Days: 15}
}

// A Snapshot is what a loop of the peer finds.
type Snapshot struct {
	Rules
	Requests []Listed
	Target   string   // head of the target branch
	History  []string // commits of the target branch on the first-parent line, the newest first; may be empty
	// Contains reports whether a commit has another one in its history.
	Contains func(commit, other string) bool
	Now      time.Time
}

// An Action is something that the peer does to a merge request, or to a pipeline.
type Action struct {
	Do string `json:"do"`
	Of int    `json:"of"` // number of the merge request, or id of the pipeline
}

// The actions beside "add LABEL" and "remove LABEL".
const (
	Merge       = "merge"
	Rebase      = "rebase"
	RebaseQuiet = "rebase without pipeline"
	Cancel      = "cancel pipeline"
	Close       = "close"
)

// A Held is a merge request that the peer would merge and a careful loop holds.
type Held struct {
	Number int
	Why    queue.Why
}

// A Round is what one loop does.
type Round struct {
	Actions []Action
	Insists bool   // it begins again, since a pipeline runs
	Held    []Held // in a careful loop
	Merges  []bool // whether each merge squashes
}

// A loop works on a copy of a snapshot, whose labels and states change as it acts.
type loop struct {
	Snapshot
	round Round
}

func begin(s Snapshot) *loop {
	l := &loop{Snapshot: s}
	l.Requests = slices.Clone(s.Requests)
	for i := range l.Requests {
		l.Requests[i].Labels = slices.Clone(l.Requests[i].Labels)
		if l.Requests[i].State == "" {
			l.Requests[i].State = "opened"
		}
	}
	return l
}

func (l *loop) act(do string, of int) { l.round.Actions = append(l.round.Actions, Action{do, of}) }

func (l *loop) hold(m *Listed, why queue.Why) {
	l.round.Held = append(l.round.Held, Held{m.Number, why})
}

func (l *loop) add(m *Listed, label string) {
	if !m.has(label) {
		m.Labels = append(m.Labels, label)
		l.act("add "+label, m.Number)
	}
}

func (l *loop) remove(m *Listed, label string) {
	if m.has(label) {
		m.Labels = slices.DeleteFunc(m.Labels, func(other string) bool { return other == label })
		l.act("remove "+label, m.Number)
	}
}

// in returns the merge requests of a state that have a label.
func (l *loop) in(state, label string) (out []*Listed) {
	for i := range l.Requests {
		if m := &l.Requests[i]; m.State == state && (label == "" || m.has(label)) {
			out = append(out, m)
		}
	}
	return out
}

// merge merges a merge request, if the forge lets it. All others are behind then.
func (l *loop) merge(m *Listed) bool {
	if m.RefusesMerge {
		l.add(m, MergeError)
		return false
	}
	l.act(Merge, m.Number)
	l.round.Merges = append(l.round.Merges, l.SquashAlways || m.Squash)
	m.State, m.MergedAt = "merged", l.Now
	for i := range l.Requests {
		l.Requests[i].IsRebased = false
	}
	return true
}

// cancelLate cancels pipelines that are under way for too long.
func (l *loop) cancelLate(pipelines []Pipeline) {
	for _, p := range pipelines {
		if l.Timeout > 0 && (p.Status == pending || p.Status == running) && l.Now.Sub(p.UpdatedAt) > l.Timeout {
			l.act(Cancel, p.ID)
		}
	}
}

func isRunning(p Pipeline) bool { return p.Status == running }

// isActive reports whether a pipeline is under way or green.
func isActive(p Pipeline) bool {
	return p.Status == running || p.Status == pending || p.Status == success
}
