package peer_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/queue"
	"github.com/app-sre/prcheck/queue/peer"
)

// An action is one as the cases write it: what, and of which merge request or pipeline.
type action [2]any

// A loopCase is a world, and what a loop does. What is held, and what stands beside upstream, is ours.
type loopCase struct {
	Input    world
	Expected struct {
		Actions  []action
		Insists  bool
		Held     map[string]string
		Why      string
		Upstream *struct {
			Actions []action
			Insists bool
		}
		MergeArguments []struct{ Squash bool } `json:"merge_arguments"`
	}
}

// A queueCase is a world, and the queue.
type queueCase struct {
	Input    world
	Expected struct {
		Queue    []int
		Errors   []int
		Actions  []action
		Why      string
		Upstream *struct {
			Queue   []int
			Errors  []int
			Actions []action
		}
	}
}

// The queue of the peer is as the recorded cases say.
func TestQueueCases(t *testing.T) {
	shared.Each(t, "merge_queue", func(t *testing.T, c queueCase) {
		s, want := c.Input.snapshot(t), c.Expected
		if up := want.Upstream; up != nil { // then the queue is ours
			if got := lineOf(s); !slices.Equal(got, want.Queue) {
				t.Errorf("our queue %v, want %v", got, want.Queue)
			}
			want.Queue, want.Errors, want.Actions = up.Queue, up.Errors, up.Actions
		}
		got := peer.Queue(s)
		if !slices.Equal(got.Queue, want.Queue) {
			t.Errorf("queue %v, want %v", got.Queue, want.Queue)
		}
		if want.Errors != nil && !slices.Equal(got.Errors, want.Errors) {
			t.Errorf("errors %v, want %v", got.Errors, want.Errors)
		}
		compare(t, "", got.Actions, want.Actions)
	})
}

// lineOf returns the line of our queue, without those that wait for somebody.
func lineOf(s peer.Snapshot) (out []int) {
	var all []queue.Request
	for _, m := range s.Requests {
		all = append(all, m.Request)
	}
	for _, p := range queue.Line(all, s.People, s.Now) {
		if p.IsReady() {
			out = append(out, p.Number)
		}
	}
	return out
}

// Loops of the peer merge as the recorded cases say, and a careful one holds what has no evidence.
func TestLoopCases(t *testing.T) {
	for _, area := range []string{"merge_serial", "merge_group"} {
		shared.Each(t, area, func(t *testing.T, c loopCase) { holdLoop(t, c, peer.MergeAll) })
	}
}

// Loops of the peer rebase as the recorded cases say.
func TestRebaseCases(t *testing.T) {
	shared.Each(t, "merge_rebase", func(t *testing.T, c loopCase) { holdLoop(t, c, peer.RebaseAll) })
}

func holdLoop(t *testing.T, c loopCase, do func(peer.Snapshot) peer.Round) {
	t.Helper()
	s := c.Input.snapshot(t)
	if up := c.Expected.Upstream; up != nil {
		compare(t, "upstream: ", do(s).Actions, up.Actions)
		s.IsCareful = true
	}
	got := do(s)
	compare(t, "", got.Actions, c.Expected.Actions)
	if got.Insists != c.Expected.Insists {
		t.Errorf("insists %v, want %v", got.Insists, c.Expected.Insists)
	}
	held := map[string]queue.Why{}
	for _, h := range got.Held {
		held[fmt.Sprint(h.Number)] = h.Why
	}
	want := map[string]queue.Why{}
	for number, text := range c.Expected.Held {
		why, isKnown := reasons[text]
		if !isKnown {
			t.Fatalf("the reason %q is not understood", text)
		}
		want[number] = why
	}
	if !reflect.DeepEqual(held, want) {
		t.Errorf("held %v, want %v", held, want)
	}
	for i, a := range c.Expected.MergeArguments {
		if i >= len(got.Merges) || got.Merges[i] != a.Squash {
			t.Errorf("squashes %v, want %v", got.Merges, c.Expected.MergeArguments)
		}
	}
}

// reasons are why something is held, as the cases write it.
var reasons = map[string]queue.Why{
	"its head has no pipeline, and no proof that the old one's results hold": queue.NotProven,
	"its head has no proof":        queue.NotProven,
	"moved while it was looked at": queue.Moved,
	"not approved":                 queue.NotApproved,
	"draft":                        queue.IsDraft,
	"it is a draft":                queue.IsDraft,
	"its head has no pipeline":     queue.NotProven,
}

func compare(t *testing.T, whose string, got []peer.Action, want []action) {
	t.Helper()
	var all []action
	for _, a := range got {
		all = append(all, action{a.Do, float64(a.Of)})
	}
	if len(all)+len(want) > 0 && !reflect.DeepEqual(all, want) {
		t.Errorf("%sactions %v, want %v", whose, all, want)
	}
}

