package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/ci"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/internal/names"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/owners"
	"github.com/app-sre/prcheck/owners/asking"
	"github.com/app-sre/prcheck/owners/comparison"
	"github.com/app-sre/prcheck/owners/decision"
	"github.com/app-sre/prcheck/owners/forge"
	"github.com/app-sre/prcheck/owners/members"
	"github.com/app-sre/prcheck/owners/review"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state"
)

type ownersFlags struct {
	in                    change.Inputs
	tool                  string
	ignoreAuthor, require bool
	compare               bool
	settle                time.Duration
}

func ownersCommand(env cli.Env) *cobra.Command {
	var f ownersFlags
	cmd := &cobra.Command{
		Use:   "owners [--base git:REV --head git:REV] [flags]",
		Short: "Decide whether a merge request of GitLab is approved, and write labels, a status and a note",
		Long: `owners says for each difference of content of a merge request who may approve it, as
planner owners does, and whether they did: by /lgtm, /lgtm cancel, /hold and /hold
cancel, each on a line of its own in a comment, or by the button of GitLab. It sets the
labels of the merge request, a status of its head, and one note.

It fails closed: labels that are no longer true go first, and after an error nothing
that lets the change through stays. An approval is of the content that was there when
it was given. With --state it outlasts a push that does not touch it.

--compare reads the comment in which change-owners of qontract-reconcile reports, says for
each place where both differ what each says and the rule of this program, and writes
nothing to the merge request.

Members of roles whom another repository knows are asked for there, with what stands in
PRCHECK_MEMBERS_ and the name of the provider as Authorization.

The merge request is read from the variables of the GitLab job, and a token with scope
api from PRCHECK_GITLAB_TOKEN. Without --base and --head the variables of the job say
what is compared. The settings are those of base.

Exit codes: 0 it was decided and written, approved or not; 1 the change is not admitted,
rules of head cannot be used, or with --require nobody may approve a place; 2 the rules
of base cannot be used, or a flag or variable is wrong; 3 it could not be found out or
written.`,
		Example: `  runner owners --state s3://checks/state
  runner owners --base git:origin/main --head git:HEAD --require`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error { return ownersOf(cmd.Context(), env, f) },
	}
	cmd.Flags().StringVar(&f.in.Base, "base", "", "revision before the change, git:REV[@DIR] (default: as the job says)")
	cmd.Flags().StringVar(&f.in.Head, "head", "", "revision with the change, which the job has checked out, likewise")
	cmd.Flags().StringVar(&f.in.Config, "config", "", "settings: base:PATH or git:REV[@DIR]:PATH (default prcheck.yaml "+
		"of base)")
	cmd.Flags().StringVar(&f.in.State, "state", "", "folder, or s3://BUCKET/PREFIX, that keeps what was approved "+
		"(default: what was said before a push counts if the clone has that version)")
	cmd.Flags().StringVar(&f.tool, "tool", "prcheck", "begins the name of the status; each name has a note of its own")
	cmd.Flags().BoolVar(&f.ignoreAuthor, "ignore-author", false, "the author's own word approves nothing")
	cmd.Flags().BoolVar(&f.require, "require", false, "end with 1 if nobody may approve a place")
	cmd.Flags().BoolVar(&f.compare, "compare", false, "write nothing to the merge request: say where the report of "+
		"change-owners differs")
	cmd.Flags().DurationVar(&f.settle, "settle", ci.DefaultSettle,
		"how long to wait, after the note was written, before checking that no other job has overwritten it")
	return cmd
}

