package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/cmd/internal/change"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
	"github.com/app-sre/prcheck/runner/parts"
	"github.com/app-sre/prcheck/source"
)

// formats are the ways to write a report.
func formats() cli.Choice { return cli.OneOf("text", "json", "markdown") }

type reportFlags struct {
	plan, base, head, html string
	form                   cli.Choice
	parts                  []string
	ci                     ciFiles
	repo, config           string
}

func reportCommand(env cli.Env) *cobra.Command {
	f := reportFlags{form: formats()}
	cmd := &cobra.Command{
		Use:   "report --plan FILE --results FILE... [--format text|json|markdown] [--html FILE]",
		Short: "Write one report from a plan and its results",
		Long: `report puts a plan and the results of its parts together. A task of which no part
has a result counts as a failure. Exit code 1 when a check failed.

With --html it also writes one file for a browser. The values of changed fields
come from the bundles, which are looked for where the plan says, beside the plan,
or where --base and --head say; without them that file names the fields only.

With --codequality each failure stands at the lines whose change made it run. They
are found in the checkout that the plan was made from, or in the one that --repo
names; without a checkout all lines are 1.`,
		Example: `  runner report --plan plan.json --results results.json
  runner report --plan plan.json --results part1.json --results part2.json --format markdown
  runner report --plan plan.json --results results.json --html report.html
  runner report --plan plan.json --results results.json --junit junit.xml --codequality codequality.json --metrics metrics.txt`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error { return reportPlan(cmd.Context(), env, f) },
	}
	cmd.Flags().StringVar(&f.plan, "plan", "", "plan that planner wrote (required)")
	cmd.Flags().StringArrayVar(&f.parts, "results", nil, "results of the plan or of a part of it, or a folder with files results*.json (required, repeatable)")
	cmd.Flags().Var(&f.form, "format", "how to write it: text, json or markdown")
	cmd.Flags().StringVar(&f.html, "html", "", "file for a report to open in a browser, beside the other")
	f.ci.flags(cmd)
	cmd.Flags().StringVar(&f.repo, "repo", "", "folder of the checkout, for lines, when it is not where the plan says")
	cmd.Flags().StringVar(&f.config, "config", "", "settings that say where the parts of the checkout are (default prcheck.yaml, here or in the checkout, if it exists)")
	cmd.Flags().StringVar(&f.base, "base", "", "bundle before the change, for the files above, when it is not where the plan says")
	cmd.Flags().StringVar(&f.head, "head", "", "bundle with the change, for the files above, when it is not where the plan says")
	return cmd
}

func reportPlan(ctx context.Context, env cli.Env, f reportFlags) error {
	switch {
	case f.html == "" && !f.ci.placed() && f.base+f.head != "":
		return cli.Usage(errors.New("--base and --head are for --html, --junit and --codequality: give one of them"))
	case !f.ci.placed() && f.repo+f.config != "":
		return cli.Usage(errors.New("--repo and --config are for --junit and --codequality: give one of them"))
	}
	p, err := source.ReadPlan(f.plan)
	if err != nil {
		return err
	}
	results, err := parts.Read(p, f.parts)
	if err != nil {
		return err
	}
	if err := f.files(ctx, env, p, results); err != nil {
		return err
	}
	return writeReport(env, f.form.String(), p, results)
}

// files writes the files beside the report.
func (f reportFlags) files(ctx context.Context, env cli.Env, p *plan.Plan, results *plan.Results) error {
	open := source.In(env)
	placed := f.ci.placed() && unwell(results)
	needed := f.html != "" || placed
	if needed {
		if err := f.reach(ctx, env, p); err != nil {
			return err
		}
		if f.config == "" && f.repo != "" {
			f.config = ownSettings(f.repo)
		}
		rules, err := change.SettingsOfPlan(ctx, f.config, p)
		if err == nil {
			open = open.With(rules)
		} else if placed {
			return err
		}
	}
	at := files{open: open, repo: f.repo, head: p.Head.Ref, plan: p, results: results}
	if needed {
		var err error
		if at.base, at.with, err = f.bundles(ctx, open, p); err != nil {
			return err
		}
	}
	if f.html != "" {
		if err := writeHTML(f.html, p, results, at.base, at.with); err != nil {
			return err
		}
	}
	return f.ci.write(ctx, env, at)
}

// reach fetches the commits of the plan that a shallow clone of a job lacks. What
// cannot be had is as if it were not there; only an interruption counts.
func (f reportFlags) reach(ctx context.Context, env cli.Env, p *plan.Plan) error {
	for _, side := range []plan.Side{p.Base, p.Head} {
		if err := change.Reach(ctx, env, inRepo(side, f.repo).Ref); err != nil && ctx.Err() != nil {
			return err
		}
	}
	return nil
}

// bundles opens the bundles of the plan. Those that nobody named may be missing:
// then there are none.
func (f reportFlags) bundles(ctx context.Context, open source.Opener, p *plan.Plan) (base, head *bundle.Bundle, err error) {
	files := runFlags{plan: f.plan}
	if base, err = files.bundle(ctx, open, f.base, inRepo(p.Base, f.repo), nil); err == nil {
		head, err = files.bundle(ctx, open, f.head, inRepo(p.Head, f.repo), base)
	}
	if err != nil && f.base+f.head == "" {
		return nil, nil, nil
	}
	return base, head, err
}

// writeReport writes the report and returns cli.ErrFailed when a check failed.
func writeReport(env cli.Env, form string, p *plan.Plan, results *plan.Results) error {
	r := report.New(p, results)
	var err error
	switch form {
	case "text":
		err = report.Text(env.Stdout, r, report.Style{Color: env.Color(env.Stdout)})
	case "json":
		err = report.JSON(env.Stdout, r)
	case "markdown":
		err = report.Markdown(env.Stdout, r)
	}
	if err == nil && results.Failed() {
		err = cli.ErrFailed
	}
	return err
}

// writeHTML writes the report as one file for a browser. Without both bundles it shows
// no values.
func writeHTML(name string, p *plan.Plan, results *plan.Results, base, head *bundle.Bundle) error {
	page := report.Page{Plan: p, Report: report.New(p, results)}
	if base != nil && head != nil {
		page.Contents = report.NewContents(bundle.Compare(base, head))
	}
	return cli.WriteFile(name, func(w io.Writer) error { return report.HTML(w, page) })
}