// Labels of errors come and go as the recorded cases say.
func TestHealthCases(t *testing.T) {
	shared.Each(t, "merge_health", func(t *testing.T, c loopCase) {
		holdLoop(t, c, func(s peer.Snapshot) peer.Round { return peer.Round{Actions: peer.Health(s)} })
	})
}

// What nobody touched is labelled and closed as the recorded cases say.
func TestStaleCases(t *testing.T) {
	shared.Each(t, "merge_stale", func(t *testing.T, c loopCase) {
		holdLoop(t, c, func(s peer.Snapshot) peer.Round { return peer.Round{Actions: peer.Stale(s)} })
	})
}

// A foreignCase is a target branch with a group, and whether the group goes on.
type foreignCase struct {
	Input    world
	Expected struct {
		Continues bool
		Upstream  *bool `json:"upstream_continues"`
		Why       string
	}
}

// Groups end as the recorded cases say when somebody else merged. A careful loop sees it also below the tip.
func TestForeignCases(t *testing.T) {
	shared.Each(t, "merge_foreign", func(t *testing.T, c foreignCase) {
		s := c.Input.snapshot(t)
		if up := c.Expected.Upstream; up != nil {
			if got := peer.GoesOn(s); got != *up {
				t.Errorf("upstream goes on: %v, want %v", got, *up)
			}
			s.IsCareful = true
		}
		if got := peer.GoesOn(s); got != c.Expected.Continues {
			t.Errorf("goes on: %v, want %v", got, c.Expected.Continues)
		}
	})
}

// A labelsCase is a change by its paths, and the labels that are guessed from them.
type labelsCase struct {
	Input struct {
		Paths         []string
		Apps          map[string]json.RawMessage
		ProjectLabels []string `json:"project_labels"`
		ParentApps    []string `json:"parent_apps"`
	}
	Expected struct {
		Labels      []string
		TouchesMore *bool `json:"touches_more_than_labels"`
		Why         string
		Upstream    *struct{ Labels []string }
	}
}

// Labels are guessed as the recorded cases say, and it is told where a change touches more than they say.
func TestLabelsCases(t *testing.T) {
	shared.Each(t, "merge_labels", holdLabels)
}

func holdLabels(t *testing.T, c labelsCase) {
	t.Helper()
	g := peer.Guess{Apps: map[string]peer.App{}, ProjectLabels: c.Input.ProjectLabels, Paths: c.Input.Paths}
	for name, raw := range c.Input.Apps {
		g.Apps[name] = app(t, raw)
	}
	for _, parent := range c.Input.ParentApps {
		g.Apps["child of "+parent] = peer.App{Parent: parent}
	}
	want := c.Expected.Labels
	if c.Expected.Upstream != nil {
		want = c.Expected.Upstream.Labels
	}
	if got := g.Labels(); !slices.Equal(got, want) {
		t.Errorf("labels %q, want %q", got, want)
	}
	if more := c.Expected.TouchesMore; more != nil && *more != g.TouchesMore() {
		t.Errorf("touches more: %v, want %v", g.TouchesMore(), *more)
	}
}

// app reads an app of a case: its status, or its status and its parent.
func app(t *testing.T, raw json.RawMessage) peer.App {
	t.Helper()
	var status string
	if json.Unmarshal(raw, &status) == nil {
		return peer.App{Onboarding: status}
	}
	var of struct {
		Onboarding string          `json:"onboardingStatus"`
		Parent     json.RawMessage `json:"parentApp"`
	}
	shared.Words(t, raw, &of)
	var parent struct{ Name string }
	if json.Unmarshal(of.Parent, &parent.Name) != nil && of.Parent != nil {
		shared.Words(t, of.Parent, &parent)
	}
	return peer.App{Onboarding: of.Onboarding, Parent: parent.Name}
}

// A careful loop takes the label of a refused merge off when somebody said something, also without any pipeline.
func TestCarefulHealth(t *testing.T) {
	m := peer.Listed{Request: queue.Request{Number: 1, Labels: []string{"lgtm", peer.MergeError},
		Events: []queue.LabelEvent{{Label: peer.MergeError, At: minutes(-30)}}}, Notes: []peer.Said{{At: minutes(-5)}}}
	s := peer.Snapshot{Rules: peer.Defaults(), Requests: []peer.Listed{m}, Now: now}
	if got := peer.Health(s); len(got) != 0 {
		t.Errorf("the peer does %v", got)
	}
	s.IsCareful = true
	if got := peer.Health(s); len(got) != 1 || got[0].Do != "remove "+peer.MergeError {
		t.Errorf("got %v", got)
	}
}
