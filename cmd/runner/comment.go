package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/ci"
	"github.com/app-sre/prcheck/ci/note"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/names"
	"github.com/app-sre/prcheck/runner/parts"
	"github.com/app-sre/prcheck/source"
)

// What --status can be.
const (
	statusNone         = "none"
	statusOverall      = "overall"
	statusIntegrations = "integrations"
)

type commentFlags struct {
	plan, tool, out   string
	status            cli.Choice
	parts             []string
	unplanned, report string
	settle            time.Duration
}

func commentCommand(env cli.Env) *cobra.Command {
	f := commentFlags{status: cli.OneOf(statusOverall, statusIntegrations, statusNone)}
	cmd := &cobra.Command{
		Use:   "comment {--plan FILE --results FILE... | --unplanned FILE} [flags]",
		Short: "Keep the one note of a merge request in GitLab, and commit statuses",
		Long: `comment puts a plan and the results of its parts together, writes the summary to a
file and to stdout, makes it the one note of the merge request, and sets commit
statuses. It takes the merge request from the variables of a GitLab job and a token
with scope api from PRCHECK_GITLAB_TOKEN. Without them nothing is posted, and one
line says so.

When no plan could be made, --unplanned takes its place: the note and the status
then say that nothing was checked, with the last words of planner.

Exit code 1 when a check failed or could not be planned, 3 when something could
not be posted.`,
		Example: `  runner comment --plan plan.json --results results.json
  runner comment --plan plan.json --results collected --status integrations
  runner comment --unplanned planner.log`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error { return comment(cmd.Context(), env, f) },
	}
	cmd.Flags().StringVar(&f.plan, "plan", "", "plan that planner wrote (required, or --unplanned)")
	cmd.Flags().StringArrayVar(&f.parts, "results", nil, "results of the plan or of a part of it, or a folder with files results*.json (required with --plan, repeatable)")
	cmd.Flags().StringVar(&f.unplanned, "unplanned", "", "what planner said on stderr when it could make no plan; it may be missing, as after a job that died")
	cmd.Flags().StringVar(&f.report, "report", "", "HTML report among the artifacts of this job, relative to the checkout, for the note to lead to")
	cmd.Flags().StringVar(&f.tool, "tool", "prcheck", "name of the note and the statuses; each name has one note")
	cmd.Flags().Var(&f.status, "status", "which commit statuses to set: overall, integrations (those too) or none")
	cmd.Flags().StringVar(&f.out, "out", "prcheck-note.md", "file for the summary")
	cmd.Flags().DurationVar(&f.settle, "settle", ci.DefaultSettle, "how long to wait after writing before looking whether an older pipeline wrote over it; less is less safe")
	return cmd
}

func (f commentFlags) check() error {
	switch {
	case !names.IsTool(f.tool):
		return cli.Usage(errors.New("--tool must be of lower-case letters, digits and single hyphens between them, at most 40"))
	case f.out == "":
		return cli.Usage(errors.New("--out must name a file"))
	case f.unplanned != "" && (f.plan != "" || len(f.parts) > 0):
		return cli.Usage(errors.New("--unplanned is for when there is no plan: leave out --plan and --results"))
	case f.report != "" && !fs.ValidPath(f.report):
		return cli.Usage(fmt.Errorf("--report must be a path inside the checkout, such as prcheck/report.html, not %q", f.report))
	case f.settle < 0:
		return cli.Usage(errors.New("--settle must not be negative"))
	}
	return nil
}

func comment(ctx context.Context, env cli.Env, f commentFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	at, err := ci.ReadEnvironment(env.Getenv)
	if err != nil {
		return cli.Invalid(err)
	}
	post, err := f.posting(at, env)
	if err != nil {
		return err
	}
	if err := post.write(""); err != nil { // before anything else can fail
		return err
	}
	trouble := post.post(ctx, env)
	if _, err := io.WriteString(env.Stdout, post.body); err != nil {
		return errors.Join(trouble, err)
	}
	if post.overall.State != ci.Success {
		trouble = errors.Join(trouble, cli.ErrFailed)
	}
	return trouble
}

