package reconciler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/ci"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/queue"
	"github.com/app-sre/prcheck/queue/forge"
	"github.com/app-sre/prcheck/queue/merging"
	"github.com/app-sre/prcheck/queue/peer"
)

// mergeQueueFlags are the flags of run merge-queue.
type mergeQueueFlags struct {
	project, target         string
	repository, state       string // of proofs
	config                  string
	natives                 []integration.DryRunner
	people                  []string
	every, pipelineTimeout  time.Duration
	once, compare, owners   bool
	depth                   int
	metricsFile             string
	metrics                 queue.Metrics
	dryRun, noDryRun        bool
	pause                   time.Duration // between questions to GitLab
	form, strategy          cli.Choice
	rebaseLimit, mergeLimit int
}

// askPause is the time between two questions to GitLab about a rebase or a merge.
const askPause = 2 * time.Second

func mergeQueueCommand(env cli.Env, natives []integration.DryRunner) *cobra.Command {
	f := mergeQueueFlags{natives: natives, pause: askPause, form: cli.OneOf("text", "json"),
		strategy: cli.OneOf(string(peer.OldBurst), string(peer.ActiveCap), string(peer.ActiveCapGroups))}
	cmd := &cobra.Command{
		Use:   "merge-queue [--project PATH] [--target BRANCH] [flags]",
		Short: "Tell how the merge requests of a branch stand, and what could be merged",
		Long: `merge-queue reads the open merge requests for one branch of a project of GitLab and tells
in which order they stand, in which state each one is and why. A decision is about a pair:
the head of a merge request and the head of the branch.

With --repository, a clone that has the commits of the branch and of the merge requests, it
rebases each approved one in memory, on all that is accepted ahead of it, validates and plans
it there, and tells what holds and what has to run, as planner rebase does; results are looked
up in --state. Without it a merge request that nothing holds back is unknown, never ready to
be merged. What has to run is run by runner delta, elsewhere: no program of a merge request
runs beside a token that merges.

It is a dry run unless --no-dry-run is given: then it merges what holds, one after another,
each by the head that was proven. The branch must be merged into by fast-forward or semi-linear
merges, without trains. Commits that the clone lacks are fetched from its remote origin; no
branch of it is changed.

With --compare it tells beside each one what qontract-reconcile does in its next loop,
and why where both decide differently.

The token of PRCHECK_GITLAB_TOKEN needs the scope read_api, and api to merge. In a job of
GitLab the variables CI_API_V4_URL, CI_PROJECT_PATH and CI_DEFAULT_BRANCH say what is read.

Exit codes: 0 it is told, or another loop owns the branch; 2 wrong usage; 3 GitLab or the
state could not be reached, or the branch has something else than was proven. With --every a
round that fails is told on stderr and followed by the next one, unless the branch has
something else.`,
		Example: `  reconciler run merge-queue --once
  reconciler run merge-queue --no-dry-run --repository . --state s3://checks/state
  reconciler run merge-queue --project service/app-interface --target master --every 2m
  reconciler run merge-queue --once --compare --peer-strategy active-cap-multi-merge --format json`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), env) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.project, "project", "", "path of the project (default: that of the job)")
	flags.StringVar(&f.target, "target", "", "branch that is merged into (default: the default branch of the job's project)")
	flags.StringArrayVar(&f.people, "may-label", nil, "`user` whose labels count, repeatable; name the bot as well "+
		"(default: everybody's)")
	f.registerProofs(flags)
	flags.BoolVar(&f.once, "once", false, "one round, for a job")
	flags.DurationVar(&f.every, "every", 2*time.Minute, "pause between two rounds")
	flags.Var(&f.form, "format", "format of the table: text, or json (one line for each round)")
	flags.BoolVar(&f.dryRun, "dry-run", false, "write nothing (the default)")
	flags.BoolVar(&f.noDryRun, "no-dry-run", false, "merge what holds")
	flags.StringVar(&f.metricsFile, "metrics", "", "file for numbers in the format of Prometheus, written after each round")
	flags.IntVar(&f.depth, "guess", 0, "on how many merge requests whose tasks still run another one may be tried, as if "+
		"they passed")
	f.registerPeer(flags)
	return cmd
}

