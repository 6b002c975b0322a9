package change

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/app-sre/prcheck/ci/revisions"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/internal/safepath"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner/peer"
	"github.com/app-sre/prcheck/planner/proof"
	"github.com/app-sre/prcheck/planner/rules"
	"github.com/app-sre/prcheck/qontract/live"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/world"
)

// Inputs name what a plan is made from, as flags give it.
type Inputs struct {
	Base, Head string // references
	// BaseName and HeadName are what the plan calls them; "": see [source.Name].
	BaseName, HeadName string
	Config             string // a file, base:PATH or git:REV[@DIR]:PATH; "" for the default
	State              string // place; "" when nothing is remembered
	HasOwnState        bool   // the state is that of the checkout; see [Inputs.WithOwnState]
	Access             state.Access
	NoCache            bool                    // nothing is remembered of checkouts
	NoReuse            bool                    // what passed before runs again
	ForMerge           bool                    // what passed before counts only as far as a merge may rest on it
	Writes             []string                // files that the command writes
	Worlds             world.Keeper            // keeps the files of both sides; the zero Keeper keeps nothing
	Plan               *plan.Plan              // that is replayed; nil for a new one
	IsClean            bool                    // head is a commit, and its checkout has exactly its files
	Natives            []integration.DryRunner // the integrations that are part of the program
	BaseDir            string                  // folder with base's files, if base is a bundle file; "" for none

	inJob  bool   // the settings are those of a job of GitLab
	ciFile string // the CI file of the project, "" when it is not known
}

// Opener returns what opens checkouts as the settings of the inputs say.
func (in Inputs) Opener(ctx context.Context, env cli.Env) (source.Opener, error) {
	s, err := source.OpenSettings(ctx, in.Config, in.Base)
	return in.opener(env, s), err
}

// OpenerWith is [Inputs.Opener] for settings that are opened.
func (in Inputs) OpenerWith(env cli.Env, s source.OpenedSettings) source.Opener {
	return in.opener(env, s)
}

func (in Inputs) opener(env cli.Env, s source.OpenedSettings) source.Opener {
	open := source.In(env).With(s)
	if in.NoCache || InJob(env.Getenv) && safepath.IsGuarded(open.Cache) {
		open.Cache = "" // head could have put anything into a cache inside of the checkout
	}
	return open
}

// Complete fills in what the user did not say and a job of GitLab says. Outside of a job the
// inputs stay as they are. Also when the user names base and head, the settings are base's.
func (in Inputs) Complete(ctx context.Context, env cli.Env) (Inputs, error) {
	_, _, isRevision := source.ParseRevision(in.Base)
	switch {
	case !revisions.InJob(env.Getenv):
		return in, nil
	case in.Base == "" && in.Head == "":
		return in.CompleteInJob(ctx, env, ".")
	case !isRevision || !source.IsCheckout(in.Head):
		return in, nil
	}
	for _, ref := range []string{in.Base, in.Head} {
		if err := Reach(ctx, env, ref); err != nil {
			return in, err
		}
	}
	base, err := source.OpenRevision(ctx, in.Base)
	if err != nil {
		return in, err
	}
	job := revisions.Job{Base: base.Hash(), Head: "HEAD"}
	if _, _, ok := source.ParseRevision(in.Head); ok {
		head, err := source.OpenRevision(ctx, in.Head)
		if err != nil {
			return in, err
		}
		job.Head = head.Hash()
	}
	repo, err := git.FindRepository(ctx, base.Dir())
	if err != nil {
		return in, cli.Invalid(err)
	}
	return in.withSettingsOf(ctx, env, repo, job)
}

// CompleteInJob fills in what the variables of the job of GitLab say, in the repository of a
// folder: head, base and the settings. A line on stderr says what is compared.
func (in Inputs) CompleteInJob(ctx context.Context, env cli.Env, dir string) (Inputs, error) {
	job, err := revisions.ReadJob(env.Getenv)
	if err != nil {
		return in, cli.Invalid(err)
	}
	repo, err := git.FindRepository(ctx, dir)
	if err != nil {
		return in, cli.Invalid(err)
	}
	if job, err = job.Find(ctx, repo); err != nil {
		return in, invalid(ctx, err)
	}
	in.Base, in.BaseName = source.RevisionOf(repo, job.Base), "git:"+job.Base
	in.Head, in.HeadName = source.RevisionOf(repo, job.Head), "git:"+job.Head
	if in, err = in.withSettingsOf(ctx, env, repo, job); err != nil {
		return in, err
	}
	_, _ = fmt.Fprintf(env.Stderr, "note: comparing %s (CI_COMMIT_SHA) with %s (%s), settings %s\n",
		git.Short(job.Head), git.Short(job.Base), job.Reason, in.Config) // only a note
	return in, nil
}

// withSettingsOf fills in the settings that hold in a job.
func (in Inputs) withSettingsOf(ctx context.Context, env cli.Env, repo *git.Repository,
	job revisions.Job) (Inputs, error) {
	in.inJob, in.ciFile = true, revisions.CIFile(env.Getenv)
	var err error
	in.Config, err = rules.JobCheckout{
		Base: job.Base, Head: job.Head, Lstat: os.Lstat, PathOf: repo.PathOf,
		HasPath: func(path string, commits ...string) (bool, error) { return repo.HasPath(ctx, path, commits...) },
	}.Settings(in.Config)
	return in, cli.Invalid(err)
}

// Reach makes the commit of a reference available when a job of GitLab names it by its hash.
func Reach(ctx context.Context, env cli.Env, ref string) error {
	revision, dir, ok := source.ParseRevision(ref)
	if !ok {
		return nil
	}
	return invalid(ctx, revisions.Reach(ctx, env.Getenv, revision, dir, ref))
}

// SettingsOfPlan opens the settings that a plan was made with: those that --config names, or
// else those that the plan's digest holds.
func SettingsOfPlan(ctx context.Context, config string, p *plan.Plan) (source.OpenedSettings, error) {
	return rules.SettingsOfPlan(p, config, func(name string) (source.OpenedSettings, error) {
		return source.OpenSettings(ctx, name, p.Base.Ref)
	})
}

// Peer returns the running qontract-server at an address, which is asked beside the embedded
// engine; nil for "". Nothing is sent yet.
func (in Inputs) Peer(env cli.Env, address string) (*live.Server, error) {
	switch {
	case address == "":
		return nil, nil
	case live.IsRef(in.Base) || live.IsRef(in.Head):
		return nil,
			cli.Usage(errors.New("--server holds prcheck's own answers to those of a server, and a live server gives them " +
				"already: name both sides by their bundle files"))
	}
	at, err := live.ParseHost(address, live.Connection{Authorization: source.In(env).Authorization})
	if err != nil {
		return nil, cli.Usage(fmt.Errorf("--server: %w", err))
	}
	return at, nil
}

// AskPeer asks a server what the report of a proof rests on. It returns the report as the answers
// leave it.
func (c *Change) AskPeer(ctx context.Context, at *live.Server, r proof.Report,
	progress func(asked int)) (*peer.Answers, proof.Report, error) {
	answers, err := peer.Ask(ctx, peer.Input{Server: at, Base: c.Base, Head: c.Head, Questions: r.Questions,
		Progress: progress})
	if err != nil {
		return nil, r, invalid(ctx, err)
	}
	return answers, answers.Judge(r), nil
}
