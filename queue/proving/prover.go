package proving

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/owners"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/validator"
	"github.com/app-sre/prcheck/queue"
	"github.com/app-sre/prcheck/queue/deltas"
	"github.com/app-sre/prcheck/report"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state"
)

// A Place is where the commits, the settings and the results are that proofs are made of.
type Place struct {
	Env        cli.Env
	Repository string // a folder of the clone that has the commits
	Config     string // path of the settings in the base; "" for the default
	State      string // place of what tasks did; "" for none: then nothing holds
	Natives    []integration.DryRunner
	// Unapproved returns the places of a request that nobody approved who may by the rules of the base. It is asked if all
	// else holds and the base has change types; nil asks nobody.
	Unapproved func(ctx context.Context, r queue.Request, of Asked) ([]string, error)
	// Verifies replays what each plan leaves out by a second implementation. A skip that it refutes proves nothing.
	Verifies bool
}

// An Asked is a rebased request whose approvals are asked about.
type Asked struct {
	Base, Head string                // references to commits
	Settings   source.OpenedSettings // of the base
}

// A Prover makes proofs. One goroutine at a time may use it.
type Prover struct {
	at      Place
	folder  string // of the scratch
	scratch *git.Scratch
	commits map[string]string          // by tree: of bases and of rebased heads
	rebased map[queue.Pair]git.Rebased // by commits
	bases   map[queue.Pair]string      // trees
	// mistakes are those of bundles, by digest, that were validated as a whole, or on top of one that was.
	mistakes map[string][]string
	needed   map[string][]string // labels that effects ask for, by the tree of a rebased head
	made     map[queue.Pair]queue.Proof
	plans    map[queue.Pair]*plan.Plan
}

// New returns a prover. The caller closes it.
func New(ctx context.Context, at Place) (*Prover, error) {
	folder, err := os.MkdirTemp("", "prcheck-queue-")
	if err != nil {
		return nil, fmt.Errorf("making a folder to rebase in: %w", err)
	}
	s, err := git.NewScratch(ctx, filepath.Join(folder, "scratch"), at.Repository)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	return &Prover{at: at, folder: folder, scratch: s, commits: map[string]string{}, rebased: map[queue.Pair]git.Rebased{},
		bases: map[queue.Pair]string{}, mistakes: map[string][]string{}, needed: map[string][]string{},
		made: map[queue.Pair]queue.Proof{}, plans: map[queue.Pair]*plan.Plan{}}, nil
}

// Forget drops all proofs, since what is remembered of tasks may be more by now. What git made and what was validated
// stays: a pair of trees makes the same again.
func (p *Prover) Forget() {
	clear(p.made)
	clear(p.plans)
}

// Know makes a commit the one by which a base is meant that is named by its tree.
func (p *Prover) Know(ctx context.Context, commit string) error {
	c, err := git.OpenCommit(ctx, p.scratch.Dir(), commit)
	if err == nil {
		p.commits[c.TreeID()] = c.Hash()
	}
	return err
}

// Size returns how many pairs were rebased. A prover of many takes much of the disk.
func (p *Prover) Size() int { return len(p.rebased) }

// Close removes what was made.
func (p *Prover) Close() error { return os.RemoveAll(p.folder) }

// Look returns the proof of a request on a base, which is a commit or the tree of an earlier proof. What could not be
// found out is in the proof.
func (p *Prover) Look(ctx context.Context) queue.Look {
	return func(base string, r queue.Request) queue.Proof {
		pair := queue.Pair{Head: r.Head, Base: base}
		if proof, isMade := p.made[pair]; isMade {
			return proof
		}
		proof, err := p.prove(ctx, pair, r)
		if err != nil {
			proof = queue.Proof{Pair: pair, Unknown: []string{err.Error()}}
		}
		if ctx.Err() == nil {
			p.made[pair] = proof
		}
		return proof
	}
}