// registerProofs adds the flags about proofs.
func (f *mergeQueueFlags) registerProofs(flags *pflag.FlagSet) {
	flags.StringVar(&f.repository, "repository", "", "folder of a clone with the commits (default: nothing is proven)")
	flags.StringVar(&f.config, "config", "", "path of the settings in the branch (default prcheck.yaml)")
	flags.StringVar(&f.state, "state", "", "folder, or s3://BUCKET/PREFIX, that remembers which tasks passed (default: no "+
		"result holds)")
	flags.BoolVar(&f.owners, "owners", false, "ask also who approved each place of the rebased head, by the change types "+
		"of the branch")
}

// registerPeer adds the flags about qontract-reconcile.
func (f *mergeQueueFlags) registerPeer(flags *pflag.FlagSet) {
	flags.BoolVar(&f.compare, "compare", false, "tell what qontract-reconcile does in its next loop, and where both differ")
	flags.Var(&f.strategy, "peer-strategy", "how qontract-reconcile rebases there")
	flags.IntVar(&f.rebaseLimit, "peer-rebase-limit", 8, "its rebase_limit")
	flags.IntVar(&f.mergeLimit, "peer-merge-limit", 0, "its merge_limit (default: its rebase_limit)")
	flags.DurationVar(&f.pipelineTimeout, "peer-pipeline-timeout", 0, "its pipeline_timeout (default: none)")
}

func (f *mergeQueueFlags) check() error {
	switch {
	case f.dryRun && f.noDryRun:
		return errors.New("--dry-run and --no-dry-run contradict each other: give one of them")
	case f.noDryRun && (f.repository == "" || f.state == ""):
		return errors.New("--no-dry-run needs --repository, to prove what is merged, and --state, which has the lease of the " +
			"branch and a record of each merge")
	case f.repository == "" && (f.state != "" || f.config != "" || f.owners):
		return errors.New("--state, --config and --owners are of proofs, which need --repository: the folder of a clone")
	case f.project == "":
		return errors.New("--project is required outside of a job of GitLab: the path of the project, such as group/project")
	case f.target == "":
		return errors.New("--target is required outside of a job of GitLab: the branch that is merged into")
	case !f.once && f.every < minPause:
		return errors.New("--every must be at least 1s")
	case f.depth < 0:
		return errors.New("--guess must not be negative")
	case f.rebaseLimit < 1 || f.mergeLimit < 0 || f.pipelineTimeout < 0:
		return errors.New("--peer-rebase-limit must be at least 1, and the other limits of the peer must not be negative")
	}
	return nil
}

func (f *mergeQueueFlags) run(ctx context.Context, env cli.Env) error {
	if err := change.CheckPaths(ctx, env, change.Paths{Files: []string{f.metricsFile}}); err != nil {
		return err
	}
	f.project = cmp.Or(f.project, env.Getenv("CI_PROJECT_PATH"))
	f.target = cmp.Or(f.target, env.Getenv("CI_DEFAULT_BRANCH"))
	if err := f.check(); err != nil {
		return cli.Usage(err)
	}
	at, err := ci.ReadEnvironment(env.Getenv)
	if err != nil {
		return cli.Invalid(err)
	}
	if at.API == "" || at.Token.Value == "" {
		return cli.Usage(fmt.Errorf("CI_API_V4_URL and a token with scope read_api in %s are needed", ci.TokenVariable))
	}
	options := ci.Options{API: at.API, Token: at.Token, CAFile: at.CAFile}
	client, err := ci.NewMergeQueue(options, f.project)
	if err != nil {
		return cli.Invalid(err)
	}
	from := &forge.Forge{Client: client, Target: f.target}
	proofs := &proofs{flags: f, env: env}
	if f.owners {
		if proofs.approvals, err = newQueueApprovals(ctx, proofs, options); err != nil {
			return err
		}
	}
	defer proofs.close()
	for {
		err := f.round(ctx, env, from, proofs)
		var end *merging.EndError
		if f.once || ctx.Err() != nil || errors.As(err, &end) {
			return err
		}
		if err != nil {
			_, _ = fmt.Fprintf(env.Stderr, "reconciler: %s\n", sanitize.Line(err.Error())) // the next round goes on
		}
		select {
		case <-ctx.Done():
			return nil // it was told to end between two rounds
		case <-time.After(f.every):
		}
	}
}

