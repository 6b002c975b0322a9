package runner

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/report"
	"github.com/app-sre/prcheck/runner/parts"
	"github.com/app-sre/prcheck/source"
)

// formats returns the value of a flag that chooses the format of a report.
func formats() cli.Choice { return cli.OneOf(report.Formats()...) }

type reportFlags struct {
	planFlags
	html, repo string
	form       cli.Choice
	look       look
	parts      []string
	collect    string
	natives    []integration.DryRunner
	ci         ciFiles
}

func reportCommand(env cli.Env, natives []integration.DryRunner) *cobra.Command {
	f := reportFlags{natives: natives, form: formats(), look: newLook()}
	cmd := &cobra.Command{
		Use:   "report --plan FILE --results FILE... [--format text|json|markdown] [--html FILE]",
		Short: "Write one report from a plan and its results",
		Long: `report merges the results of a plan's parts and writes a report. A task without a result
counts as failed. The exit code is 1 if a check failed.

With --html it also writes one file for a browser. The file shows the values of changed
fields if the bundles are there: where the plan says, in the folder of the plan, or where
--base and --head say. Otherwise it shows only the names of the fields.

With --codequality each failure is shown at the lines whose change made its task run. The
lines are found in the checkout that the plan was made from, or in the one that --repo
names. Without a checkout each failure is shown at line 1.`,
		Example: `  runner report --plan plan.json --results results.json
  runner report --plan plan.json --results part1.json --results part2.json --format markdown
  runner report --plan plan.json --results results.json --reports reports
  runner report --plan plan.json --collect collected
  runner report --plan plan.json --results results.json --html report.html
  runner report --plan plan.json --results results.json --junit junit.xml --codequality codequality.json --metrics metrics.txt --terraform terraform.json`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error { return reportPlan(cmd.Context(), env, f) },
	}
	f.register(cmd)
	cmd.Flags().StringArrayVar(&f.parts, "results", nil,
		"results of the plan or of a part of it, or a folder with files results*.json (required, repeatable)")
	addCollectFlag(cmd, &f.collect)
	cmd.Flags().Var(&f.form, "format", "format of the report: text, json or markdown")
	f.look.register(cmd)
	cmd.Flags().StringVar(&f.html, "html", "", "file for an additional report to open in a browser")
	f.ci.register(cmd)
	cmd.Flags().StringVar(&f.repo, "repo", "", "folder of the checkout in which lines are found, and from which "+
		"prcheck.yaml is read if there is none here (default: where the plan says)")
	return cmd
}

func reportPlan(ctx context.Context, env cli.Env, f reportFlags) error {
	folder := f.ci.folder
	f.html, f.ci = folder.html(f.html), folder.ci(f.ci)
	switch {
	case f.html == "" && !f.ci.needPlaces() && f.base+f.head != "":
		return cli.Usage(errors.New("--base and --head are for --html, --junit and --codequality: give one of them"))
	case !f.ci.needPlaces() && f.repo+f.config != "":
		return cli.Usage(errors.New("--repo and --config are for --junit and --codequality: give one of them"))
	}
	reads := append([]string{f.plan, f.base, f.head, f.config, f.collect}, f.parts...)
	if err := folder.open(ctx, env, reads...); err != nil {
		return err
	}
	var err error
	if f.parts, err = collected(ctx, env, f.collect, f.parts); err != nil {
		return err
	}
	err = change.CheckPaths(ctx, env, change.Paths{
		Read: append([]string{f.plan}, f.parts...), Files: append(f.ci.names(), f.html),
	})
	if err != nil {
		return err
	}
	p, err := source.ReadPlan(f.plan)
	if err != nil {
		return err
	}
	results, err := parts.Read(p, f.parts)
	if err != nil {
		return err
	}
	rep := report.New(p, results)
	if err := errors.Join(f.writeFiles(ctx, env, p, results, rep), folder.write(ctx, env, p, results, rep)); err != nil {
		return err
	}
	return writeReport(ctx, env, f.form.String(), f.look, rep, results)
}

