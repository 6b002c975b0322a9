package promotions

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/integrations/saas"
	"github.com/app-sre/prcheck/integrations/saas/promotion"
)

// A Component is the targets whose promotions are one merge request, for a program that knows by
// itself what a loop asks for, such as a simulation.
type Component struct {
	Branch string // that the merge request is for
	Files  []string
	// Targets are promoted as the questions say. Their windows follow from the memory.
	Targets   []Target
	AutoMerge bool
	Patience  time.Duration
	// RetryAfter is after how long contents whose checks failed are tried once more; 0 is never.
	RetryAfter time.Duration
	Now        time.Time
	MainHead   string          // head of Branch
	Memory     json.RawMessage // of the last call; nil for none
}

// A Target is a target with what decides about its promotion.
type Target struct {
	*saas.Target
	Question promotion.Question
}

// Keep keeps the merge request of one component as a loop does. It returns what was written, in
// order, and the memory for the next call. The files are those of the places of the targets.
func Keep(ctx context.Context, forge services.ForgeWriter, of Component) (did []string, memoryAfter json.RawMessage, err error) {
	var m memory
	if of.Memory != nil {
		if err := json.Unmarshal(of.Memory, &m); err != nil {
			return nil, nil, fmt.Errorf("reading the memory: %w", err)
		}
	}
	c := &component{branch: promotion.Branch(of.Files), files: of.Files}
	w := &work{settings: settings{Branch: of.Branch, AutoMerge: of.AutoMerge, Patience: of.Patience, RetryAfter: of.RetryAfter}, env: integration.Environment{}.WithDefaults(), now: of.Now}
	for _, t := range of.Targets {
		s := &subscriber{key: keyOf(t.Target), targets: []*saas.Target{t.Target}, q: t.Question, asked: true}
		at := m.window(of.Now)
		s.q.Now, s.q.Last, s.q.MaxGap = of.Now, at.last, at.gap
		s.d = promotion.Decide(s.q)
		c.subscribers = append(c.subscribers, s)
	}
	heads, err := forge.Branches(ctx, c.branch)
	if err != nil {
		return nil, of.Memory, err
	}
	open, err := forge.MergeRequests(ctx, c.branch)
	if err != nil {
		return nil, of.Memory, err
	}
	k := &keeper{settings: w.settings, forge: forge, now: of.Now, mainHead: of.MainHead, branch: c.branch, head: heads[c.branch], memory: m}
	if len(open) > 0 {
		k.open = &open[0]
	}
	k.wants, _ = w.wants(c, k.open, k.memory)
	err = k.keep(ctx)
	w.afterwards(c, k, err == nil)
	memoryAfter, errMemory := json.Marshal(k.memory)
	if err == nil {
		err = errMemory
	}
	return k.did, memoryAfter, err
}
