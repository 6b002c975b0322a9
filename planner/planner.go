package planner

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/app-sre/prcheck/affected"
	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner/rules"
	"github.com/app-sre/prcheck/schemafilter"
	"github.com/app-sre/prcheck/trace"
)

// An Input is all that a plan depends on.
type Input struct {
	Base, Head       *bundle.Bundle
	BaseRef, HeadRef string // what the plan calls them; no absolute paths
	Settings         *integration.Settings
	// ReadQuery returns the text of a query file that the settings name.
	ReadQuery func(path string) ([]byte, error)
	// Programs digests what a command's words name where it starts, "" when that is
	// nothing: the command is another one when they are. The error says of what it
	// cannot be known; then nothing that the command did before counts. nil: nothing
	// is looked at.
	Programs func(argv []string) (string, error)
	// Natives are the integrations that are part of the program.
	Natives []integration.Native
	// Traces are what is remembered of tasks that passed; nil: nothing.
	Traces Traces
	// BaseServer and HeadServer answer in place of the embedded engine, when the
	// bundles are those of a live server.
	BaseServer, HeadServer affected.Answerer
	// Edits are the changes that head makes to the rules by which it is planned.
	Edits rules.Edits
	// Estimates tell how long tasks take; nil: nobody knows.
	Estimates Estimates
	// Results are what is remembered of tasks that passed; nil: nothing, and then
	// no task is left out because of one.
	Results Results
}

// Estimates tell how long a task takes, in seconds: half of its runs, and nine
// tenths of them, take no longer. They say 0 when they do not know. The same
// input must have the same estimates.
type Estimates interface {
	Seconds(ctx context.Context, integration, shard string) (p50, p90 float64)
}

// Traces remember what tasks asked while they passed.
type Traces interface {
	// Load returns the traces of a task, the newest first, and says what could
	// not be used.
	Load(ctx context.Context, of trace.Subject) (traces []*trace.Trace, ignored []string)
	// Broken returns why the promise that an integration always asks the same
	// does not count, "" when it does.
	Broken(ctx context.Context, integration string) string
}

// Results remember which tasks passed.
type Results interface {
	// Passed tells whether a task passed with these inputs, and never failed with
	// them, and when it last began to; what began longer ago than that does not
	// count.
	Passed(ctx context.Context, t plan.Task, within time.Duration) (began time.Time, ok bool)
}

// Make decides about every integration and returns the sealed plan. An error
// means that the input is wrong: two integrations of one name, settings that
// name what does not exist, a query that neither side accepts. Settings errors
// are of the type [integration.SettingsError], with their line.
func Make(ctx context.Context, in Input) (*plan.Plan, error) {
	m, err := newMaker(in)
	if err != nil {
		return nil, err
	}
	p := &plan.Plan{
		Base:     side(in.BaseRef, in.Base),
		Head:     side(in.HeadRef, in.Head),
		Config:   in.Settings.Digest(),
		Changes:  changes(m.diff),
		Warnings: m.warnings(),
	}
	for _, o := range m.outcomes() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d, tasks := m.decide(ctx, o)
		p.Warnings = append(p.Warnings, m.ignored...)
		m.ignored = nil
		p.Integrations = append(p.Integrations, d)
		p.Tasks = append(p.Tasks, tasks...)
		p.Warnings = append(p.Warnings, m.warn(o, d, tasks)...)
	}
	p.Warnings = append(p.Warnings, edited(p.Integrations)...)
	p.Warnings = append(p.Warnings, unstartable(p.Tasks)...)
	if err := ctx.Err(); err != nil { // doubts may come from this alone
		return nil, err
	}
	return p, p.Seal()
}

// Check tells whether a plan can be made at all: its error is what that of [Make]
// would be.
func Check(in Input) error {
	_, err := newMaker(in)
	return err
}

// A maker is an input with what is worked out once.
type maker struct {
	Input
	diff       *bundle.Diff
	world      *affected.World
	base, head []integration.Definition
	subjects   map[string]affected.Subject // of the integrations whose state can be told
	natives    map[string]integration.Native
	divisions  map[string]division // by integration, as far as they were asked for
	covered    map[ruledKey]string // likewise, see ruled
	ignored    []string            // traces that could not be used, of the integration at hand
	anyAge     bool                // results are asked for whenever they are of
	contents   func() [2]string
	types      func() [2]string
}

