package planner

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/app-sre/prcheck/affected"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner/proof"
	"github.com/app-sre/prcheck/planner/rules"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state/dependence"
	"github.com/app-sre/prcheck/state/trains"
	"github.com/app-sre/prcheck/trace"
)

// An Input is everything that a plan depends on.
type Input struct {
	Base, Head       *bundle.Bundle
	BaseRef, HeadRef string // the names of the bundles in the plan; no absolute paths
	// BaseFiles and HeadFiles name the files of both sides.
	BaseFiles, HeadFiles SideFiles
	Settings             *settings.Settings
	// ReadQuery returns the text of a query file that the settings name.
	ReadQuery func(path string) ([]byte, error)
	// Programs returns a digest of the repository files that a command may use, or ""
	// if it uses none. A command with another digest is another command. An error means
	// that a file cannot be read; then no earlier run of the command counts. nil: no
	// file is looked at.
	Programs func(settings.Programs) (string, error)
	// Natives are the integrations that are part of the program.
	Natives []integration.DryRunner
	// Traces hold the queries and answers of tasks that passed; nil: there are none.
	Traces Traces
	// BaseServer and HeadServer answer in place of the embedded engine, when the
	// bundles are those of a live server.
	BaseServer, HeadServer affected.Answerer
	// Edits are the changes that head makes to the rules by which it is planned.
	Edits rules.Edits
	// Estimates tell how long tasks take; nil: that is not known.
	Estimates Estimates
	// Dependences tell on what answers depend beyond the schemas that definitions allow; nil:
	// that is not known.
	Dependences Dependences
	// Results tell which tasks passed before; nil: that is not known, and no task is
	// left out because it passed.
	Results Results
	// Files tell whether the files that runs read are the same on head; nil: they are.
	Files Files
	// ProofFiles and Remembered are what [Verify] replays the same with, by its own code; see
	// [proof.Input].
	ProofFiles proof.Files
	Remembered func(same func(integration, read string) bool) (proof.Results, proof.Dependences)
	// Distrust tells which rungs are not believed; nil: all are.
	Distrust Distrust
	// MergeRequest is that in whose pipeline the plan is made; nil outside of one.
	MergeRequest *plan.MergeRequest
	// Own is the last pipeline of the merge request outside of its merge train; nil: it is not
	// known. It decides nothing.
	Own *trains.Pipeline
	// Others tell what other changes did since that pipeline; nil: that is not known. They are only
	// asked why a result does not hold.
	Others Others
	// Memory keeps what is known of base between plans; nil: nothing is kept. It changes no
	// plan.
	Memory affected.Memory
}

// SideFiles name the files of a side, as a plan does. The zero value names none.
type SideFiles struct {
	Tree   string
	Edited []plan.EditedFile
}

// Estimates tell how long a task takes, in seconds: half of its runs, and nine
// tenths of them, take no longer. They say 0 when they do not know. The same
// input must have the same estimates.
type Estimates interface {
	Seconds(ctx context.Context, integration, shard string) (p50, p90 float64)
}

// Traces hold the queries that tasks asked while they passed, with the answers.
type Traces interface {
	// Load returns the traces of a task, the newest first, and a warning for each
	// trace that cannot be used.
	Load(ctx context.Context, of trace.TaskKey) (traces []*trace.Trace, unusable []string)
	// Broken returns why the promise that an integration always asks the same
	// queries does not count; "" when it counts.
	Broken(ctx context.Context, integration string) string
}

// Dependences tell what the runs of integrations have shown.
type Dependences interface {
	// Beyond returns on what the answers of an integration depend beyond the schemas that
	// its definition allows.
	Beyond(integration string) dependence.Beyond
	// Passed tells whether a run of an integration with this command passed.
	Passed(integration, command string) bool
}

// Results tell which tasks passed before.
type Results interface {
	// Passed tells whether a task passed with these inputs and never failed with
	// them, and when the last run that passed began. Runs that began longer ago than
	// within do not count.
	Passed(ctx context.Context, t plan.Task, within time.Duration) (began time.Time, ok bool)
	// LastEffects returns the effects of the last such run whose effects were found by the
	// rules with this digest, and when it began. They are nil if none are remembered.
	LastEffects(ctx context.Context, t plan.Task, within time.Duration,
		rules string) (found *plan.Effects, began time.Time)
	// Effects returns the effects of such a run that began at a time.
	Effects(ctx context.Context, t plan.Task, began time.Time, rules string) (*plan.Effects, bool)
}

