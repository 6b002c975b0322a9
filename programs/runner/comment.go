package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/ci"
	"github.com/app-sre/prcheck/ci/note"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/names"
	"github.com/app-sre/prcheck/internal/safepath"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
	"github.com/app-sre/prcheck/runner/parts"
	"github.com/app-sre/prcheck/source"
)

// The values of --status.
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
	collect           string
	settle            time.Duration
}

func commentCommand(env cli.Env) *cobra.Command {
	f := commentFlags{status: cli.OneOf(statusOverall, statusIntegrations, statusNone)}
	cmd := &cobra.Command{
		Use:   "comment {--plan FILE --results FILE... | --unplanned FILE} [flags]",
		Short: "Write the results into a note of the merge request in GitLab, and set commit statuses",
		Long: `comment merges the results of a plan's parts and writes a summary to a file and to
stdout. In GitLab it also writes the summary into a note of the merge request, and sets
commit statuses. Each tool has one note, which is edited when there are new results.

The merge request is read from the variables of the GitLab job, and a token with scope
api from PRCHECK_GITLAB_TOKEN. Without them nothing is posted, and a message says so.

If planner could not make a plan, give --unplanned instead of --plan: then the note and
the status say that nothing was checked, and show the last messages of planner.

The exit code is 1 if a check failed or could not be planned, and 3 if something could
not be posted.`,
		Example: `  runner comment --plan plan.json --results results.json
  runner comment --plan plan.json --collect collected --status integrations
  runner comment --unplanned planner.log`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error { return comment(cmd.Context(), env, f) },
	}
	cmd.Flags().StringVar(&f.plan, "plan", "", "plan that planner wrote (required without --unplanned)")
	cmd.Flags().StringArrayVar(&f.parts, "results", nil,
		"results of the plan or of a part of it, or a folder with files results*.json (required with --plan, repeatable)")
	addCollectFlag(cmd, &f.collect)
	cmd.Flags().StringVar(&f.unplanned, "unplanned", "", "file with the stderr of planner, which could not make a plan; "+
		"it may be missing, for example if the job was killed")
	cmd.Flags().StringVar(&f.report, "report", "", "path of an HTML report among this job's artifacts, relative to the "+
		"checkout; the note links to it")
	cmd.Flags().StringVar(&f.tool, "tool", "prcheck", "name of the note and the statuses; each name has a note of its own")
	cmd.Flags().Var(&f.status, "status", "commit statuses to set: overall, integrations (overall, and one for each "+
		"integration) or none")
	cmd.Flags().StringVar(&f.out, "out", "prcheck-note.md", "file for the summary")
	cmd.Flags().DurationVar(&f.settle, "settle", ci.DefaultSettle,
		"how long to wait, after the note was written, before checking that no older pipeline has overwritten it; a "+
			"shorter time is less safe")
	return cmd
}

func (f commentFlags) check() error {
	switch {
	case !names.IsTool(f.tool):
		return cli.Usage(errors.New("--tool must be of lower-case letters, digits and single hyphens between them, at " +
			"most 40"))
	case f.out == "":
		return cli.Usage(errors.New("--out must name a file"))
	case f.unplanned != "" && (f.plan != "" || len(f.parts) > 0 || f.collect != ""):
		return cli.Usage(errors.New("--unplanned is for when there is no plan: leave out --plan and --results"))
	case f.report != "" && !fs.ValidPath(f.report):
		return cli.Usage(fmt.Errorf("--report must be a path inside the checkout, such as prcheck/report.html, not %q",
			f.report))
	case f.settle < 0:
		return cli.Usage(errors.New("--settle must not be negative"))
	}
	return nil
}

func comment(ctx context.Context, env cli.Env, f commentFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	err := change.CheckPaths(ctx, env, change.Paths{Read: append([]string{f.plan, f.unplanned, f.report}, f.parts...),
		Files: []string{f.out}})
	if err != nil {
		return err
	}
	at, err := ci.ReadEnvironment(env.Getenv)
	if err != nil {
		return cli.Invalid(err)
	}
	if f.parts, err = collected(ctx, env, f.collect, f.parts); err != nil {
		return err
	}
	posting, verdict, err := f.posting(ctx, at, env)
	if err != nil {
		return err
	}
	body, err := posting.Body()
	if err != nil {
		return err
	}
	if err := f.write(body); err != nil { // before anything else can fail
		return err
	}
	shown, trouble := f.post(ctx, env, posting)
	if shown != "" {
		body = shown
		trouble = errors.Join(trouble, f.write(body))
	}
	if _, err := io.WriteString(env.Stdout, body); err != nil {
		return errors.Join(trouble, err)
	}
	return errors.Join(trouble, verdict)
}