func newMaker(in Input) (*maker, error) {
	m := &maker{
		Input: in, subjects: map[string]affected.Subject{}, natives: map[string]integration.Native{},
		divisions: map[string]division{}, covered: map[ruledKey]string{},
	}
	var err error
	if m.base, err = integration.List(in.Base); err != nil {
		return nil, fmt.Errorf("base: %w", err)
	}
	if m.head, err = integration.List(in.Head); err != nil {
		return nil, fmt.Errorf("head: %w", err)
	}
	for _, n := range in.Natives {
		m.natives[n.Name()] = n
	}
	if err := m.checkNames(); err != nil {
		return nil, err
	}
	m.diff = bundle.Compare(in.Base, in.Head)
	m.world = affected.NewWorld(in.Base, in.Head, m.diff)
	if in.BaseServer != nil && in.HeadServer != nil {
		m.world.Ask(in.BaseServer, in.HeadServer)
	}
	m.contents = sync.OnceValue(func() [2]string { return [2]string{in.Base.ContentsSHA256(), in.Head.ContentsSHA256()} })
	m.types = sync.OnceValue(func() [2]string { return [2]string{in.Base.TypesSHA256(), in.Head.TypesSHA256()} })
	return m, m.makeSubjects()
}

func (m *maker) readable(name string) bool {
	_, ok := m.subjects[name]
	return ok
}

// decide climbs the remaining rungs and makes the tasks.
func (m *maker) decide(ctx context.Context, o schemafilter.Outcome) (plan.Decision, []plan.Task) {
	d, s := m.climb(ctx, o)
	tasks := m.reuse(ctx, o, s, &d, m.tasks(ctx, o, &d))
	d.Tasks = []string{}
	for i, t := range tasks {
		d.Tasks = append(d.Tasks, t.ID)
		if m.Estimates != nil {
			tasks[i].EstimateSeconds, tasks[i].EstimateP90 = m.Estimates.Seconds(ctx, t.Integration, t.Label())
		}
	}
	return d, tasks
}

// climb climbs the rungs that look at desired states and traces. It returns what
// tells the desired state, too; the zero value when nothing does.
func (m *maker) climb(ctx context.Context, o schemafilter.Outcome) (plan.Decision, affected.Subject) {
	d, s := o.Decision, m.subjects[o.Name]
	switch {
	case !o.Decided:
		m.world.Judge(ctx, s, o.Selected, &d)
	case m.recallable(o):
		s = m.recall(ctx, o, &d)
	}
	return d, s
}

func side(ref string, b *bundle.Bundle) plan.Side {
	return plan.Side{Ref: ref, SHA256: b.SHA256(), Commit: b.Commit()}
}

// changes writes a comparison down for the plan.
func changes(d *bundle.Diff) plan.Changes {
	c := plan.Changes{Datafiles: []plan.Datafile{}, Resources: []plan.Resource{}, Schemas: []string{}, GraphQL: []string{}}
	for _, f := range d.Datafiles {
		c.Datafiles = append(c.Datafiles, datafile(f))
	}
	for _, f := range d.Resources {
		_, now := schemas(f)
		c.Resources = append(c.Resources, plan.Resource{Path: string(f.Path), Schema: now, Kind: plan.Kind(f.Kind.String())})
	}
	for _, s := range d.Schemas {
		c.Schemas = append(c.Schemas, string(s))
	}
	c.GraphQL = append(c.GraphQL, d.GraphQL...)
	return c
}

func datafile(f bundle.Change) plan.Datafile {
	old, now := schemas(f)
	if old == now {
		old = ""
	}
	return plan.Datafile{Path: string(f.Path), Schema: now, OldSchema: old, Kind: plan.Kind(f.Kind.String()), Fields: f.Fields}
}

// schemas returns the schema of a changed file before the change, and that of
// head, or of base when head removes it.
func schemas(f bundle.Change) (old, now string) {
	if f.Old != nil {
		old = string(f.Old.Schema)
	}
	now = old
	if f.New != nil {
		now = string(f.New.Schema)
	}
	if f.Old == nil {
		old = now
	}
	return old, now
}

// Changes compares two bundles and writes the result down as a plan does.
func Changes(base, head *bundle.Bundle) plan.Changes { return changes(bundle.Compare(base, head)) }
