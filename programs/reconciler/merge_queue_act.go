package reconciler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/queue"
	"github.com/app-sre/prcheck/queue/forge"
	"github.com/app-sre/prcheck/queue/proving"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state"
)

// proofs makes the proofs of all rounds. It keeps what git made between them.
type proofs struct {
	flags  *mergeQueueFlags
	env    cli.Env
	prover *proving.Prover
	clone  *git.Repository
	here   map[string]bool // commits that the clone has

	approvals *queueApprovals // nil asks nobody
}

// unapproved returns what is asked about approvals of a rebased head; nil for nothing.
func (p *proofs) unapproved() func(context.Context, queue.Request, proving.Asked) ([]string, error) {
	if p.approvals == nil {
		return nil
	}
	return p.approvals.unapproved
}

// maxRebased is after how many rebased heads a prover begins anew, so that it does not fill the disk.
const maxRebased = 5000

// look returns what proves rebased heads in a round.
func (p *proofs) look(ctx context.Context) (queue.Look, error) {
	if p.flags.repository == "" {
		return unproven, nil
	}
	if p.prover != nil && p.prover.Size() > maxRebased {
		p.close()
	}
	if p.prover == nil {
		made, err := proving.New(ctx, proving.Place{Env: p.env, Repository: p.flags.repository, Config: p.flags.config,
			State: p.flags.state, Natives: p.flags.natives, Verifies: p.flags.noDryRun, Unapproved: p.unapproved()})
		if err != nil {
			return nil, err
		}
		p.prover, p.here = made, map[string]bool{}
	}
	p.prover.Forget()
	look := p.prover.Look(ctx)
	if !p.flags.noDryRun {
		return look, nil
	}
	return func(base string, r queue.Request) queue.Proof {
		if err := p.fetch(ctx, r.Head); err != nil {
			return queue.Proof{Pair: queue.Pair{Head: r.Head, Base: base}, Unknown: []string{err.Error()}}
		}
		return look(base, r)
	}, nil
}

// fetch gets a commit that the clone lacks.
func (p *proofs) fetch(ctx context.Context, commit string) (err error) {
	if p.here[commit] {
		return nil
	}
	if p.clone == nil {
		if p.clone, err = git.FindRepository(ctx, p.flags.repository); err != nil {
			return err
		}
	}
	if !p.clone.HasCommit(ctx, commit) {
		if err := p.clone.FetchHistory(ctx, commit); err != nil {
			return fmt.Errorf("the clone lacks %s: %w", git.Short(commit), err)
		}
	}
	p.here[commit] = true
	return nil
}

// treeOf returns the tree of a commit.
func (p *proofs) treeOf(ctx context.Context, commit string) (string, error) {
	if err := p.fetch(ctx, commit); err != nil {
		return "", err
	}
	c, err := git.OpenCommit(ctx, p.clone.Root(), commit)
	if err != nil {
		return "", err
	}
	return c.TreeID(), nil
}

// misses says what a proven request lacks by now: labels for what its tasks announced, and approvals of its content.
func (p *proofs) misses(ctx context.Context, r queue.Request, of queue.Proven) ([]string, error) {
	missing := p.prover.Lacks(of.Tree, r)
	if len(missing) > 0 || p.approvals == nil {
		return missing, nil
	}
	asked := proving.Asked{Base: p.prover.Ref(of.Base), Head: p.prover.Ref(of.Tree)}
	var err error
	if asked.Settings, err = source.OpenSettings(ctx, settings.FromBase+p.flags.settingsPath(), asked.Base); err != nil {
		return nil, err
	}
	for range asks { // GitLab needs a moment after it rebased
		if missing, err = p.approvals.unapproved(ctx, r, asked); err == nil || ctx.Err() != nil {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(p.flags.pause):
		}
	}
	return missing, err
}

// asks is how often approvals are asked about before a merge until there is an answer.
const asks = 5

// settingsPath returns the path of the settings in the branch.
func (f *mergeQueueFlags) settingsPath() string { return cmp.Or(f.config, settings.FileName) }

// close removes what was made.
func (p *proofs) close() {
	if p.prover != nil {
		_ = p.prover.Close() // it lies in a folder for temporary files
		p.prover = nil
	}
}

// act does a round that merges. It returns nil if another loop owns the branch, or if nothing was decided.
func (f *mergeQueueFlags) act(ctx context.Context, env cli.Env, from *forge.Forge, p *proofs,
	look queue.Look) (*forge.Done, error) {
	base, err := from.Client.Branch(ctx, f.target)
	if err == nil {
		err = p.fetch(ctx, base)
	}
	if err != nil {
		return nil, err
	}
	store, err := f.openState(ctx, env, base)
	if err != nil {
		return nil, err
	}
	r := forge.Round{Acting: forge.Acting{Forge: *from, People: f.people, Tool: "prcheck", TreeOf: p.treeOf,
		Misses: p.misses}, Store: store, Branch: f.project + " " + f.target, Prove: look, Policy: f.policy(),
		Pause: f.pause, Wait: f.every}
	done, err := r.Run(ctx)
	if errors.Is(err, forge.ErrOwned) {
		_, err = fmt.Fprintf(env.Stderr, "reconciler: %v\n", forge.ErrOwned)
		return nil, err
	}
	if done == nil || done.View == nil || done.Outcome.Base == "" {
		return nil, err
	}
	return done, err
}

// openState opens the state by the settings of a commit of the branch.
func (f *mergeQueueFlags) openState(ctx context.Context, env cli.Env, base string) (state.Store, error) {
	ref := "git:" + base + "@" + f.repository
	rules, err := source.OpenSettings(ctx, settings.FromBase+f.settingsPath(), ref)
	if err != nil {
		return nil, err
	}
	return change.OpenState(ctx, env, change.StateFlag{Place: f.state, Access: state.Writing, Settings: rules, Base: ref})
}
