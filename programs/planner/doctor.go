package planner

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/ci/revisions"
	"github.com/app-sre/prcheck/doctor"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/runner/launch"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/wrapper"
)

type doctorFlags struct {
	in     change.Inputs
	repo   string
	asJSON bool
}

func doctorCommand(env cli.Env, natives []integration.DryRunner) *cobra.Command {
	f := doctorFlags{in: change.Inputs{Natives: natives}}
	cmd := &cobra.Command{
		Use:   "doctor [flags]",
		Short: "Check an installation from end to end",
		Long: `doctor checks whether prcheck can work where it is started, and how well: git and its
history, the settings here and on base, the bundle, integration definitions, schemas
that no integration reads, the programs that tasks start, integrations that are seldom
skipped and what would change that, the state (it writes, reads and removes a small
document), the signing key, what the cache takes of the disk, the rights of the token
for GitLab (nothing is written there), and clocks. Each line says ok, warn or fail, and what to do.

Exit code 0: nothing failed; 1: something must be mended; 3: something outside, such as
a bucket, did not answer.`,
		Example: `  planner doctor
  planner doctor --state s3://ci-state/prcheck
  planner doctor --json | jq '.findings[] | select(.level != "ok")'`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error { return examine(cmd.Context(), env, f) },
	}
	cmd.Flags().StringVar(&f.repo, "repo", ".", "folder of the checkout")
	cmd.Flags().StringVar(&f.in.Config, "config", "",
		"settings: a file, base:PATH of base's revision, or git:REV[@DIR]:PATH (default prcheck.yaml if it exists; in a "+
			"job of GitLab, files of the repository are those of base)")
	cmd.Flags().StringVar(&f.in.State, "state", "", "folder, or s3://BUCKET/PREFIX, that remembers what runs learned")
	cmd.Flags().BoolVar(&f.in.NoCache, "no-cache", false, "remember nothing of checkouts that are bundled")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "write the findings as JSON")
	return cmd
}

func examine(ctx context.Context, env cli.Env, f doctorFlags) error {
	in := f.in
	if revisions.InJob(env.Getenv) {
		var err error
		if in, err = in.CompleteInJob(ctx, env, f.repo); err != nil {
			return err
		}
	}
	open := source.In(env)
	if in.NoCache {
		open.Cache = ""
	}
	report, err := doctor.Examine(ctx, doctor.Input{
		Dir: f.repo, Config: in.Config, Base: in.Base, Open: open, State: stateOf(env, in), Getenv: env.Getenv,
		Secrets: launch.Equipment{Getenv: env.Getenv, Environ: env.Environ}.Secrets(nil), FindProgram: wrapper.FindProgram,
		Now: time.Now, Natives: in.Natives,
		InJob: revisions.InJob(env.Getenv),
	})
	if err != nil {
		return err
	}
	write := report.WriteText
	if f.asJSON {
		write = report.WriteJSON
	}
	if err := write(env.Stdout); err != nil {
		return err
	}
	return report.Err()
}

// stateOf tells how the state is reached that the flags name.
func stateOf(env cli.Env, in change.Inputs) doctor.State {
	return doctor.State{
		Place: in.State,
		Check: func(ctx context.Context, settings source.OpenedSettings, base string) (string, error) {
			flag := change.StateFlag{Place: in.State, Settings: settings, Base: base, Head: in.Head}
			_, note, err := flag.Trust(ctx, env)
			if err != nil {
				return "", err
			}
			return note, flag.RefuseTracked(ctx)
		},
		Open:       func(ctx context.Context) (state.Store, error) { return change.WriteNotes(ctx, in.State) },
		SigningKey: func() (string, error) { return change.SigningKey(env) },
	}
}
