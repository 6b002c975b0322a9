package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/report"
	"github.com/app-sre/prcheck/report/lines"
	"github.com/app-sre/prcheck/source"
)

// ciFiles are the names of the files that GitLab shows in a merge request, and the folder for all reports. A file
// without a name is not written.
type ciFiles struct {
	junit, codequality, metrics, terraform string
	folder                                 reportFolder
}

// register adds the flags to a command.
func (f *ciFiles) register(cmd *cobra.Command) {
	cmd.Flags().StringVar((*string)(&f.folder), "reports", "", reportsUsage)
	cmd.Flags().StringVar(&f.junit, "junit", "", "file for an additional JUnit report")
	cmd.Flags().StringVar(&f.codequality, "codequality", "",
		"file for a Code Quality report for GitLab, which shows failures at the changed lines that made their tasks run")
	cmd.Flags().StringVar(&f.terraform, "terraform", "", "file for a Terraform report for GitLab, which shows how many "+
		"effects create, update and delete something")
	cmd.Flags().StringVar(&f.metrics, "metrics", "", "file for the numbers of the report as OpenMetrics text")
}

// names returns the names of all files.
func (f ciFiles) names() []string { return []string{f.junit, f.codequality, f.metrics, f.terraform} }

// needPlaces reports whether one of the files shows places in the repository.
func (f ciFiles) needPlaces() bool { return f.junit+f.codequality != "" }

// fileInputs are what the files for GitLab are made from.
type fileInputs struct {
	open       source.Opener
	baseRef    string         // reference of base, if it is known
	headRef    string         // reference of head, if it is known
	repo       string         // folder that --repo names, "" without it
	base, head *bundle.Bundle // nil if they cannot be opened
	plan       *plan.Plan
	results    *plan.Results
	report     *report.Report // of the results
	natives    []integration.DryRunner
}

// write writes the files that have a name.
func (f ciFiles) write(ctx context.Context, env cli.Env, from fileInputs) error {
	found := report.Input{Plan: from.plan, Report: from.report}
	if f.needPlaces() && (hasFailures(from.results) || hasFindings(from.results)) {
		var err error
		if found.Locator, err = from.locator(ctx, env); err != nil {
			return err
		}
	}
	var errs []error
	for _, file := range []struct {
		name   string
		render func(io.Writer, report.Input) error
	}{{f.junit, report.JUnit}, {f.codequality, report.CodeQuality}, {f.metrics, report.Metrics},
		{f.terraform, report.Terraform}} {
		if file.name != "" {
			errs = append(errs, cli.WriteFile(file.name, func(w io.Writer) error { return file.render(w, found) }))
		}
	}
	return errors.Join(errs...)
}

// hasFailures reports whether a task did not pass, even if that does not fail the check.
// For each of these tasks a place is shown.
func hasFailures(r *plan.Results) bool {
	return slices.ContainsFunc(r.Results, func(r plan.Result) bool { return !r.OK() })
}

// hasFindings reports whether there is a finding in a file, or an effect that a place in a file leads to.
func hasFindings(r *plan.Results) bool {
	isInFile := func(f plan.Finding) bool { return f.File != "" }
	hasCause := func(e plan.Effect) bool { return len(e.Cause) > 0 }
	return slices.ContainsFunc(r.Results, func(r plan.Result) bool {
		return slices.ContainsFunc(r.Findings, isInFile) || r.Effects != nil && slices.ContainsFunc(r.Effects.Items, hasCause)
	})
}

// locateFindings fills in the lines of findings, if the checkout of head is at hand.
func (f fileInputs) locateFindings(ctx context.Context) {
	if l := f.findingLocator(ctx); l != nil {
		f.report.Locate(l)
	}
}

// findingLocator returns a locator for findings, nil if there are none in files or if the
// checkout of head is not at hand.
func (f fileInputs) findingLocator(ctx context.Context) report.Locator {
	if !hasFindings(f.results) {
		return nil
	}
	texts, err := f.open.Texts(ctx, f.reference())
	if err != nil || texts.Read == nil {
		return nil
	}
	return lines.New(lines.Files{Checkout: f.open.Settings.Checkout(), Read: texts.Read}, f.base, f.head)
}

// reference returns the reference of head's checkout.
func (f fileInputs) reference() string {
	ref := inRepo(plan.Side{Ref: f.headRef}, f.repo).Ref
	if f.repo != "" && !source.IsCheckout(ref) {
		ref = "dir:" + f.repo
	}
	return ref
}

// locator returns a locator of lines in the checkout of head. If there is no checkout and
// --repo does not name one, a message says that lines are not known.
func (f fileInputs) locator(ctx context.Context, env cli.Env) (report.Locator, error) {
	texts, err := f.open.Texts(ctx, f.reference())
	switch {
	case err == nil && texts.Read == nil:
		err = errors.New("there is no checkout: name one with --repo")
	case err != nil && f.repo != "" || ctx.Err() != nil:
		return nil, err
	case err == nil && f.head == nil:
		// only a note
		_, _ = fmt.Fprintln(env.Stderr, "runner: the bundles of the plan were not found, so findings in lists may be shown "+
			"at the wrong item: name the bundles with --base and --head")
	}
	if err != nil {
		// only a note
		_, _ = fmt.Fprintf(env.Stderr, "runner: findings are shown at the first line of their files: %v\n", err)
	}
	return lines.New(lines.Files{Checkout: f.open.Settings.Checkout(), Read: texts.Read}, f.base, f.head), nil
}

// inRepo returns a side of a plan whose reference to a checkout leads to the folder that
// --repo names.
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
