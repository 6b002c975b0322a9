package rounds

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/findings"
)

// The bounds of a report.
const (
	maxSteps    = 10_000  // also of units
	maxFindings = 5_000   // of each severity
	maxErrors   = 1_000   // lines
	maxRaw      = 1 << 20 // bytes of a text before it is cleaned
	maxText     = 2_000   // bytes of a text
)

// A collector gathers what an integration reports in one round. Several goroutines may use it.
type collector struct {
	masker  *mask.Masker
	journal func(integration.Deed) // may be nil

	mu           sync.Mutex
	steps        []Step
	moreSteps    int
	counts       map[stepKind]int
	findings     map[plan.Severity][]Located
	severities   map[plan.Severity]int
	moreFindings int
	fails        bool // a finding fails the round
	standings    []integration.Standing
	moreUnits    int
	flows        []integration.Flow
}

func newCollector(m *mask.Masker, journal func(integration.Deed)) *collector {
	return &collector{masker: m, journal: journal, counts: map[stepKind]int{}, findings: map[plan.Severity][]Located{},
		severities: map[plan.Severity]int{}}
}

// clean returns a text that can be shown: masked, in one line, and not too long.
func (c *collector) clean(text string) string {
	if len(text) > maxRaw {
		return fmt.Sprintf("(a text of %d bytes)", len(text))
	}
	text = sanitize.Line(c.masker.Text(text))
	return phrase.Cut(text, maxText)
}

// lines returns the lines of an error, cleaned.
func (c *collector) lines(err error) []string {
	out := []string{}
	if err == nil {
		return out
	}
	for line := range strings.Lines(err.Error()) {
		line = c.clean(line)
		switch {
		case line == "" || slices.Contains(out[max(0, len(out)-1):], line):
		case len(out) == maxErrors:
			return append(out, "and more")
		default:
			out = append(out, line)
		}
	}
	return out
}

// deed returns a step that can be shown.
func (c *collector) deed(d integration.Deed) integration.Deed {
	for _, text := range []*string{&d.Shard, &d.Key, &d.Action, &d.Status, &d.Error, &d.File, &d.Pointer} {
		*text = c.clean(*text)
	}
	d.Changes = c.changes(d.Changes)
	return d
}

// did takes a step that was taken. It is the function Did of the actors.
func (c *collector) did(d integration.Deed) {
	d = c.deed(d)
	if c.journal != nil {
		c.journal(d)
	}
	c.add(Step{Deed: d})
}

// report takes a finding or an effect. It is the function Report of the environment.
func (c *collector) report(f integration.Remark) {
	if f.Unlooked != nil { // only a check of a change has such parts
		return
	}
	if f.Effect != nil {
		action := cmp.Or(f.Action, string(f.Effect.Kind))
		d := integration.Deed{Shard: f.Shard, Key: f.Effect.Subject, Action: action, Status: planned, File: f.File,
			Pointer: f.Pointer, Changes: f.Effect.Changes}
		c.add(Step{Deed: c.deed(d), Reason: c.clean(f.Message)})
		return
	}
	out := f.Finding
	if !out.Code.IsValid() {
		out.Code = ""
	}
	if !out.Severity.IsValid() {
		out.Severity = plan.SeverityError
	}
	for _, text := range []*string{&out.File, &out.Pointer, &out.Message} {
		*text = c.clean(*text)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.severities[out.Severity]++
	c.fails = c.fails || out.Fails()
	if len(c.findings[out.Severity]) == maxFindings {
		c.moreFindings++
		return
	}
	c.findings[out.Severity] = append(c.findings[out.Severity], Located{Finding: out})
}

// stand takes how a unit of work stands. It is the function Stand of the environment.
func (c *collector) stand(s integration.Standing) {
	for _, text := range []*string{&s.Key, &s.State, &s.Hold} {
		*text = c.clean(*text)
	}
	s.Reasons = slices.Clone(s.Reasons)
	for i := range s.Reasons {
		s.Reasons[i] = c.clean(s.Reasons[i])
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.standings) == maxSteps {
		c.moreUnits++
		return
	}
	c.standings = append(c.standings, s)
}

// maxFlows is how many flows a round keeps.
const maxFlows = 1_000

// pass takes how commits stand. It is the function Pass of the environment.
func (c *collector) pass(f integration.Flow) {
	f.Source = c.clean(f.Source)
	f.Stages = slices.Clone(f.Stages)
	for i := range f.Stages {
		f.Stages[i] = c.clean(f.Stages[i])
	}
	f.Commits = slices.Clone(f.Commits)
	for i := range f.Commits {
		is := &f.Commits[i]
		is.SHA, is.Passes = c.clean(is.SHA), slices.Clone(is.Passes)
		for j := range is.Passes {
			is.Passes[j].Why = c.clean(is.Passes[j].Why)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.flows) < maxFlows {
		c.flows = append(c.flows, f)
	}
}

func (c *collector) add(s Step) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[stepKind{s.Action, s.Status}]++
	if len(c.steps) == maxSteps {
		c.moreSteps++
		return
	}
	c.steps = append(c.steps, s)
}

// fill puts everything that was gathered into a report, in an order that does not depend on
// goroutines. The function where names places for people.
func (c *collector) fill(ctx context.Context, r *Report, where func(ctx context.Context, file, pointer string) string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.Steps = append([]Step{}, c.steps...)
	slices.SortStableFunc(r.Steps, func(a, b Step) int {
		return cmp.Or(strings.Compare(a.Shard, b.Shard), strings.Compare(a.Key, b.Key), strings.Compare(a.Action, b.Action),
			strings.Compare(a.Status, b.Status))
	})
	r.Findings = []Located{}
	for _, severity := range plan.Severities() {
		list := slices.Clone(c.findings[severity])
		slices.SortStableFunc(list, func(a, b Located) int { return findings.Compare(a.Finding, b.Finding) })
		r.Findings = append(r.Findings, list...)
	}
	r.MoreSteps, r.MoreFindings = c.moreSteps, c.moreFindings
	r.Units, r.MoreUnits = slices.Clone(c.standings), c.moreUnits
	slices.SortStableFunc(r.Units, func(a, b integration.Standing) int { return strings.Compare(a.Key, b.Key) })
	r.stepCounts, r.findCounts = c.counts, c.severities
	if where == nil {
		return
	}
	for i := range r.Steps {
		r.Steps[i].Where = where(ctx, r.Steps[i].File, r.Steps[i].Pointer)
	}
	for i := range r.Findings {
		r.Findings[i].Where = where(ctx, r.Findings[i].File, r.Findings[i].Pointer)
	}
}

// didSomething reports whether a step was done.
func (c *collector) didSomething() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for kind := range c.counts {
		if kind.status == string(reconcile.StatusDone) {
			return true
		}
	}
	return false
}
