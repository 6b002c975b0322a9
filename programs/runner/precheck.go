package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/report"
	"github.com/app-sre/prcheck/runner"
	"github.com/app-sre/prcheck/runner/guard"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/wrapper"
)

type precheckFlags struct {
	executionFlags
	audit                    auditFlags
	live                     liveFlags
	in                       change.Inputs
	validate                 cli.Choice
	repo, planOut, out, html string
	areLogsGiven             bool
	form                     cli.Choice
	look                     look
	ci                       ciFiles
	isStateGiven             bool
}

const validateUsage = "how much of head is checked for mistakes before anything runs; auto means changed in a " +
	"checkout, and none for bundle files"

const precheckBaseUsage = "the data before the change: a bundle file, git:REV, dir:PATH or s3://BUCKET/KEY (default: " +
	"the commit where HEAD left the branch that it will be merged into)"

func precheckCommand(env cli.Env, natives []integration.DryRunner) *cobra.Command {
	f := precheckFlags{in: change.Inputs{Natives: natives}, form: formats(), look: newLook(),
		validate: change.Validation()}
	cmd := &cobra.Command{
		Use:   "precheck [flags]",
		Short: "Plan, run and report in one command",
		Long: `precheck decides which integrations must be dry-run for a change, runs them and reports
their results.

Without --base and --head, base is the commit where HEAD left the branch that it will be
merged into, and head is the working tree with all uncommitted changes. In a GitLab job,
base and head are the commits that the variables of the job name, and the settings are
read from base. If the changed files contain mistakes, they are reported with file, line
and column, and nothing runs.

Outside of a job each checkout has a state in the user's cache: what tasks asked and how long
they took helps the next precheck, and a task that passed within the last 10 minutes with the
same inputs is not run again. The first line of the report says so. --no-reuse runs such tasks,
--state none also all that is proven by what tasks asked, and --state names another state.

After ctrl-C the running tasks are stopped, the results so far are reported, and the exit
code is 3.`,
		Example: `  runner precheck
  runner precheck --no-reuse
  runner precheck --state none
  runner precheck --open
  runner precheck --base git:v1 --reports reports
  runner precheck --base base.json --head head.json --config prcheck.yaml
  runner precheck --base base.json --head head.json --format markdown > report.md`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return guard.Run(cmd.Context(), env, guard.HeldFile{}, func(ctx context.Context, space guard.Workspace) error {
				f.temp, f.isStateGiven, f.areLogsGiven = space.Folder, cmd.Flags().Changed("state"), cmd.Flags().Changed("logs")
				return precheck(git.Pin(ctx), env, f)
			})
		},
	}
	cmd.Flags().StringVar(&f.in.Base, "base", "", precheckBaseUsage)
	cmd.Flags().StringVar(&f.in.Head, "head", "", "the data with the change, as for --base (default: the working tree "+
		"with all uncommitted changes)")
	cmd.Flags().StringVar(&f.in.BaseDir, "base-dir", "", baseDirUsage)
	cmd.Flags().StringVar(&f.repo, "repo", "", "folder of the checkout (default: the current one)")
	cmd.Flags().StringVar(&f.in.Config, "config", "",
		"settings: a file, base:PATH or git:REV[@DIR]:PATH (default prcheck.yaml, here or in the checkout, if it exists)")
	cmd.Flags().Var(&f.validate, "validate", validateUsage)
	cmd.Flags().BoolVar(&f.in.NoCache, "no-cache", false,
		"use no cache: neither for the bundles of checkouts nor for the state of this one")
	cmd.Flags().StringVar(&f.in.State, "state", "", precheckStateUsage)
	cmd.Flags().BoolVar(&f.in.NoReuse, "no-reuse", false, "also run tasks that passed before with the same inputs")
	cmd.Flags().StringVar(&f.planOut, "plan", "", "file for the plan (default: not kept)")
	cmd.Flags().StringVar(&f.out, "out", "", "file for the results (default: not kept)")
	cmd.Flags().Var(&f.form, "format", "format of the report: text, json or markdown")
	f.look.register(cmd)
	cmd.Flags().StringVar(&f.html, "html", "", "file for an additional report to open in a browser")
	f.live.register(cmd)
	f.ci.register(cmd)
	f.audit.register(cmd)
	f.register(cmd)
	return cmd
}