func (f ownersFlags) check() error {
	isRevision := func(ref string) bool { _, _, ok := source.ParseRevision(ref); return ok }
	switch {
	case !names.IsTool(f.tool):
		return cli.Usage(errors.New("--tool must be of lower-case letters, digits and single hyphens between them, at " +
			"most 40"))
	case (f.in.Base == "") != (f.in.Head == ""):
		return cli.Usage(errors.New("give both --base and --head, or none of them"))
	case f.in.Base != "" && (!isRevision(f.in.Base) || !isRevision(f.in.Head)):
		return cli.Usage(errors.New("--base and --head must be revisions, git:REV: only then it is known of which commit " +
			"they are, and which files of it are in no bundle"))
	case f.in.Config != "" && !strings.HasPrefix(f.in.Config, "base:") && !strings.HasPrefix(f.in.Config, "git:"):
		return cli.Usage(fmt.Errorf("--config must be base:PATH or git:REV[@DIR]:PATH, not %q: a file here may be one that "+
			"the change brings", f.in.Config))
	case f.settle < 0:
		return cli.Usage(errors.New("--settle must not be negative"))
	}
	return nil
}

// An ownersJob is a job that decides about a merge request.
type ownersJob struct {
	flags  ownersFlags
	env    cli.Env
	forge  *forge.Forge
	name   string // of the merge request
	commit string // of the job
	head   string // of the merge request; another one in a pipeline of merged results
	silent []members.Silence
}

// ownersOf decides about the merge request of the job.
func ownersOf(ctx context.Context, env cli.Env, f ownersFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	at, err := ci.ReadEnvironment(env.Getenv)
	if err != nil {
		return cli.Invalid(err)
	}
	if at.API == "" || at.MergeRequest.IID == 0 || at.MergeRequest.Project == 0 || at.Commit.SHA == "" ||
		at.Commit.Project == 0 || at.Token.Value == "" {
		return cli.Usage(fmt.Errorf("this is no job of a merge request in GitLab: CI_API_V4_URL, CI_MERGE_REQUEST_IID, "+
			"CI_MERGE_REQUEST_PROJECT_ID, CI_PROJECT_ID, CI_COMMIT_SHA and a token with scope api in %s are needed",
			ci.TokenVariable))
	}
	client, err := ci.New(ci.Options{API: at.API, Token: at.Token, CAFile: at.CAFile, Settle: f.settle})
	if err != nil {
		return cli.Invalid(err)
	}
	if err := client.Identify(ctx); err != nil {
		return fmt.Errorf("deciding about merge request !%d: %w", at.MergeRequest.IID, err)
	}
	j := ownersJob{flags: f, env: env, commit: at.Commit.SHA,
		head:  cmp.Or(env.Getenv("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA"), at.Commit.SHA),
		name:  cmp.Or(env.Getenv("CI_MERGE_REQUEST_PROJECT_PATH"), fmt.Sprint(at.MergeRequest.Project)),
		forge: &forge.Forge{Client: client, MergeRequest: at.MergeRequest, Pipeline: at.Commit, Tool: f.tool}}
	j.name += fmt.Sprintf("!%d", at.MergeRequest.IID)
	if f.compare {
		return j.compare(ctx)
	}
	out, err := j.decide(ctx)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(env.Stdout, review.Note(out, false)); err != nil {
		return fmt.Errorf("writing who must approve: %w", err)
	}
	if len(j.silent) > 0 {
		return fmt.Errorf("%s: %s", sanitize.Line(j.silent[0].String()), sanitize.Line(j.silent[0].Why))
	}
	isNobodys := func(p *decision.DecidedPlace) bool { return !p.IsApproved && len(p.People()) == 0 }
	for _, p := range out.Places {
		if isNobodys(p) && owners.HasSources(p.CoveredPlace) {
			return fmt.Errorf("%s %s: it could not be found out whether it is approved: only members whom another system "+
				"knows may approve it", sanitize.Line(p.File.Path), sanitize.Line(p.CoveredPlace.Place().String()))
		}
	}
	if !out.IsAdmitted || f.require && slices.ContainsFunc(out.Places, isNobodys) {
		return cli.ErrFailed
	}
	return nil
}

