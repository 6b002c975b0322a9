package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/cmd/internal/source"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// formats are the ways to write a report.
var formats = []string{"text", "json", "markdown"}

func reportCommand(env cli.Env) *cobra.Command {
	var name, form string
	var parts []string
	cmd := &cobra.Command{
		Use:   "report --plan FILE --results FILE... [--format text|json|markdown]",
		Short: "Write one report from a plan and its results",
		Long: `report puts a plan and the results of its parts together. A task of which no part
has a result counts as a failure. Exit code 1 when a check failed.`,
		Example: `  runner report --plan plan.json --results results.json
  runner report --plan plan.json --results part1.json --results part2.json --format markdown`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := checkFormat(form); err != nil {
				return err
			}
			p, err := source.ReadPlan(name)
			if err != nil {
				return err
			}
			results, err := readResults(p, parts)
			if err != nil {
				return err
			}
			return writeReport(env, form, p, results)
		},
	}
	cmd.Flags().StringVar(&name, "plan", "", "plan that planner wrote (required)")
	cmd.Flags().StringArrayVar(&parts, "results", nil, "results of the plan or of a part of it (required, repeatable)")
	cmd.Flags().StringVar(&form, "format", "text", "how to write it: text, json or markdown")
	return cmd
}

func readResults(p *plan.Plan, names []string) (*plan.Results, error) {
	if len(names) == 0 {
		return nil, cli.Usage(errors.New("--results is required: what runner run wrote"))
	}
	var parts []*plan.Results
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return nil, cli.Invalid(fmt.Errorf("reading results: %w", err))
		}
		part, err := plan.ReadResults(f)
		_ = f.Close() // it was only read
		if err != nil {
			return nil, cli.Invalid(fmt.Errorf("results %q: %w", name, err))
		}
		parts = append(parts, part)
	}
	merged, err := plan.MergeResults(p, parts...)
	return merged, cli.Invalid(err)
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

func checkFormat(form string) error {
	if !slices.Contains(formats, form) {
		return cli.Usage(fmt.Errorf("--format must be one of %s", strings.Join(formats, ", ")))
	}
	return nil
}