func precheck(ctx context.Context, env cli.Env, f precheckFlags) error {
	if f.jobs < 0 {
		return cli.Usage(errors.New("--jobs must not be negative"))
	}
	if err := f.audit.check(); err != nil {
		return cli.Usage(err)
	}
	if err := f.live.check(env); err != nil {
		return err
	}
	folder := f.ci.folder
	f.html, f.ci, f.logs = folder.html(f.html), folder.ci(f.ci), folder.logs(f.logs, f.areLogsGiven)
	isBeside := f.html == "" // the page, which then lies in the folder of the logs
	f.html = f.live.pageName(f.html, f.logs)
	if err := folder.open(ctx, env, f.in.Base, f.in.Head, f.in.Config); err != nil {
		return err
	}
	err := change.CheckPaths(ctx, env, change.Paths{
		Files: append(f.ci.names(), f.planOut, f.out, f.html), Folders: []string{f.logs},
	})
	if err != nil {
		return err
	}
	if isBeside {
		if err := f.live.removePage(f.html, f.in.Base, f.in.Head, f.in.Config); err != nil {
			return err
		}
	}
	f.in.Writes = append(f.ci.names(), f.planOut, f.out, f.html)
	if f.in, err = fromCheckout(ctx, env, f.in, f.repo); err != nil {
		return err
	}
	f.in = f.withState(ctx, env)
	f.in.Access = state.Writing
	open, err := f.in.Opener(ctx, env)
	if err != nil {
		return err
	}
	f.in.Worlds = keeperIn(open, f.temp)
	opened, err := f.in.OpenChecked(ctx, env, f.validate)
	if err != nil {
		return baseTrouble(ctx, env, f.in, err)
	}
	p, err := opened.Plan(ctx)
	if err != nil {
		return err
	}
	if f.planOut != "" {
		if err := cli.WriteFile(f.planOut, func(w io.Writer) error { return plan.Write(w, p) }); err != nil {
			return err
		}
	}
	open.Settings = opened.Settings
	return f.runAndReport(ctx, env, opened, fileInputs{natives: f.in.Natives, open: open, baseRef: f.in.Base,
		headRef: f.in.Head, base: opened.Base,
		head: opened.Head, plan: p})
}

// runAndReport runs a plan, shows its page meanwhile if the user asked for it, and writes the reports.
func (f *precheckFlags) runAndReport(ctx context.Context, env cli.Env, opened *change.Change, at fileInputs) error {
	first := f.sayEarlier(env, at.plan)
	shown, err := f.live.start(ctx, env, f.html, at)
	if err != nil {
		return err
	}
	results, trouble := f.runAndAudit(ctx, env, opened, at.plan, shown.watch())
	shown.stopCopies()
	if results == nil {
		shown.end(ctx, nil)
		return trouble
	}
	if f.out != "" {
		trouble = errors.Join(trouble, writeResults(env.Stdout, f.out, results))
	}
	at.results, at.report = results, report.New(at.plan, results)
	trouble = errors.Join(trouble, f.ci.folder.write(context.WithoutCancel(ctx), env, at.plan, results, at.report))
	page, verdict := f.write(ctx, env, first, at)
	shown.end(ctx, page)
	return errors.Join(trouble, verdict)
}

// write writes the reports, and returns the page.
func (f precheckFlags) write(ctx context.Context, env cli.Env, first string, at fileInputs) (page *report.Page,
	trouble error) {
	if !source.IsCheckout(at.headRef) {
		at.repo = f.repo
	}
	done := context.WithoutCancel(ctx) // also after ctrl-C
	at.locateFindings(done)
	who := whoMustApprove(done, at)
	if f.html != "" {
		page = &report.Page{Plan: at.plan, Report: at.report, Log: logLinks(env, f.html, nil, at.results),
			Approvals: who.page()}
		trouble = at.writeHTML(done, env, f.html, page)
	}
	trouble = errors.Join(trouble, f.ci.write(done, env, at))
	if _, err := io.WriteString(env.Stdout, first); err != nil {
		return page, errors.Join(trouble, err)
	}
	verdict := writeReport(ctx, env, f.form.String(), f.look, at.report, at.results)
	return page, errors.Join(trouble, verdict, who.write(env.Stdout, f.form.String()))
}

