package promotions

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/ledger"
	"github.com/app-sre/prcheck/natives/saas/promotion"
)

// The bounds of a flow.
const (
	maxFlowCommits = 20 // those that run somewhere, or wait, are not left out up to maxKeptCommits
	maxKeptCommits = 50
	maxFlowStages  = 50
)

// A passed target is one that commits pass: a subscriber, or a target that publishes to one.
type passed struct {
	target *saas.Target
	of     *subscriber // nil for a target that is not promoted
	wait   promotion.Decision
	due    bool // a merge request promotes it, or is about to
	number int  // of the merge request, 0 if it was not open when the loop began
	depth  int  // how many stages come before it
	book   *ledger.Book
	err    error // why the book is not known
}

// name returns the name of the stage for people.
func (s *passed) name() string {
	if s.of != nil {
		return s.of.label()
	}
	return s.target.Label()
}

// tellFlows tells how commits stand at the stages that they pass, for each repository that stages are made of.
func (w *work) tellFlows(ctx context.Context) {
	if w.asker == nil || w.asker.books == nil {
		return
	}
	bySource := map[string][]*passed{}
	for _, s := range w.stages(ctx) {
		url := s.target.Template.URL
		bySource[url] = append(bySource[url], s)
	}
	for _, url := range slices.Sorted(maps.Keys(bySource)) {
		stages := bySource[url]
		slices.SortStableFunc(stages, func(a, b *passed) int {
			if a.depth != b.depth {
				return a.depth - b.depth
			}
			return strings.Compare(a.name(), b.name())
		})
		w.env.Pass(w.flow(url, stages[:min(len(stages), maxFlowStages)]))
	}
}

// stages returns all subscribers and their publishers.
func (w *work) stages(ctx context.Context) []*passed {
	at := map[string]*passed{}
	var out []*passed
	add := func(s *passed) {
		if at[s.target.UID()] != nil {
			return
		}
		at[s.target.UID()] = s
		s.book, s.err = promotion.OwnBook(ctx, w.asker.records, w.asker.books, s.target)
		out = append(out, s)
	}
	for _, c := range w.components {
		for _, s := range c.subscribers {
			state := w.stateOf(c, s)
			is := &passed{target: s.target(), of: s, wait: w.wait(c, s), due: state == stateOpen || state == stateWanted}
			if m := w.open[c.branch]; m != nil && is.due {
				is.number = m.Number
			}
			add(is)
		}
	}
	for _, s := range slices.Clone(out) {
		for _, p := range w.asker.publishers(s.target) {
			add(&passed{target: p})
		}
	}
	for _, s := range out {
		s.depth = w.depth(s, at, map[*passed]bool{})
	}
	return out
}

// depth returns how many stages come before one. Stages that publish to each other come before nobody.
func (w *work) depth(s *passed, at map[string]*passed, seen map[*passed]bool) int {
	if s.of == nil || seen[s] || s.target.Promotion == nil {
		return 0
	}
	seen[s] = true
	out := 0
	for _, p := range w.asker.publishers(s.target) {
		if before := at[p.UID()]; before != nil && before != s {
			out = max(out, 1+w.depth(before, at, seen))
		}
	}
	delete(seen, s)
	return out
}

// flow returns how the commits of a repository stand at its stages.
func (w *work) flow(url string, stages []*passed) integration.Flow {
	out := integration.Flow{Source: url}
	var branches [][]string
	for _, s := range stages {
		out.Stages = append(out.Stages, s.name())
		if s.of != nil {
			branches = append(branches, s.of.q.Branches...)
		}
	}
	order := ledger.NewOrder(branches...)
	for _, sha := range passing(stages, branches) {
		c := integration.Commit{SHA: sha}
		for _, s := range stages {
			c.Passes = append(c.Passes, s.passage(sha, order, w))
		}
		switch {
		case !isSomewhere(c):
		case len(out.Commits) < maxFlowCommits, isKept(c) && len(out.Commits) < maxKeptCommits:
			out.Commits = append(out.Commits, c)
		default:
			out.More++
		}
	}
	return out
}