// prove makes the proof of a request on a base. Its error says why it could not.
func (p *Prover) prove(ctx context.Context, pair queue.Pair, r queue.Request) (queue.Proof, error) {
	out := queue.Proof{Pair: pair}
	base := pair.Base
	if commit, isTree := p.commits[base]; isTree {
		base = commit
	}
	on, err := git.OpenCommit(ctx, p.scratch.Dir(), base)
	if err != nil {
		return out, err
	}
	p.commits[on.TreeID()], p.bases[pair] = on.Hash(), on.TreeID()
	onto := queue.Pair{Head: pair.Head, Base: on.Hash()} // git looks at the history as well, so a tree is not enough
	rebased, isKnown := p.rebased[onto]
	if !isKnown {
		if rebased, err = p.scratch.Rebase(ctx, on.Hash(), pair.Head); err == nil {
			p.rebased[onto] = rebased
		}
	}
	if out.Conflicts = rebased.Conflicts; err != nil || len(out.Conflicts) > 0 {
		return out, err
	}
	head, err := git.OpenCommit(ctx, p.scratch.Dir(), rebased.Commit)
	if err != nil {
		return out, err
	}
	out.Tree = head.TreeID()
	if out.Tree == on.TreeID() {
		out.IsEmpty = true
		return out, nil
	}
	p.commits[out.Tree] = head.Hash()
	in := change.Inputs{Base: p.ref(on.Hash()), Head: p.ref(head.Hash()), BaseName: "git:" + on.Hash(),
		HeadName: "git:" + head.Hash(), Config: settings.FromBase + p.config(), State: p.at.State, Access: state.Reading,
		Natives: p.at.Natives, ForMerge: true}
	return p.look(ctx, out, in, on.TreeID(), r)
}

func (p *Prover) ref(commit string) string { return "git:" + commit + "@" + p.scratch.Dir() }

func (p *Prover) config() string {
	if p.at.Config != "" {
		return p.at.Config
	}
	return settings.FileName
}

// look validates and plans a rebased head.
func (p *Prover) look(ctx context.Context, out queue.Proof, in change.Inputs, baseTree string,
	r queue.Request) (queue.Proof, error) {
	c, err := in.Open(ctx, p.at.Env)
	if err != nil {
		return p.lookUnchecked(ctx, out, in, err)
	}
	if err = p.validate(ctx, &out, c.Base, c.Head); err != nil || len(out.Faults) > 0 {
		return out, err
	}
	made, err := c.Plan(ctx)
	if err != nil {
		return out, err
	}
	if p.at.Verifies {
		if replay, err := c.Verify(ctx, made); err != nil {
			return out, err
		} else if n := len(replay.Refuted); n > 0 {
			return out, fmt.Errorf("%s is left out wrongly: %s", replay.Refuted[0].Integration, replay.Refuted[0].Why)
		}
	}
	p.plans[out.Pair] = made
	out.IsPlanned = true
	out.Tasks = tasks(made)
	needed := labelsOfHeld(made)
	if c.State != nil {
		pair := deltas.Trees{Base: baseTree, Head: out.Tree}
		needed = append(needed, deltas.NewStore(c.State).Fill(ctx, pair, out.Tasks, time.Now())...)
	}
	slices.Sort(needed)
	p.needed[out.Tree] = slices.Compact(needed)
	out.Labels = p.Lacks(out.Tree, r)
	if p.at.Unapproved != nil && owners.HasRules(c.Base) && out.Decide(out.Pair).State.MayMerge() { // it asks the forge
		out.Unapproved, err = p.at.Unapproved(ctx, r, Asked{Base: in.Base, Head: in.Head, Settings: c.Source()})
	}
	return out, err
}

// Lacks returns the labels that a request lacks for what its tasks announced, by the tree of its rebased head.
func (p *Prover) Lacks(tree string, r queue.Request) (labels []string) {
	for _, label := range p.needed[tree] {
		if !slices.Contains(r.Labels, label) {
			labels = append(labels, label)
		}
	}
	return labels
}

// labelsOfHeld returns the labels that a merge request needs for what the tasks announced that need not run again.
func labelsOfHeld(made *plan.Plan) []string {
	held := *made
	held.Tasks = nil
	return LabelsOf(report.New(&held, nil))
}

// LabelsOf returns the labels that a merge request needs for what tasks announced.
func LabelsOf(r *report.Report) (labels []string) {
	for _, l := range r.Effects.Labels {
		labels = append(labels, l.Label)
	}
	return labels
}