// compare says where the report of change-owners on the merge request differs, and writes nothing there.
func (j *ownersJob) compare(ctx context.Context) error {
	in, err := j.input(ctx)
	if err != nil {
		return err
	}
	out, comments, err := review.Look(ctx, in)
	if err != nil {
		return fmt.Errorf("deciding about %s: %w", sanitize.Line(j.name), err)
	}
	var last review.EditedComment
	for _, c := range comments {
		if strings.HasPrefix(c.Body, comparison.Heading) && !c.WrittenAt.Before(last.WrittenAt) {
			last = c
		}
	}
	if last.Body == "" {
		return fmt.Errorf("%s has no comment that begins with %q: there is nothing to compare", sanitize.Line(j.name),
			comparison.Heading)
	}
	rows, err := comparison.Read(last.Body)
	if err != nil {
		return fmt.Errorf("the report of %s: %w", sanitize.Line(last.By), err)
	}
	c := comparison.Of(comparison.FromDecision(out.Decision), rows, true)
	_, err = fmt.Fprintf(j.env.Stdout, "The report of %s, beside prcheck: ", sanitize.Line(last.By))
	if err = errors.Join(err, comparison.WriteText(j.env.Stdout, c)); err != nil {
		return fmt.Errorf("writing where both differ: %w", err)
	}
	return nil
}

// attempts is how often it is decided when people say something meanwhile.
const attempts = 3

// decide decides about the merge request and writes the decision. After an error nothing lets the change through.
func (j *ownersJob) decide(ctx context.Context) (*review.Outcome, error) {
	in, err := j.input(ctx)
	if err != nil {
		return nil, errors.Join(err, review.Shut(ctx, j.forge, j.head))
	}
	var out *review.Outcome
	for range attempts {
		if out, err = review.Run(ctx, in); !errors.Is(err, review.ErrSaid) {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("deciding about %s: %w", sanitize.Line(j.name), err)
	}
	return out, nil
}

// input opens what the decision is made of.
func (j *ownersJob) input(ctx context.Context) (review.Input, error) {
	in := j.flags.in
	if in.Base == "" {
		var err error
		if in, err = in.CompleteInJob(ctx, j.env, "."); err != nil {
			return review.Input{}, err
		}
	}
	if err := errors.Join(change.Reach(ctx, j.env, in.Base), change.Reach(ctx, j.env, in.Head)); err != nil {
		return review.Input{}, err
	}
	in.Config = cmp.Or(in.Config, "base:prcheck.yaml")
	settings, err := source.OpenSettings(ctx, in.Config, in.Base)
	if err != nil {
		return review.Input{}, err
	}
	if err := j.checkHead(ctx, in.Head); err != nil {
		return review.Input{}, err
	}
	remembered, err := change.OpenState(ctx, j.env, change.StateFlag{Place: in.State, Access: state.Writing,
		Settings: settings, Base: in.Base, Head: in.Head})
	if err != nil {
		return review.Input{}, err
	}
	_, dir, _ := source.ParseRevision(in.Head)
	asker := asking.New(asking.Place{Env: j.env, Forge: j.forge, Open: source.In(j.env).With(settings), Dir: dir,
		State: remembered, Name: j.name, Head: j.head, Commit: j.commit, IgnoreAuthor: j.flags.ignoreAuthor,
		Fetch: func(ctx context.Context, ref string) error { return change.Reach(ctx, j.env, ref) }})
	asked, inHead, err := asker.Input(ctx, in.Base, in.Head)
	for _, finding := range inHead {
		_, _ = fmt.Fprintln(j.env.Stderr, sanitize.Line("runner: head: "+finding.File+finding.Pointer+": "+finding.Text))
	}
	if err == nil && len(inHead) > 0 {
		err = cli.ErrFailed
	}
	j.silent = asker.Silent()
	return asked, err
}

// checkHead returns an error if head is not the commit of the job.
func (j *ownersJob) checkHead(ctx context.Context, head string) error {
	c, err := source.OpenRevision(ctx, head)
	if err != nil {
		return err
	}
	if c.Hash() != j.commit {
		return cli.Usage(fmt.Errorf("--head is the commit %s, and the job is about %s, its CI_COMMIT_SHA: give --head "+
			"git:%s", git.Short(c.Hash()), git.Short(j.commit), git.Short(j.commit)))
	}
	return nil
}