// posting reads what is to be shown.
func (f commentFlags) posting(at ci.Environment, env cli.Env) (*posting, error) {
	n := note.Note{Tool: f.tool, Serial: at.Generation, Commit: at.Commit.SHA, Links: note.Links{Pipeline: at.PipelineURL, Report: f.reportURL(at, env)}}
	if f.unplanned != "" {
		words, err := ci.ReadLastWords(f.unplanned)
		n.Unplanned = ci.Mask(words, at.Token, at.JobToken)
		return &posting{flags: f, at: at, note: n, overall: ci.UnplannedStatus(f.tool)}, cli.Invalid(err)
	}
	p, err := source.ReadPlan(f.plan)
	if err != nil {
		return nil, err
	}
	results, err := parts.Read(p, f.parts)
	if err != nil {
		return nil, err
	}
	ci.MaskResults(results, at.Token, at.JobToken)
	n.Plan, n.Results, n.Links.Log = p, results, ci.LogURLs(at.JobURL, f.parts, results)
	post := &posting{flags: f, at: at, note: n, overall: ci.OverallStatus(f.tool, results)}
	if f.status.String() == statusIntegrations {
		post.each = ci.IntegrationStatuses(f.tool, p, results)
	}
	return post, nil
}

// reportURL returns where GitLab shows the report that the job keeps, "" if there is
// no report.
func (f commentFlags) reportURL(at ci.Environment, env cli.Env) string {
	if f.report == "" {
		return ""
	}
	if info, err := os.Stat(f.report); err != nil || !info.Mode().IsRegular() {
		_, _ = fmt.Fprintf(env.Stderr, "runner: there is no report %s for the note to lead to\n", f.report) // only a note
		return ""
	}
	return ci.ArtifactURL(at.JobURL, f.report)
}

// A posting is what is to be shown in GitLab.
type posting struct {
	flags   commentFlags
	at      ci.Environment
	note    ci.Note
	overall ci.Status
	each    []ci.Status // of the integrations, if they are wanted
	body    string      // as it is in the file
}

// write writes the summary to its file: the given body, or a new one.
func (p *posting) write(body string) (err error) {
	if body == "" {
		if body, err = p.note.Body(""); err != nil {
			return err
		}
	}
	p.body = ci.Mask(body, p.at.Token, p.at.JobToken)
	return cli.WriteFile(p.flags.out, func(w io.Writer) error {
		_, err := io.WriteString(w, p.body)
		return err
	})
}

// post posts the note and the statuses, or says why not.
func (p *posting) post(ctx context.Context, env cli.Env) error {
	if why := p.unposted(); why != "" {
		_, err := fmt.Fprintf(env.Stderr, "runner: not posted, %s; the summary is in %s\n", why, p.flags.out)
		return err
	}
	client, err := ci.New(ci.Options{API: p.at.API, Token: p.at.Token, CAFile: p.at.CAFile, Settle: p.flags.settle})
	if err != nil {
		return cli.Invalid(err)
	}
	if err := client.Identify(ctx); err != nil {
		return interruptedOr(ctx, fmt.Errorf("posting to GitLab: %w; the summary is in %s", err, p.flags.out))
	}
	var errs []error
	if p.flags.status.String() != statusNone {
		errs = append(errs, p.report(ctx, client))
	}
	out, err := client.Publish(ctx, p.at.MergeRequest, p.note)
	if err != nil {
		return interruptedOr(ctx, errors.Join(append(errs, fmt.Errorf("posting %w; the summary is in %s", err, p.flags.out))...))
	}
	_, _ = fmt.Fprintf(env.Stderr, "runner: note %d of merge request !%d: %s\n", out.ID, p.at.MergeRequest.IID, out.Change) // only a note
	if out.Change != ci.Superseded {
		errs = append(errs, p.write(out.Body))
	}
	return errors.Join(errs...)
}

// interruptedOr returns err, unless the command was interrupted: then that is all
// there is to say.
func interruptedOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func (p *posting) report(ctx context.Context, client *ci.Client) error {
	if c := p.at.Commit; c.Project == 0 || c.Pipeline == 0 || c.SHA == "" {
		return cli.Invalid(errors.New("posting statuses: CI_PROJECT_ID, CI_PIPELINE_ID and CI_COMMIT_SHA are needed, or --status none"))
	}
	p.overall.TargetURL = p.at.JobURL
	for i := range p.each {
		p.each[i].TargetURL = p.at.JobURL
	}
	if err := client.SetStatuses(ctx, p.at.Commit, p.overall, p.each); err != nil {
		return fmt.Errorf("posting %w", err)
	}
	return nil
}

// unposted tells why nothing can be posted, and what would be.
func (p *posting) unposted() string {
	what := "a note"
	if p.flags.status.String() != statusNone {
		what += " and commit statuses"
	}
	iid := p.at.MergeRequest.IID
	switch {
	case p.at.API == "" || iid == 0 || p.at.MergeRequest.Project == 0:
		return "this is no pipeline of a merge request in GitLab: there it would be " + what
	case p.at.Token.Value == "":
		return fmt.Sprintf("%s is not set: with a token of scope api in it, it would be %s of merge request !%d", ci.TokenVariable, what, iid)
	}
	return ""
}