// lookUnchecked finds the mistakes of a head that makes no bundle that a plan could be made of. cause is told if there
// are none.
func (p *Prover) lookUnchecked(ctx context.Context, out queue.Proof, in change.Inputs, cause error) (queue.Proof,
	error) {
	open, err := in.Opener(ctx, p.at.Env)
	if err != nil {
		return out, cause
	}
	base, head, err := open.UncheckedPair(ctx, in.Base, in.Head)
	if err != nil {
		return out, cause
	}
	if out.Faults, err = faults(ctx, base, head, validator.All); err != nil || len(out.Faults) == 0 {
		return out, cause
	}
	return out, nil
}

// validate notes the mistakes of a head that its base does not have. On a base without mistakes only what differs is
// looked at, and all that this can break; else everything.
func (p *Prover) validate(ctx context.Context, out *queue.Proof, base, head *bundle.Bundle) error {
	old, isKnown := p.mistakes[base.SHA256()]
	if !isKnown {
		var err error
		if old, err = faults(ctx, nil, base, validator.All); err != nil {
			return fmt.Errorf("validating the base: %w", err)
		}
		p.mistakes[base.SHA256()] = old
	}
	scope := validator.Changed
	if len(old) > 0 {
		scope = validator.All
	}
	found, isFound := p.mistakes[head.SHA256()]
	if !isFound {
		var err error
		if found, err = faults(ctx, base, head, scope); err != nil {
			return err
		}
	}
	for _, text := range found {
		if !slices.Contains(old, text) {
			out.Faults = append(out.Faults, text)
		}
	}
	if len(found) >= maxFaults || len(old) >= maxFaults {
		return fmt.Errorf("the base has %d mistakes or more, so that nobody can tell which ones are new", maxFaults)
	}
	out.IsValidated, p.mistakes[head.SHA256()] = len(out.Faults) == 0, found
	return nil
}

// maxFaults bounds how many mistakes are looked at.
const maxFaults = 1000

// faults returns the mistakes of a head.
func faults(ctx context.Context, base, head *bundle.Bundle, scope validator.Scope) ([]string, error) {
	r, err := validator.Check(ctx, head, validator.Options{Base: base, Scope: scope, Limit: maxFaults})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, f := range r.Findings {
		out = append(out, fmt.Sprintf("%s%s: %s: %s", f.Path, f.Pointer, f.Rule, f.Message))
	}
	return out, nil
}

// tasks returns the tasks of a plan: those that must run, and those that passed with the same inputs. The planner has
// compared all that a result must have for a merge to rest on it.
func tasks(made *plan.Plan) []queue.PlannedTask {
	var out []queue.PlannedTask
	for _, t := range made.Tasks {
		out = append(out, queue.PlannedTask{Name: Name(t.Integration, t.Label()), Inputs: t.Inputs})
	}
	for _, d := range made.Integrations {
		for i := range d.Evidence.Reused {
			t := queue.PlannedTask{Name: Name(d.Name, fmt.Sprintf("a task that passed, %d", i+1)), Result: held()}
			if i < len(d.Evidence.Passed) { // a plan names some of them
				earlier := d.Evidence.Passed[i]
				t.Name, t.Inputs = Name(d.Name, earlier.Shard), earlier.Inputs
			}
			out = append(out, t)
		}
	}
	return out
}

// held returns a result on which a plan rests.
func held() *queue.Result {
	return &queue.Result{HasPassed: true, Attempt: 1, IsTrusted: true, Command: queue.Same, Inputs: queue.Same,
		Image: queue.Same}
}

// Name returns the name of a task in proofs.
func Name(integration, shard string) string {
	if shard == "" {
		return integration
	}
	return integration + "/" + shard
}

// Plan returns the plan of a pair, which holds the delta alone; false for a pair that was not planned.
func (p *Prover) Plan(pair queue.Pair) (*plan.Plan, bool) {
	made, ok := p.plans[pair]
	return made, ok
}

// Trees returns the trees of a pair that was proven: of its base, and of its rebased head.
func (p *Prover) Trees(pair queue.Pair) (deltas.Trees, error) {
	proof, isMade := p.made[pair]
	if !isMade || proof.Tree == "" {
		return deltas.Trees{}, errors.New("the pair was not proven")
	}
	return deltas.Trees{Base: p.bases[pair], Head: proof.Tree}, nil
}

// Ref returns by which reference a commit can be opened while the prover is not closed: one of the repository, or that
// which has a tree that was proven.
func (p *Prover) Ref(of string) string {
	if commit, isTree := p.commits[of]; isTree {
		of = commit
	}
	return p.ref(of)
}