// posting reads what is to be posted. It also returns the error for the verdict of the
// check, nil if the check passed.
func (f commentFlags) posting(ctx context.Context, at ci.Environment,
	env cli.Env) (out ci.Posting, verdict, err error) {
	n := note.Note{Tool: f.tool, Serial: at.Generation, Commit: at.Commit.SHA,
		Links: note.Links{Pipeline: at.PipelineURL, Report: f.reportURL(at, env)}}
	out = ci.Posting{Environment: at, Settle: f.settle, WithStatuses: f.status.String() != statusNone}
	if f.unplanned != "" {
		words, err := ci.ReadLastWords(f.unplanned)
		n.Unplanned = ci.Mask(words, at.Token, at.JobToken)
		out.Note, out.Overall = n, ci.UnplannedStatus(f.tool)
		return out, cli.ErrFailed, cli.Invalid(err)
	}
	p, err := source.ReadPlan(f.plan)
	if err != nil {
		return out, nil, err
	}
	results, err := parts.Read(p, f.parts)
	if err != nil {
		return out, nil, err
	}
	ci.MaskResults(results, at.Token, at.JobToken)
	n.Plan, n.Results, n.Links.Log = p, results, ci.LogURLs(at.JobURL, f.parts, results)
	n.Locator = noteLocator(ctx, env, p, results)
	effects := report.New(p, results).Effects
	labels := checkLabels(ctx, at, effects)
	n.Labels = labels.forNote()
	out.Note, out.Overall = n, ci.OverallStatus(f.tool, results).WithLabels(labels.missing,
		labels.trouble).WithEffects(effects)
	if f.status.String() == statusIntegrations {
		out.Each = ci.IntegrationStatuses(f.tool, p, results)
	}
	return out, errors.Join(verdictError(results), labels.verdict(env)), nil
}

// noteLocator returns a locator for the findings of a note. It returns nil if head is not a
// revision that is at hand: in a folder lines may have moved since the run.
func noteLocator(ctx context.Context, env cli.Env, p *plan.Plan, results *plan.Results) report.Locator {
	if _, _, isRevision := source.ParseRevision(p.Head.Ref); !isRevision {
		return nil
	}
	rules, err := change.SettingsOfPlan(ctx, "", p)
	if err != nil {
		return nil
	}
	return fileInputs{open: source.In(env).With(rules), headRef: p.Head.Ref, plan: p, results: results}.findingLocator(ctx)
}

// reportURL returns the address of the report among the job's artifacts, "" if there is
// no report.
func (f commentFlags) reportURL(at ci.Environment, env cli.Env) string {
	if f.report == "" {
		return ""
	}
	if info, err := safepath.Stat(f.report); err != nil || !info.Mode().IsRegular() {
		_, _ = fmt.Fprintf(env.Stderr, "runner: there is no report %s for the note to link to\n", f.report) // only a note
		return ""
	}
	return ci.ArtifactURL(at.JobURL, f.report)
}

// write writes the summary to its file.
func (f commentFlags) write(body string) error {
	folder, err := safepath.MakeFolder(filepath.Dir(f.out)) // there is none after a planner that died
	if err != nil {
		return fmt.Errorf("writing %q: %w", f.out, err)
	}
	_ = folder.Close() // it was only made
	return cli.WriteFile(f.out, func(w io.Writer) error {
		_, err := io.WriteString(w, body)
		return err
	})
}

// post posts the note and the statuses, or says why it cannot. It returns the body of the
// note, "" if the note was not posted or shows a newer plan.
func (f commentFlags) post(ctx context.Context, env cli.Env, p ci.Posting) (string, error) {
	if obstacle := p.Obstacle(); obstacle != "" {
		_, err := fmt.Fprintf(env.Stderr, "runner: not posted, %s; the summary is in %s\n", obstacle, f.out)
		return "", err
	}
	out, statusErr, err := p.Post(ctx)
	if err != nil {
		return "", interruptedOr(ctx, errors.Join(statusErr, fmt.Errorf("%w; the summary is in %s", err, f.out)))
	}
	// only a note
	_, _ = fmt.Fprintf(env.Stderr, "runner: note %d of merge request !%d: %s\n", out.ID, p.Environment.MergeRequest.IID,
		out.Change)
	if out.Change == ci.Superseded {
		return "", statusErr
	}
	return out.Body, statusErr
}

// interruptedOr returns the error of the context if it has ended, otherwise err.
func interruptedOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
