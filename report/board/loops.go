package board

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/state/checks"
	"github.com/app-sre/prcheck/state/loops"
)

// The kinds of tasks for people.
const (
	kindFails   = "fails"
	kindLate    = "late"
	kindWaits   = "waits"
	kindUnknown = "unknown"
)

// A Fleet is the shards of one integration.
type Fleet struct {
	Integration string  `json:"integration"`
	Shards      []Shard `json:"shards"` // what fails first
}

// A Shard is how one shard of an integration stands.
type Shard struct {
	Name  string    `json:"name"`
	State string    `json:"state"` // fails, late, waits, unknown, in step
	Ended time.Time `json:"ended"`
}

// Resources are the units of work of an integration by their state.
type Resources struct {
	Integration string         `json:"integration"`
	States      map[string]int `json:"states"`
	More        int            `json:"more,omitempty"` // units of which only the number is known
}

// inStep is the state of a shard about which there is nothing to say.
const inStep = "in step"

// maxMissed is after how many intervals without a round a loop is late.
const maxMissed = 3

// maxAge is after how long nobody knows how the work of a loop stands that does not say how often it runs.
const maxAge = 24 * time.Hour

// isLate reports whether a loop should have made a round since.
func isLate(l loops.Loop, now time.Time) bool {
	return l.Every > 0 && now.Sub(l.Ended) > time.Duration(maxMissed*l.Every)*time.Second
}

// isStale reports whether nobody knows when a loop should have made a round since, and its last one is old.
func isStale(l loops.Loop, now time.Time) bool { return l.Every <= 0 && now.Sub(l.Ended) > maxAge }

// stateOf returns how the last round of a loop ended, for people.
func stateOf(l loops.Loop, now time.Time) string {
	switch {
	case l.Outcome != "done":
		return kindFails
	case isStale(l, now):
		return kindUnknown
	case isLate(l, now):
		return kindLate
	}
	return inStep
}

// unitState returns the word of the board for how a unit stands that its loop knows.
func unitState(l loops.Loop, u integration.Standing, now time.Time) string {
	own := ownState(u)
	switch {
	case own == kindUnknown, own == kindFails:
		return own
	case isStale(l, now):
		return kindUnknown
	case isLate(l, now):
		return kindLate
	}
	return own
}

// ownState returns the word of the board for how a unit stood at the end of the last round.
func ownState(u integration.Standing) string {
	switch {
	case u.State == "unknown":
		return kindUnknown
	case u.State == "failing", u.State == "failed":
		return kindFails
	case u.Waits:
		return kindWaits
	}
	return inStep
}

// fleets returns the shards of all integrations. A loop whose units are parts with things has a shard for each of
// them; any other loop is one shard.
func fleets(all []loops.Loop, now time.Time) []Fleet {
	at := map[string][]Shard{}
	for _, l := range all {
		parts := 0
		for _, u := range l.Units {
			if u.Things == nil && u.State != kindUnknown {
				continue
			}
			parts++
			at[l.Integration] = append(at[l.Integration], Shard{u.Key, unitState(l, u, now), l.Ended})
		}
		if parts == 0 || stateOf(l, now) == kindFails && !hasState(at[l.Integration], kindFails) {
			at[l.Integration] = append(at[l.Integration], Shard{loopName(l), stateOf(l, now), l.Ended})
		}
	}
	var out []Fleet
	for _, name := range slices.Sorted(maps.Keys(at)) {
		shards := at[name]
		slices.SortStableFunc(shards, func(a, b Shard) int {
			return cmp.Or(rank(a.State)-rank(b.State), strings.Compare(a.Name, b.Name))
		})
		out = append(out, Fleet{name, shards})
	}
	return out
}

func hasState(shards []Shard, state string) bool {
	return slices.ContainsFunc(shards, func(s Shard) bool { return s.State == state })
}

// rank returns the place of a state in the order of what people need first.
func rank(state string) int {
	return slices.Index([]string{kindFails, kindUnknown, kindLate, kindWaits, inStep}, state)
}

// loopName returns the name of a loop among those of its integration.
func loopName(l loops.Loop) string {
	out := l.Shard
	if l.Static != "" {
		out = strings.TrimSpace(out + " " + l.Static)
	}
	return cmp.Or(out, "all shards")
}

// resources returns what the loops keep, by its state.
func resources(all []loops.Loop) []Resources {
	at := map[string]*Resources{}
	for _, l := range all {
		r := at[l.Integration]
		if r == nil {
			r = &Resources{Integration: l.Integration, States: map[string]int{}}
			at[l.Integration] = r
		}
		r.More += l.MoreUnits
		for _, u := range l.Units {
			for state, n := range u.Things {
				r.States[state] += n
			}
			if u.Things == nil {
				r.States[u.State]++
			}
		}
	}
	var out []Resources
	for _, name := range slices.Sorted(maps.Keys(at)) {
		if r := at[name]; len(r.States)+r.More > 0 {
			out = append(out, *r)
		}
	}
	return out
}

// tasks returns what stays as it is until somebody acts, the oldest first.
func tasks(b *Board, in Input) []Task {
	var out []Task
	for _, l := range in.Loops {
		out = append(out, loopTasks(l, in.Now)...)
	}
	for _, c := range b.Checks {
		if c.Status == checks.Failed || c.Status == checks.NotChecked {
			out = append(out, Task{Kind: kindFails, What: "check of " + c.MergeRequest, Since: c.Written,
				Do: fmt.Sprintf("%s of the change failed; its note says why", phrase.Count(c.Counts.Failed, "task"))})
		}
	}
	for _, m := range in.Misses {
		if m.IsOpen() {
			out = append(out, Task{Kind: kindFails, What: fmt.Sprintf("skips of %s at %s", m.Integration, m.Rung),
				Since: m.First, Do: cmp.Or(m.Remedy, "an audit found a wrong skip: mend its cause") + "; then confirm it"})
		}
	}
	slices.SortStableFunc(out, func(a, b Task) int {
		return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.What, b.What))
	})
	return out
}

// loopTasks returns what of a loop needs somebody.
func loopTasks(l loops.Loop, now time.Time) []Task {
	var out []Task
	name := l.Integration + ", " + loopName(l)
	switch stateOf(l, now) {
	case kindFails:
		do := "see its log"
		if len(l.Errors) > 0 {
			do = l.Errors[0]
		}
		out = append(out, Task{Kind: kindFails, What: name, Since: l.Good, Do: do})
	case kindLate:
		out = append(out, Task{Kind: kindLate, What: name, Since: l.Ended,
			Do: "its rounds come every " + span(time.Duration(l.Every)*time.Second) + ": see whether it runs"})
	case kindUnknown:
		out = append(out, Task{Kind: kindUnknown, What: name, Since: l.Ended, Do: "its last round ended " +
			ago(now, l.Ended) + ", and nobody knows when the next is due: see whether it runs"})
	}
	for _, u := range l.Units {
		kind := ownState(u)
		if kind == inStep {
			continue
		}
		do := cmp.Or(u.Hold, "it is "+u.State)
		out = append(out, Task{Kind: kind, What: l.Integration + ": " + u.Key, Since: u.Since, Until: u.Opens, Do: do})
	}
	for _, f := range l.Flows {
		for _, c := range f.Commits {
			for i, p := range c.Passes {
				if p.State == "proposed" {
					out = append(out, Task{Kind: kindWaits, What: fmt.Sprintf("%.12s to %s", c.SHA, f.Stages[i]),
						Until: p.Until, Do: cmp.Or(p.Why, "its merge request waits for approval")})
				}
			}
		}
	}
	return out
}
