package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
	"github.com/app-sre/prcheck/report/lines"
	"github.com/app-sre/prcheck/source"
)

// ciFiles are the files that a pipeline shows beside a merge request; "" is not
// written.
type ciFiles struct{ junit, codequality, metrics string }

func (f *ciFiles) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.junit, "junit", "", "file for a JUnit report, beside the other")
	cmd.Flags().StringVar(&f.codequality, "codequality", "", "file for a Code Quality report of GitLab: failures at the changed lines that caused the runs")
	cmd.Flags().StringVar(&f.metrics, "metrics", "", "file for the numbers of the report, as OpenMetrics text")
}

// placed tells whether one of the files shows places in the repository.
func (f ciFiles) placed() bool { return f.junit+f.codequality != "" }

// files are what the files of a pipeline are made from.
type files struct {
	open       source.Opener
	head       string         // reference of head, as far as it is known
	repo       string         // folder that --repo names, "" for none
	base, with *bundle.Bundle // both bundles; nil: not at hand
	plan       *plan.Plan
	results    *plan.Results
}

// write writes the files that were asked for.
func (f ciFiles) write(ctx context.Context, env cli.Env, from files) error {
	found := report.Findings{Plan: from.plan, Report: report.New(from.plan, from.results)}
	if f.placed() && unwell(from.results) {
		var err error
		if found.Locator, err = from.locator(ctx, env); err != nil {
			return err
		}
	}
	var errs []error
	for _, file := range []struct {
		name   string
		render func(io.Writer, report.Findings) error
	}{{f.junit, report.JUnit}, {f.codequality, report.CodeQuality}, {f.metrics, report.Metrics}} {
		if file.name != "" {
			errs = append(errs, cli.WriteFile(file.name, func(w io.Writer) error { return file.render(w, found) }))
		}
	}
	return errors.Join(errs...)
}

// unwell tells whether there is a task to show a place for, be it one that blocks
// nothing.
func unwell(r *plan.Results) bool {
	return slices.ContainsFunc(r.Results, func(r plan.Result) bool { return !r.OK() })
}

// locator finds lines in the checkout of head. A checkout that nobody named may
// be missing; then it is said that there are no lines.
func (f files) locator(ctx context.Context, env cli.Env) (report.Locator, error) {
	ref := inRepo(plan.Side{Ref: f.head}, f.repo).Ref
	if f.repo != "" && !source.IsCheckout(ref) {
		ref = "dir:" + f.repo
	}
	texts, err := f.open.Texts(ctx, ref)
	switch {
	case err == nil && texts.Read == nil:
		err = errors.New("there is no checkout, name one with --repo")
	case err != nil && f.repo != "" || ctx.Err() != nil:
		return nil, err
	case err == nil && f.with == nil:
		_, _ = fmt.Fprintln(env.Stderr, "runner: the bundles of the plan are not at hand, so findings in lists may be at the wrong item; name them with --base and --head") // only a note
	}
	if err != nil {
		_, _ = fmt.Fprintf(env.Stderr, "runner: findings are at the first line of their files: %v\n", err) // only a note
	}
	return lines.New(lines.Files{Checkout: f.open.Settings.Checkout(), Read: texts.Read}, f.base, f.with), nil
}

// inRepo is a side of a plan with its reference to a checkout leading into the
// folder that --repo names.
func inRepo(s plan.Side, repo string) plan.Side {
	revision, _, isRevision := source.ParseRevision(s.Ref)
	switch {
	case repo == "":
	case isRevision:
		s.Ref = "git:" + revision + "@" + repo
	case source.IsCheckout(s.Ref):
		s.Ref = "dir:" + repo
	}
	return s
}
