package promotions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/promotion"
)

// A Component is the targets whose promotions are one merge request, for a program that knows by
// itself what a loop asks for, such as a simulation.
type Component struct {
	Branch string // that the merge request is for
	Files  []string
	// Targets are promoted as the questions say. Their windows follow from the memory.
	Targets   []Candidate
	AutoMerge bool
	Patience  time.Duration
	// RetryAfter is after how long contents whose checks failed are tried once more; 0 is never.
	RetryAfter time.Duration
	Now        time.Time
	MainHead   string          // head of Branch
	Memory     json.RawMessage // of the last call; nil for none
}

// A Candidate is a target with what decides about its promotion.
type Candidate struct {
	*saas.Target
	Question promotion.Question
}

// Keep keeps the merge request of one component as a loop does, and those of its parts if it falls apart. It returns
// what was written, in order, and the memory for the next call. The files are those of the places of the targets.
func Keep(ctx context.Context, forge services.ForgeWriter,
	of Component) (did []string, memoryAfter json.RawMessage, err error) {
	remembered := map[string]memory{}
	if of.Memory != nil {
		if err := json.Unmarshal(of.Memory, &remembered); err != nil {
			return nil, nil, fmt.Errorf("reading the memory: %w", err)
		}
	}
	c := &component{branch: promotion.Branch(of.Files), files: of.Files}
	w := &work{settings: ownSettings{Branch: of.Branch, AutoMerge: of.AutoMerge, Patience: of.Patience,
		RetryAfter: of.RetryAfter}, env: integration.Environment{}.WithDefaults(),
		forge: forge, mainHead: of.MainHead, now: of.Now, remembered: remembered, heads: map[string]string{},
		open: map[string]*services.MergeRequest{}}
	w.act = &integration.Actors{Did: func(d integration.Deed) {
		if d.Status == string(reconcile.StatusDone) {
			did = append(did, d.Action)
		}
	}}
	for _, t := range of.Targets {
		c.subscribers = append(c.subscribers, &subscriber{key: keyOf(t.Target), targets: []*saas.Target{t.Target},
			q: t.Question, asked: true})
	}
	w.components = w.divide(c)
	for _, part := range w.components {
		at := remembered[part.branch].window(of.Now)
		for _, s := range part.subscribers {
			s.q.Now, s.q.Last, s.q.MaxGap = of.Now, at.last, at.gap
			s.d = promotion.Decide(s.q)
		}
		heads, err := forge.Branches(ctx, part.branch)
		if err != nil {
			return nil, of.Memory, err
		}
		open, err := forge.MergeRequests(ctx, part.branch)
		if err != nil {
			return nil, of.Memory, err
		}
		if w.heads[part.branch] = heads[part.branch]; len(open) > 0 {
			w.open[part.branch] = &open[0]
		}
	}
	err = errors.Join(w.keep(ctx)...)
	maps.DeleteFunc(remembered, func(_ string, m memory) bool { return m.equal(memory{}) })
	memoryAfter, errMemory := json.Marshal(remembered)
	return did, memoryAfter, errors.Join(err, errMemory)
}
