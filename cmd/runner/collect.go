package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/ci"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/runner/parts"
)

func collectCommand(env cli.Env) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "collect --out DIR",
		Short: "Fetch what the jobs of the child pipelines left, in GitLab",
		Long: `collect unpacks the artifacts of all jobs of the pipelines that this pipeline started
into a folder, each job into a folder of its own, of several attempts the newest. The
names of the results files among them go to stdout, one a line.

It takes the pipeline from the variables of a GitLab job and a token with scope
read_api from PRCHECK_GITLAB_TOKEN. Without that it tries CI_JOB_TOKEN, which GitLab
lets read artifacts but not find them.`,
		Example: `  runner collect --out collected
  runner comment --plan plan.json --results collected`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error { return collect(cmd.Context(), env, out) },
	}
	cmd.Flags().StringVar(&out, "out", "", "folder to collect in (required)")
	return cmd
}

func collect(ctx context.Context, env cli.Env, dir string) error {
	if dir == "" {
		return cli.Usage(errors.New("--out is required: the folder to collect in"))
	}
	at, err := ci.ReadEnvironment(env.Getenv)
	if err != nil {
		return cli.Invalid(err)
	}
	token := at.Token
	if token.Value == "" {
		token = at.JobToken
	}
	if at.API == "" || at.Commit.Pipeline == 0 || at.Commit.Project == 0 || token.Value == "" {
		return cli.Invalid(errors.New("this is no job of GitLab: CI_API_V4_URL, CI_PROJECT_ID, CI_PIPELINE_ID and a token with scope read_api in " + ci.TokenVariable + " are needed"))
	}
	client, err := ci.New(ci.Options{API: at.API, Token: token, CAFile: at.CAFile})
	if err != nil {
		return cli.Invalid(err)
	}
	jobs, trouble := client.Collect(ctx, at.Commit.Project, at.Commit.Pipeline, dir)
	for _, job := range jobs {
		where := job.Folder
		if where == "" {
			where = "nothing"
		}
		_, _ = fmt.Fprintf(env.Stderr, "runner: %q (%s) left %s\n", job.Job, job.Status, where) // only a note
		for _, name := range job.Files {
			if !parts.IsFile(name) {
				continue
			}
			if _, err := fmt.Fprintln(env.Stdout, filepath.Join(dir, name)); err != nil {
				return errors.Join(trouble, err)
			}
		}
	}
	if trouble != nil {
		return interruptedOr(ctx, trouble)
	}
	return nil
}