// isSomewhere reports whether anything is to be said about a commit.
func isSomewhere(c integration.Commit) bool {
	return slices.ContainsFunc(c.Passes, func(p integration.Passage) bool {
		return p.State != integration.NotYet && p.State != integration.Replaced && p.State != integration.NotKnown
	})
}

// isKept reports whether a commit runs somewhere, or waits.
func isKept(c integration.Commit) bool {
	return slices.ContainsFunc(c.Passes, func(p integration.Passage) bool {
		return slices.Contains([]integration.PassageState{integration.Live, integration.Verifying, integration.Waits,
			integration.Proposed, integration.Wanted}, p.State)
	})
}

// passing returns the commits of branches, newest first, and then those that only the stages name.
func passing(stages []*passed, branches [][]string) []string {
	var out []string
	has := map[string]bool{"": true}
	add := func(list ...string) {
		for _, sha := range list {
			if !has[sha] {
				has[sha], out = true, append(out, sha)
			}
		}
	}
	for _, b := range branches {
		add(b...)
	}
	for _, s := range stages {
		if s.of != nil {
			add(s.wait.Commit, s.of.d.Ref, s.of.q.Ref)
		}
		add(s.book.Commits()...)
		add(slices.Sorted(maps.Keys(s.book.Standing().Rejected))...)
	}
	return out
}

// passage returns how a commit stands at a stage.
func (s *passed) passage(sha string, order ledger.Order, w *work) integration.Passage {
	if s.err != nil {
		return integration.Passage{State: integration.NotKnown, Why: s.err.Error()}
	}
	if e, is := s.book.Standing().Rejected[sha]; is {
		why := e.Why
		if e.Who != "" {
			why = strings.TrimSuffix("by "+e.Who+": "+why, ": ")
		}
		return integration.Passage{State: integration.Declined, Why: why}
	}
	if s.book != nil {
		if p := s.ranHere(sha, order, w); p.State != integration.NotYet {
			return p
		}
	}
	switch {
	case s.of == nil:
	case s.due && s.of.d.Ref == sha && sha != s.of.q.Ref:
		why := s.wait.Hold
		if s.number != 0 {
			why = strings.TrimSuffix(fmt.Sprintf("!%d: %s", s.number, why), ": ")
		}
		return integration.Passage{State: integration.Proposed, Code: string(s.wait.Code), Until: s.wait.Opens, Why: why}
	case s.wait.Code != "" && s.wait.Commit == sha:
		return integration.Passage{State: integration.Waits, Code: string(s.wait.Code), Why: s.wait.Hold,
			Until: s.wait.Opens}
	case s.of.q.Ref == sha:
		return integration.Passage{State: integration.Wanted}
	}
	if s.book != nil && order.Newer(s.book.Newest(), sha) {
		return integration.Passage{State: integration.Replaced}
	}
	return integration.Passage{}
}

// ranHere returns how a commit stands at a stage that ran it, and nothing if it did not.
func (s *passed) ranHere(sha string, order ledger.Order, w *work) integration.Passage {
	stay := s.book.Stay(sha, order, w.now, false)
	seconds := int64(stay.Ran.Seconds())
	isLast := s.book.Newest() == sha
	switch {
	case stay.Checking:
		return integration.Passage{State: integration.Verifying, Until: stay.Until}
	case stay.Bad != ledger.NotBad:
		return integration.Passage{State: integration.Bad, Code: string(stay.Bad), Why: s.whyBad(sha)}
	case isLast && stay.Well:
		return integration.Passage{State: integration.Live, Ran: seconds}
	case isLast:
		return integration.Passage{State: integration.NotKnown, Why: "nobody knows how its run ended"}
	case s.book.Ran(sha):
		return integration.Passage{State: integration.RanWell, Ran: seconds}
	}
	return integration.Passage{}
}

// whyBad returns why the last run of a commit failed, if the stage knows.
func (s *passed) whyBad(sha string) string {
	for _, r := range slices.Backward(s.book.Runs) {
		if r.Commit == sha {
			return r.Why
		}
	}
	return ""
}
