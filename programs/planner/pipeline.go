package planner

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/ci/pipeline"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/source"
)

func pipelineCommand(env cli.Env) *cobra.Command {
	var name, out string
	var opts pipeline.Options
	cmd := &cobra.Command{
		Use:   "pipeline --plan FILE [--out FILE] [flags]",
		Short: "Write a plan as a child pipeline of GitLab",
		Long: `pipeline writes the child pipeline that runs a plan: parallel jobs that run one
part of the plan each, one run order after the other, and a last job that puts
their results together. Nothing of the plan but numbers is in it.

The jobs take the plan and its bundles from the folder prcheck of the job
prcheck-plan of the parent pipeline.`,
		Example: `  planner pipeline --plan prcheck/plan.json --out child.yml
  planner pipeline --plan prcheck/plan.json --image registry.example.com/prcheck:1 --parts 20`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("parent") {
				opts.Parent = env.Getenv("CI_PIPELINE_ID")
			}
			if err := checkPipeline(opts); err != nil {
				return err
			}
			if err := change.CheckPaths(cmd.Context(), env,
				change.Paths{Read: []string{name}, Files: []string{out}}); err != nil {
				return err
			}
			p, err := source.ReadPlan(name)
			if err != nil {
				return err
			}
			write := func(w io.Writer) error { return pipeline.Write(w, p, opts) }
			if out == "" {
				return write(env.Stdout)
			}
			return cli.WriteFile(out, write)
		},
	}
	cmd.Flags().StringVar(&name, "plan", "", "plan that planner wrote (required)")
	cmd.Flags().StringVar(&out, "out", "", "file for the pipeline (default stdout)")
	cmd.Flags().StringVar(&opts.Parent, "parent", "", "id of the pipeline that has the job "+pipeline.PlanJob+
		", empty when the plan is in the checkout (default $CI_PIPELINE_ID)")
	cmd.Flags().IntVar(&opts.Parts, "parts", 0, "into how many parts the plan is divided, one for each run order at "+
		"least (default: one for every ten minutes of estimated work, at most 40)")
	cmd.Flags().StringVar(&opts.Image, "image", "", "image of the jobs (default: that of the runner)")
	cmd.Flags().StringArrayVar(&opts.Tags, "tag", nil, "tag of the runners that take the jobs (repeatable)")
	cmd.Flags().StringVar(&opts.Include, "include", "", "CI file of the repository whose default section holds for all "+
		"jobs: before_script, for instance")
	return cmd
}

func checkPipeline(opts pipeline.Options) error {
	switch {
	case strings.Trim(opts.Parent, "0123456789") != "":
		return cli.Usage(fmt.Errorf("--parent must be the number of a pipeline, not %q", opts.Parent))
	case opts.Parts < 0 || opts.Parts > plan.MaxParts:
		return cli.Usage(fmt.Errorf("--parts must be from 1 to %d, or 0 for the default", plan.MaxParts))
	}
	return nil
}
