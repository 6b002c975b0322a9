package planner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/runner"
	"github.com/app-sre/prcheck/runner/place"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/trace"
	"github.com/app-sre/prcheck/world"
)

type recordFlags struct {
	bundle, config, state, integration, shard string
	timeout                                   time.Duration
	natives                                   []integration.DryRunner
}

func recordCommand(env cli.Env, natives []integration.DryRunner) *cobra.Command {
	f := recordFlags{natives: natives}
	cmd := &cobra.Command{
		Use:   "record --bundle REF --state DIR [flags] INTEGRATION [-- COMMAND...]",
		Short: "Run a command once over a bundle and remember what it asks",
		Long: `record runs the dry-run of an integration over one bundle, which is base and head
at once, and remembers its trace when it passes. With a COMMAND that is run
instead, for instance the normal reconcile run; recording it says that it asks
what the dry-run would ask. Words in braces are filled in as in the settings.

The output of the command goes to stdout. Exit code 1 when the command fails;
then nothing is remembered.`,
		Example: `  planner record --bundle main.json --config prcheck.yaml --state .prcheck terraform-users
  planner record --bundle main.json --state .prcheck --shard app-sre terraform-users
  planner record --bundle main.json --state .prcheck terraform-users -- \
      qontract-reconcile --config '{config}' terraform-users`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			names, command := args, []string(nil)
			if n := cmd.ArgsLenAtDash(); n >= 0 {
				names, command = args[:n], args[n:]
			}
			if f.integration != "" {
				names = append([]string{f.integration}, names...)
			}
			if len(names) != 1 {
				return cli.Usage(errors.New("name one integration, and the command after --"))
			}
			return record(cmd.Context(), env, f, names[0], command)
		},
	}
	cmd.Flags().StringVar(&f.bundle, "bundle", "", "bundle to run it over: a file, git:REV, dir:PATH or s3://BUCKET/KEY "+
		"(required)")
	cmd.Flags().StringVar(&f.config, "config", "", "settings: a file, base:PATH of the revision of --bundle, or "+
		"git:REV[@DIR]:PATH (default prcheck.yaml if it exists)")
	cmd.Flags().StringVar(&f.state, "state", "", "folder, or s3://BUCKET/PREFIX, to remember in (required)")
	cmd.Flags().StringVar(&f.integration, "integration", "", "integration, in place of the argument")
	cmd.Flags().StringVar(&f.shard, "shard", "", "shard to run (default the whole integration)")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 0, "when to give up (default as in the settings)")
	return cmd
}

func record(ctx context.Context, env cli.Env, f recordFlags, name string, command []string) error {
	if f.state == "" {
		return errNoState
	}
	if f.bundle == "" {
		return cli.Usage(errors.New("--bundle is required: the bundle to run the command over"))
	}
	b, err := source.In(env).Bundle(ctx, f.bundle, nil)
	if err != nil {
		return err
	}
	rules, err := source.OpenSettings(ctx, f.config, f.bundle)
	if err != nil {
		return err
	}
	settings := rules.Settings
	remembered, err := change.OpenState(ctx, env, change.StateFlag{Place: f.state, Access: state.Writing, Settings: rules,
		Head: f.bundle})
	if err != nil {
		return err
	}
	own := source.Own{Files: []string{f.bundle}, State: f.state, Cache: source.CacheFolder(env.Getenv)}
	programs := change.Programs(ctx, source.In(env), rules, nil, own)
	task, err := planner.Task(planner.Input{
		Base: b, Head: b, Settings: settings, ReadQuery: rules.ReadQuery, Programs: programs, Natives: f.natives,
	}, name, f.shard)
	if err != nil {
		return cli.Invalid(err)
	}
	if len(command) > 0 {
		task.Argv, task.Blocked = command, ""
	}
	if f.timeout > 0 {
		task.Timeout = f.timeout.String()
	}
	places, err := placeOf(ctx, env, rules, own)
	if err != nil {
		return err
	}
	done, err := runner.Record(ctx, runner.Input{
		Base: b, Head: b, Settings: settings, Places: places, Programs: programs, State: remembered,
		Natives: f.natives, Getenv: env.Getenv, Environ: env.Environ,
	}, task, env.Stdout)
	if err != nil {
		return err
	}
	for _, w := range done.Warnings {
		_, _ = fmt.Fprintf(env.Stderr, "planner: %s\n", w) // the result counts
	}
	return tellRecorded(env.Stderr, name, done.Result, done.Trace)
}

// tellRecorded writes how much is remembered of the task, or why nothing is remembered.
func tellRecorded(w io.Writer, name string, result plan.Result, t *trace.Trace) error {
	if !result.OK() {
		_, err := fmt.Fprintf(w, "planner: nothing is remembered of %q: %s\n", name, result.Reason)
		return errors.Join(cli.ErrFailed, err)
	}
	said := fmt.Sprintf("requests %d, datafiles %d, schemas %d, resources %d",
		len(t.Requests), len(t.Datafiles), len(t.Schemas), len(t.Resources))
	if why := t.Doubt(); why != "" {
		said += "; it proves nothing: " + why
	}
	_, err := fmt.Fprintf(w, "planner: remembered of %q: %s\n", name, said)
	return err
}

// placeOf returns the place in which a task starts: the checkout around the settings.
func placeOf(ctx context.Context, env cli.Env, s source.OpenedSettings, own source.Own) (*place.Places, error) {
	at, err := source.FindWorkplace(ctx, s.Folder())
	if err != nil || !at.IsRepository() {
		return &place.Places{Folder: s.Folder(), Shared: true}, err
	}
	w := change.OpenWorlds(ctx, source.In(env), own, world.Keeper{}, "", "dir:"+at.Root)
	return &place.Places{Folder: s.Folder(), Head: place.Side(w.Head), Others: w.Others, Wrote: w.Wrote,
		InPlace: true}, nil
}
