package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/ci"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/runner/parts"
)

func collectCommand(env cli.Env) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "collect --out DIR",
		Short: "Fetch the artifacts of child pipelines' jobs in GitLab",
		Long: `collect unpacks the artifacts of all jobs of the pipelines that this pipeline started.
Each job gets a folder of its own. If a job ran several times, the newest attempt counts.
The names of the files with results go to stdout, one per line.

The pipeline is read from the variables of the GitLab job, and a token with scope read_api
from PRCHECK_GITLAB_TOKEN. Without that token CI_JOB_TOKEN is used, which GitLab lets read
artifacts but not find them.`,
		Example: `  runner report --plan plan.json --collect collected
  runner comment --plan plan.json --results collected`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error { return collect(cmd.Context(), env, out) },
	}
	cmd.Flags().StringVar(&out, "out", "", "folder for the artifacts (required)")
	return cmd
}

// addCollectFlag adds the flag that fetches results first.
func addCollectFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "collect", "", "folder for the artifacts of the child pipelines of this GitLab pipeline: they "+
		"are fetched first, and their results count as those of --results")
}

// collected fetches the artifacts of child pipelines into a folder, and returns where results are. If something cannot
// be fetched, nobody knows how the check ended.
func collected(ctx context.Context, env cli.Env, dir string, results []string) ([]string, error) {
	if dir == "" {
		return results, nil
	}
	env.Stdout = io.Discard // it has the report
	return append(results, dir), collect(ctx, env, dir)
}

func collect(ctx context.Context, env cli.Env, dir string) error {
	if dir == "" {
		return cli.Usage(errors.New("--out is required: the folder for the artifacts"))
	}
	if err := change.CheckPaths(ctx, env, change.Paths{Folders: []string{dir}}); err != nil {
		return err
	}
	at, err := ci.ReadEnvironment(env.Getenv)
	if err != nil {
		return cli.Invalid(err)
	}
	jobs, trouble := ci.CollectArtifacts(ctx, at, dir)
	for _, job := range jobs {
		// only a note
		_, _ = fmt.Fprintf(env.Stderr, "runner: %q (%s) left %s\n", job.Job, job.Status, cmp.Or(job.Folder, "nothing"))
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
