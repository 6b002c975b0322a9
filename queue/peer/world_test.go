package peer_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/queue"
	"github.com/app-sre/prcheck/queue/peer"
)

// now is the time of the cases, whose times are minutes from it.
var now = time.Date(2026, 8, 21, 12, 0, 0, 0, time.UTC)

func minutes(n float64) time.Time { return now.Add(time.Duration(n * float64(time.Minute))) }

// A world is the input of a case.
type world struct {
	MRs             []caseRequest
	Rebase          *bool
	Insist          bool
	Wait            *bool `json:"wait_for_pipeline"`
	MultiMerge      bool  `json:"multi_merge"`
	Strategy        peer.Strategy
	MergeLimit      *int     `json:"merge_limit"`
	RebaseLimit     *int     `json:"rebase_limit"`
	Limit           *int     // of failures
	PipelineTimeout *float64 `json:"pipeline_timeout"`
	Window          *float64 `json:"window"`
	UsersAllowed    []string `json:"users_allowed"`
	MustPass        []string `json:"must_pass"`
	SkipUnmergeable *bool    `json:"skip_unmergeable"`
	Closing         *bool
	DaysInterval    *int            `json:"days_interval"`
	SquashOption    string          `json:"squash_option"`
	BranchHead      string          `json:"branch_head"`
	BranchPipelines []casePipeline  `json:"branch_pipelines"`
	Contains        [][2]string     // a commit, and one in its history
	FirstParents    json.RawMessage `json:"first_parents"`
}

type caseRequest struct {
	IID          int
	Labels       []string
	Approved     *float64
	Events       []caseEvent
	Draft        bool
	Commits      *int
	State        string
	MergeStatus  string `json:"merge_status"`
	Rebased      bool
	SHA          string
	ListSHA      string `json:"list_sha"`
	Squash       bool
	Pipelines    []casePipeline
	Statuses     map[string]string
	Notes        []caseNote
	Updated      *float64
	MergeError   string   `json:"merge_error"`
	MergedAt     *float64 `json:"merged_at"`
	MergeCommit  string   `json:"merge_commit_sha"`
	SquashCommit string   `json:"squash_commit_sha"`
	MergeFails   string   `json:"merge_fails"`
	RebaseFails  bool     `json:"rebase_fails"`
}

type caseEvent struct {
	Label, By, Action string
	At                *float64
}

type casePipeline struct {
	Status, Source, SHA string
	At                  float64
	Updated             *float64
}

type caseNote struct {
	Body    string
	At      float64
	Updated *float64
}

// atOr returns a time of a case, or another one if the case has none.
func atOr(at *float64, other float64) time.Time {
	if at == nil {
		at = &other
	}
	return minutes(*at)
}

// snapshot returns what the peer finds in a world.
func (w world) snapshot(t *testing.T) peer.Snapshot {
	t.Helper()
	o := peer.Defaults()
	o.Insist, o.Groups, o.People, o.MustPass = w.Insist, w.MultiMerge, w.UsersAllowed, w.MustPass
	o.Strategy = peer.Strategy(cmp.Or(string(w.Strategy), string(peer.OldBurst)))
	if !slices.Contains([]peer.Strategy{peer.OldBurst, peer.ActiveCap, peer.ActiveCapGroups}, o.Strategy) {
		t.Fatalf("the strategy %q is not understood", o.Strategy)
	}
	o.RebaseLimit = 2 // of the cases
	for _, of := range []struct {
		given *int
		to    *int
	}{{w.MergeLimit, &o.MergeLimit}, {w.RebaseLimit, &o.RebaseLimit}, {w.Limit, &o.FailureLimit},
		{w.DaysInterval, &o.Days}} {
		if of.given != nil {
			*of.to = *of.given
		}
	}
	o.Rebase, o.Closing, o.Wait = isTrue(w.Rebase), isTrue(w.Closing), isTrue(w.Wait)
	o.TakeConflicts = !isTrue(w.SkipUnmergeable)
	o.SquashAlways = w.SquashOption == "always"
	if w.PipelineTimeout != nil {
		o.Timeout = now.Sub(minutes(-*w.PipelineTimeout))
	}
	if w.Window != nil {
		o.Window = now.Sub(minutes(-*w.Window))
	}
	for i, p := range w.BranchPipelines {
		o.TargetPipeline = append(o.TargetPipeline, p.pipeline(i, w.BranchHead))
	}
	s := peer.Snapshot{Rules: o, Target: w.BranchHead, Now: now, History: w.history(t)}
	s.Contains = func(commit, other string) bool { return slices.Contains(w.Contains, [2]string{commit, other}) }
	for _, m := range w.MRs {
		s.Requests = append(s.Requests, m.listed(t))
	}
	return s
}

func isTrue(given *bool) bool { return given == nil || *given }

// history returns the commits between the head of the branch and the lead: those that the head contains, the newest
// first.
func (w world) history(t *testing.T) []string {
	t.Helper()
	out := []string{w.BranchHead}
	if w.FirstParents != nil {
		shared.Words(t, w.FirstParents, &out)
		return out
	}
	for _, pair := range w.Contains {
		if pair[0] == w.BranchHead && !slices.Contains(out, pair[1]) {
			out = append(out, pair[1])
		}
	}
	slices.SortStableFunc(out, func(a, b string) int {
		switch {
		case slices.Contains(w.Contains, [2]string{a, b}):
			return -1
		case slices.Contains(w.Contains, [2]string{b, a}):
			return 1
		}
		return 0
	})
	return out
}

func (p casePipeline) pipeline(id int, head string) peer.Pipeline {
	return peer.Pipeline{ID: id, Status: p.Status, Source: p.Source, SHA: cmp.Or(p.SHA, head), CreatedAt: minutes(p.At),
		UpdatedAt: atOr(p.Updated, p.At)}
}

// listed returns a merge request as the peer finds it. Labels of which the case has no events were added by the bot.
func (m caseRequest) listed(t *testing.T) peer.Listed {
	t.Helper()
	head := cmp.Or(m.SHA, fmt.Sprintf("head%d", m.IID))
	out := peer.Listed{
		Request: queue.Request{Number: m.IID, Head: head, IsDraft: m.Draft, Labels: m.Labels},
		State:   m.State, MergeStatus: m.MergeStatus, IsRebased: m.Rebased, IsEmpty: m.Commits != nil && *m.Commits == 0,
		Squash: m.Squash, ListedHead: m.ListSHA, Statuses: m.Statuses, MergeError: m.MergeError,
		UpdatedAt: atOr(m.Updated, 0), MergedAt: atOr(m.MergedAt, 0), MergeCommit: m.MergeCommit,
		SquashCommit: m.SquashCommit, RefusesMerge: m.MergeFails != "", RefusesRebase: m.RebaseFails,
	}
	for i, p := range m.Pipelines {
		out.Pipelines = append(out.Pipelines, p.pipeline(i, head))
	}
	for _, n := range m.Notes {
		out.Notes = append(out.Notes, peer.Said{Body: n.Body, At: minutes(n.At), UpdatedAt: atOr(n.Updated, n.At)})
	}
	events := m.Events
	if events == nil {
		for _, label := range m.Labels {
			events = append(events, caseEvent{Label: label, At: m.Approved})
		}
	}
	for _, e := range events {
		if !slices.Contains([]string{"", "add", "remove"}, e.Action) {
			t.Fatalf("the action %q is not understood", e.Action)
		}
		out.Events = append(out.Events, queue.LabelEvent{Label: e.Label, By: cmp.Or(e.By, "bot"), At: atOr(e.At, -60),
			IsRemoval: e.Action == "remove"})
	}
	return out
}