// writeFiles fills in the lines of findings, and writes the files beside the report.
func (f reportFlags) writeFiles(ctx context.Context, env cli.Env, p *plan.Plan, results *plan.Results,
	rep *report.Report) error {
	open := source.In(env)
	needsPlaces := f.ci.needPlaces() && (hasFailures(results) || hasFindings(results))
	needsBundles := f.html != "" || needsPlaces || hasFindings(results)
	if needsBundles {
		if err := f.reach(ctx, env, p); err != nil {
			return err
		}
		if f.config == "" && f.repo != "" {
			f.config = source.SettingsIn(f.repo)
		}
		rules, err := change.SettingsOfPlan(ctx, f.config, p)
		if err == nil {
			open = open.With(rules)
		} else if needsPlaces {
			return err
		}
	}
	at := fileInputs{natives: f.natives, open: open, repo: f.repo, headRef: p.Head.Ref, plan: p, results: results,
		report: rep}
	if needsBundles {
		var err error
		if at.base, at.head, err = f.bundles(ctx, open, p); err != nil {
			return err
		}
	}
	at.locateFindings(ctx)
	if f.html != "" {
		if err := at.writeHTML(ctx, env, f.html,
			&report.Page{Plan: p, Report: rep, Log: logLinks(env, f.html, f.parts, results)}); err != nil {
			return err
		}
	}
	return f.ci.write(ctx, env, at)
}

// reach fetches the commits of the plan if the clone is shallow and lacks them. A commit
// that cannot be fetched is treated as missing; only an interruption is an error.
func (f reportFlags) reach(ctx context.Context, env cli.Env, p *plan.Plan) error {
	for _, side := range []plan.Side{p.Base, p.Head} {
		if err := change.Reach(ctx, env, inRepo(side, f.repo).Ref); err != nil && ctx.Err() != nil {
			return err
		}
	}
	return nil
}

// bundles opens the bundles of the plan. If they cannot be opened and no flag names them,
// it returns nil without an error.
func (f reportFlags) bundles(ctx context.Context, open source.Opener,
	p *plan.Plan) (base, head *bundle.Bundle, err error) {
	if base, err = f.bundle(ctx, open, f.base, inRepo(p.Base, f.repo), nil); err == nil {
		head, err = f.bundle(ctx, open, f.head, inRepo(p.Head, f.repo), base)
	}
	if err != nil && f.base+f.head == "" {
		return nil, nil, nil
	}
	return base, head, err
}

// writeReport writes the report. It returns cli.ErrFailed if a check failed, or if the
// merge request lacks a label that its effects need.
func writeReport(ctx context.Context, env cli.Env, form string, l look, rep *report.Report,
	results *plan.Results) error {
	if err := report.Write(env.Stdout, form, rep, l.style(env)); err != nil {
		return err
	}
	return errors.Join(verdictError(results), checkLabelsHere(ctx, env, rep.Effects).verdict(env))
}

// verdictError returns the error for the verdict of results: [cli.ErrFailed] if a check
// failed, and an error with exit code 3 if nothing was checked.
func verdictError(results *plan.Results) error {
	switch results.Verdict() {
	case plan.VerdictFailed:
		return cli.ErrFailed
	case plan.VerdictNotChecked:
		return errors.New("not checked: " + results.WhyNotChecked())
	}
	return nil
}

// writeHTML writes the report as one file for a browser. Without both bundles, and if it is not
// known which values are secrets, it shows no values of changed fields. The values become a part of the page.
func (f fileInputs) writeHTML(ctx context.Context, env cli.Env, name string, page *report.Page) error {
	if f.base != nil && f.head != nil {
		var err error
		if page.Contents, err = change.Contents(ctx, f.natives, f.base, f.head); err != nil {
			// the report is what counts
			_, _ = fmt.Fprintf(env.Stderr, "warning: %s shows no values of changed fields: %v\n", name, err)
		}
	}
	return cli.WriteFile(name, func(w io.Writer) error { return report.HTML(w, *page) })
}