// Files tell whether the files that runs read are the same on head.
type Files interface {
	// Changed says which file that a run of an integration read is another one on head, or why that
	// is not known; "" if all are the same. A run names its files by an id.
	Changed(integration, read string) string
}

// Distrust tells which rungs were found to be wrong about an integration.
type Distrust interface {
	// Distrusted returns the rungs that are not believed about an integration, and since when.
	Distrusted(integration string) map[plan.Rung]string
}

// Others tell what other changes did since the own pipeline of a merge request.
type Others interface {
	// Files lists the datafiles that differ between the base of that pipeline and base.
	Files() []bundle.Path
	// Commit returns the commit that last changed a datafile of base, in short; "" if that is not
	// known.
	Commit(bundle.Path) string
}

// Make decides about every integration and returns the sealed plan. An error
// means that the input is wrong: no integration on head, two integrations of one
// name, settings that name what does not exist, a query that neither side accepts. Settings errors
// are of the type [settings.Error], with their line.
func Make(ctx context.Context, in Input) (*plan.Plan, error) {
	l, err := newLadder(in)
	if err != nil {
		return nil, err
	}
	p := &plan.Plan{
		Base:     side(in.BaseRef, in.Base, in.BaseFiles),
		Head:     side(in.HeadRef, in.Head, in.HeadFiles),
		Config:   in.Settings.Digest(),
		Require:  in.Settings.EffectPolicy().Labels,
		Changes:  changes(l.diff),
		Warnings: l.inputWarnings(),
	}
	train := newTrain(in)
	for _, o := range l.outcomes() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c := l.climb(ctx, o)
		train.note(o, c.reuse)
		d, tasks := c.decision(o.Name)
		p.Integrations = append(p.Integrations, d)
		p.Tasks = append(p.Tasks, estimated(ctx, in.Estimates, tasks)...)
		p.Warnings = append(p.Warnings, c.unusable...)
		p.Warnings = append(p.Warnings, l.warnings(o, d, tasks)...)
	}
	p.MergeRequest = train.mergeRequest(p)
	p.Warnings = append(p.Warnings, editWarning(p.Integrations)...)
	p.Warnings = append(p.Warnings, noExecWarning(p.Tasks)...)
	if err := ctx.Err(); err != nil { // doubts may come from this alone
		return nil, err
	}
	if err := errors.Join(in.Base.Err(), in.Head.Err()); err != nil {
		return nil, err
	}
	return p, p.Seal()
}

// Check tells whether a plan can be made: it returns the error that [Make] would
// return for an input that is wrong.
func Check(in Input) error {
	_, err := newLadder(in)
	return err
}

// estimated returns tasks with the estimates of how long they take.
func estimated(ctx context.Context, e Estimates, tasks []plan.Task) []plan.Task {
	if e == nil {
		return tasks
	}
	out := slices.Clone(tasks)
	for i, t := range out {
		out[i].EstimateSeconds, out[i].EstimateP90 = e.Seconds(ctx, t.Integration, t.Label())
	}
	return out
}

// Changes compares two bundles and writes the result down as a plan does.
func Changes(base, head *bundle.Bundle) plan.Changes { return changes(bundle.Compare(base, head)) }

// side writes a bundle down for the plan.
func side(ref string, b *bundle.Bundle, files SideFiles) plan.Side {
	return plan.Side{Ref: ref, SHA256: b.SHA256(), Commit: b.Commit(), Tree: files.Tree, Edited: files.Edited}
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

// datafile writes a changed datafile down for the plan.
func datafile(f bundle.Change) plan.Datafile {
	old, now := schemas(f)
	if old == now {
		old = ""
	}
	return plan.Datafile{Path: string(f.Path), Schema: now, OldSchema: old, Kind: plan.Kind(f.Kind.String()),
		Fields: f.Fields}
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