// runAndAudit runs a plan, and audits what it leaves out if the user asked for it. The results
// are nil if nothing was run.
func (f *precheckFlags) runAndAudit(ctx context.Context, env cli.Env, opened *change.Change,
	p *plan.Plan, watch func(wrapper.Event)) (results *plan.Results, trouble error) {
	places, err := placesOf(ctx, env, opened.Worlds, opened.Source(), f.in.Worlds)
	if err != nil {
		return nil, err
	}
	in := runner.Input{
		Plan: p, Base: opened.Base, Head: opened.Head, Settings: opened.Settings, Natives: f.in.Natives,
		Places: places, Programs: opened.Programs(), BaseSettings: opened.BaseSettings(ctx), State: opened.State,
		StateSize: f.stateSize(), Connect: connect(env), Getenv: env.Getenv, Environ: env.Environ,
	}
	defer func() { trouble = errors.Join(trouble, places.Close()) }()
	opts := f.options(env)
	opts.Watch = watch
	results, trouble = runner.Run(ctx, in, opts)
	if results != nil {
		f.audit.add(ctx, env.Stderr, in, f.options(env), results, func() (of planner.Input, err error) {
			err = opened.With(ctx, func(in planner.Input) error { of = in; return nil })
			return of, err
		})
	}
	return results, trouble
}

// precheckStateUsage is the help for the flag --state of precheck.
const precheckStateUsage = `folder, or s3://BUCKET/PREFIX, that remembers the queries and inputs of tasks that passed,
how long tasks took, and which are flaky; none remembers nothing (default: outside of a
job a folder of this checkout in the user's cache, whose results count for 10 minutes)`

// withState fills in the state of the inputs if the user named none.
func (f precheckFlags) withState(ctx context.Context, env cli.Env) change.Inputs {
	in := f.in
	switch {
	case in.State == change.NoState:
		in.State = ""
	case !f.isStateGiven:
		in = in.WithOwnState(ctx, env)
	}
	return in
}

// stateSize returns how many bytes the state may have; 0 for the usual.
func (f precheckFlags) stateSize() int64 {
	if f.in.HasOwnState {
		return change.OwnStateSize
	}
	return 0
}

// sayEarlier says on stderr what a plan leaves out because the state of the checkout has it. If the
// report is a text, it returns that line instead, which comes first.
func (f precheckFlags) sayEarlier(env cli.Env, p *plan.Plan) (first string) {
	if !f.in.HasOwnState {
		return ""
	}
	line := earlier(p)
	if f.form.String() == "text" {
		return line
	}
	_, _ = fmt.Fprint(env.Stderr, line) // only a note
	return ""
}

// earlier returns a line about what a plan leaves out because of earlier runs in this checkout, with the
// flags that run it; "" if nothing.
func earlier(p *plan.Plan) string {
	proven := 0
	for _, d := range p.Integrations {
		if len(d.Evidence.Traces) > 0 && (d.Decision == plan.Shards || d.Decision == plan.Skip && d.Rung != plan.RungResult) {
			proven++
		}
	}
	var parts []string
	switch n := p.Reused(); {
	case n == 1:
		parts = append(parts,
			fmt.Sprintf("1 task passed within the last %.0f minutes with the same inputs and is not run again (--no-reuse "+
				"runs it)", change.OwnReuse.Minutes()))
	case n > 1:
		parts = append(parts,
			fmt.Sprintf("%d tasks passed within the last %.0f minutes with the same inputs and are not run again (--no-reuse "+
				"runs them)", n, change.OwnReuse.Minutes()))
	}
	switch {
	case proven == 1:
		parts = append(parts, "1 integration is left out, or a part of it, by what it asked when it last passed here "+
			"(--state none runs it)")
	case proven > 1:
		parts = append(parts,
			fmt.Sprintf("%d integrations are left out, or parts of them, by what they asked when they last passed here "+
				"(--state none runs them)", proven))
	}
	if len(parts) == 0 {
		return ""
	}
	return "runner: " + strings.Join(parts, "; ") + "\n"
}
