package promotions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/promotion"
	"github.com/app-sre/prcheck/natives/saas/schedule"
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
	w := &work{asker: &asker{}, settings: ownSettings{Branch: of.Branch, AutoMerge: of.AutoMerge, Patience: of.Patience,
		RetryAfter: of.RetryAfter}, env: integration.Environment{}.WithDefaults(),
		forge: forge, mainHead: of.MainHead, now: of.Now, remembered: remembered, heads: map[string]string{},
		open: map[string]*services.MergeRequest{}}
	w.act = &integration.Actors{Did: func(d integration.Deed) {
		if d.Status == string(reconcile.StatusDone) {
			did = append(did, d.Action)
		}
	}}
	for _, t := range of.Targets {
		w.all = append(w.all, &subscriber{key: keyOf(t.Target), targets: []*saas.Target{t.Target},
			q: t.Question, asked: true})
	}
	w.findComponents()
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

// A component is subscribers whose changes are one merge request.
type component struct {
	branch      string
	files       []string
	subscribers []*subscriber
	whole       *component // that it is a part of, nil if it is none
	together    bool       // its targets move together or not at all

	err   error
	hold  string
	code  promotion.Code // of the hold
	opens time.Time      // when it ends; zero if nobody knows
}

func compareText(a, b string) int { return strings.Compare(a, b) }

// findComponents divides the subscribers into components.
func (w *work) findComponents() {
	for _, c := range stagesOf(w.settings, w.all) {
		w.components = append(w.components, w.divide(c)...)
	}
}

// readForge reads our branches and open merge requests. Those of components that are gone become
// components without subscribers.
func (w *work) readForge(ctx context.Context) error {
	var err error
	if w.heads, err = w.forge.Branches(ctx, promotion.BranchPrefix); err != nil {
		return err
	}
	main, err := w.forge.Branches(ctx, w.settings.Branch)
	if err != nil {
		return err
	}
	if w.mainHead = main[w.settings.Branch]; w.mainHead == "" {
		return fmt.Errorf("the project has no branch %s", w.settings.Branch)
	}
	open, err := w.forge.MergeRequests(ctx, promotion.BranchPrefix)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, c := range w.components {
		known[c.branch] = true
	}
	gone := func(branch string) {
		if isPromotion(branch) && !known[branch] {
			known[branch] = true
			w.components = append(w.components, &component{branch: branch})
		}
	}
	w.open = map[string]*services.MergeRequest{}
	for i := range open {
		w.open[open[i].Branch] = &open[i]
		gone(open[i].Branch)
	}
	for branch, head := range w.heads {
		gone(branch)
		if of, is := strings.CutSuffix(branch, services.UnfinishedSuffix); is && isPromotion(of) {
			if err := w.forge.DeleteBranch(ctx, branch, head); err != nil && !errors.Is(err, services.ErrBranchMoved) {
				return err
			}
		}
	}
	slices.SortFunc(w.components, func(a, b *component) int { return compareText(a.branch, b.branch) })
	return nil
}

// keep keeps all merge requests, one after the other, and returns the errors.
func (w *work) keep(ctx context.Context) []error {
	var errs []error
	for _, c := range slices.Clone(w.components) {
		errs = append(errs, w.keepComponent(ctx, c, false)...)
	}
	return errs
}

// keepComponent keeps the merge request of a component, and those of its halves if it falls apart: then it is
// replaced by them.
func (w *work) keepComponent(ctx context.Context, c *component, replaced bool) []error {
	if err := ctx.Err(); err != nil {
		return []error{fmt.Errorf("%s: %w", c.branch, err)}
	}
	if err := w.deaf[c.branch]; err != nil {
		c.err = fmt.Errorf("%s: what people did is not known, so nothing changes: %w", c.branch, err)
		return []error{c.err}
	}
	k := &keeper{settings: w.settings, forge: w.forge, now: w.now, mainHead: w.mainHead, branch: c.branch,
		head: w.heads[c.branch],
		open: w.open[c.branch], memory: w.remembered[c.branch], replaced: replaced, past: w.past[c.branch],
		forbids: w.forbids, reasons: w.reasons(c), background: w.background}
	unsure := false
	k.wants, unsure = w.wants(c, k.open, k.memory)
	err := w.keepOne(ctx, c, k, unsure)
	if err == nil && k.halves != nil {
		return w.halve(ctx, c, k.halves)
	}
	if err == nil && c.whole != nil && !unsure && len(k.wants) == 0 {
		err = w.join(ctx, c)
	}
	c.hold, c.code, c.opens = k.hold, k.code, k.opens
	var errs []error
	if c.err = errors.Join(append(k.dropped, err)...); c.err != nil {
		errs = append(errs, fmt.Errorf("%s: %w", strings.Join(append(slices.Clone(c.files), c.branch), " "), c.err))
	}
	w.deeds(c, k, err)
	return errs
}

// keepOne keeps one merge request, and remembers what was done even if it failed half-way.
func (w *work) keepOne(ctx context.Context, c *component, k *keeper, unsure bool) error {
	var err error
	if !unsure || len(k.wants) > 0 {
		err = k.keep(ctx)
	}
	w.afterwards(c, k, err == nil)
	return errors.Join(err, w.remember(ctx, k.branch, k.memory), w.propose(ctx, k))
}

// remember remembers what is known of a branch.
func (w *work) remember(ctx context.Context, branch string, m memory) error {
	before := w.remembered[branch]
	if w.remembered[branch] = m; before.equal(m) || w.act.State == nil {
		return nil
	}
	return updateDocument(context.WithoutCancel(ctx), w.act.State, componentsKey, func(of map[string]memory) {
		if of[branch] = m; m.equal(memory{}) {
			delete(of, branch)
		}
	})
}

// afterwards notes what a loop did about the windows of a component.
func (w *work) afterwards(c *component, k *keeper, through bool) {
	k.memory.begins(w.settings, c)
	if w.windowOpen(c) {
		k.memory.used(w.now, through)
	}
}

// windowOpen reports whether a window of a component is open that must be noted as used.
func (w *work) windowOpen(c *component) bool {
	for _, s := range c.subscribers {
		if !s.hasWindow() {
			continue
		}
		at, err := schedule.Parse(s.q.Schedule)
		if err != nil {
			continue
		}
		if open, _ := at.Window(w.now, s.q.Last, s.q.MaxGap); open {
			return true
		}
	}
	return false
}

// with returns an entry of a description with what only the data say.
func (e entry) with(data entry) entry {
	e.key, e.was, e.label, e.why = data.key, data.was, data.label, data.why
	return e
}

// deeds tells what was written for a component.
func (w *work) deeds(c *component, k *keeper, err error) {
	for _, action := range k.did {
		w.say(c.branch + ": " + action)
		if w.act.Did != nil {
			w.act.Did(integration.Deed{Key: c.branch, Action: action, Status: string(reconcile.StatusDone)})
		}
	}
	if k.merged > 0 {
		w.say(fmt.Sprintf("%s: merged %s after it was opened", c.branch, k.merged.Round(1e9)))
		w.env.Stand(integration.Standing{Key: c.branch, State: stateMerged, Took: k.merged})
	}
	if err != nil && w.act.Did != nil {
		w.act.Did(integration.Deed{Key: c.branch, Action: "promote", Status: string(reconcile.StatusFailed),
			Error: err.Error()})
	}
}