// round tells once how the merge requests stand, and merges what holds if it may.
func (f *mergeQueueFlags) round(ctx context.Context, env cli.Env, from *forge.Forge, proofs *proofs) error {
	look, err := proofs.look(ctx)
	if err != nil {
		return err
	}
	done := &forge.Done{}
	if f.noDryRun {
		if done, err = f.act(ctx, env, from, proofs, look); done == nil {
			return err
		}
	} else {
		if done.View, err = from.Read(ctx); err != nil {
			return err
		}
		line := queue.Line(done.View.Requests, f.people, time.Now())
		done.Outcome = queue.Walk(done.View.Base, line, look, f.policy())
	}
	if ctx.Err() != nil && !f.noDryRun { // what was merged is told
		return errors.Join(ctx.Err(), err)
	}
	return errors.Join(f.tell(ctx, env, from, done), err)
}

// policy says what a walk may do beside accepting in order.
func (f *mergeQueueFlags) policy() queue.Policy {
	return queue.Policy{Overtake: true, Depth: f.depth, Budget: math.MaxInt32}
}

// tell writes the table of a round.
func (f *mergeQueueFlags) tell(ctx context.Context, env cli.Env, from *forge.Forge, done *forge.Done) error {
	var beside map[int]queue.Beside
	if f.compare {
		s, err := from.Peer(ctx, done.View, f.peer(), time.Now())
		if err != nil {
			return err
		}
		beside = peer.Compare(s, done.Outcome)
	}
	table := queue.NewTable(done.Outcome, beside)
	table.Project, table.Target, table.IsDryRun, table.Base = f.project, f.target, !f.noDryRun, done.View.Base
	if done.Resumed != nil {
		table.Tell(done.Resumed.Number, done.Resumed.Merged != nil, done.Resumed.Reaction.Told)
	}
	for _, t := range done.Told {
		table.Tell(t.Number, t.Merged != nil, t.Reaction.Told)
	}
	for _, warning := range []string{done.View.Refusal(), done.Base.Told} {
		if warning != "" {
			table.Warnings = append(table.Warnings, warning)
		}
	}
	if f.metricsFile != "" {
		f.metrics.Add(table, time.Now())
		if err := cli.WriteFile(f.metricsFile, f.metrics.Write); err != nil {
			return err
		}
	}
	if f.form.String() == "json" {
		return table.WriteJSON(env.Stdout)
	}
	return table.WriteText(env.Stdout)
}

// peer returns the settings of qontract-reconcile, as the flags say.
func (f *mergeQueueFlags) peer() peer.Rules {
	o := peer.Defaults()
	o.Rebase, o.Insist, o.People = true, true, f.people
	o.Strategy = peer.Strategy(f.strategy.String())
	o.Groups = o.Strategy == peer.ActiveCapGroups
	o.RebaseLimit, o.MergeLimit, o.Timeout = f.rebaseLimit, cmp.Or(f.mergeLimit, f.rebaseLimit), f.pipelineTimeout
	return o
}

// unproven is the proof of a rebased head that nobody made.
func unproven(string, queue.Request) queue.Proof {
	return queue.Proof{Unknown: []string{"no --repository is given to rebase it in"}}
}
