package reconciler

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/natives/rounds"
	"github.com/app-sre/prcheck/natives/systems"
	"github.com/app-sre/prcheck/natives/writers"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/launch"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state"
)

// runFlags are the flags of run.
type runFlags struct {
	rounds.Orders
	bundle, config, state, journal, metrics string
	events, eventsToken                     string
	dryRun, noDryRun, finished, noCache     bool
	form                                    cli.Choice
}

// gcPercent is how much garbage may stand beside the memory in use. A round makes much of it from
// little that lasts, so the default of Go, 100, costs a fifth of its CPU.
const gcPercent = 400

func runCommand(env cli.Env, natives []integration.Native) *cobra.Command {
	f := runFlags{form: cli.OneOf("text", "json")}
	cmd := &cobra.Command{
		Use:   "run [NAME] --bundle REF [flags]",
		Short: "Make the world as the data say, with a native integration",
		Long: `run runs the native integration of a definition outside of a plan. It is a dry run
unless --no-dry-run says otherwise: then nothing is written, and the report says what
would be done. In the pipeline of a merge request nothing else is possible.

A round opens the bundle, refuses one that is older than that of the last round, and
reports on stdout; the log goes to stderr. With --every there are rounds until the
process is told to end, each with the newest bundle and settings; a failed round is
followed by the next one after the usual pause.

With --state a round that writes holds a lease, so that two runs of one integration and
shard rarely act at once, and remembers what it made.

The variables that deployments of qontract-reconcile set count where no flag is given:
DRY_RUN (--dry-run, --no-dry-run, true or false), SLEEP_DURATION_SECS and RUN_ONCE (for
--every), SHARD_KEY (for --shard), SHARDS and SHARD_ID (for --static). Without NAME it is
the process of such a deployment: INTEGRATION_NAME is the name, INTEGRATION_EXTRA_ARGS has
further flags, and metrics are served at :9090.

After ctrl-C or SIGTERM no new step starts, the step that runs has 20 seconds to end,
and what was done so far is reported.

Exit codes: 0 done; 1 something failed or was refused, or the data have mistakes, and the
rest is done; 2 wrong usage; 3 nothing could be done, or a round was interrupted. With
--every it is 0 if the process was told to end between two rounds.`,
		Example: `  reconciler run openshift-namespaces --bundle git:main --config base:prcheck.yaml
  reconciler run openshift-namespaces --bundle bundle.json --state s3://memory/prcheck --no-dry-run
  reconciler run openshift-namespaces --bundle https://qontract.example/graphql --state state --no-dry-run --every 15m --metrics :9090
  reconciler run openshift-namespaces --bundle git:main --finished
  INTEGRATION_NAME=openshift-namespaces SLEEP_DURATION_SECS=300 reconciler run --bundle https://qontract.example/graphql`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return cli.Takes("NAME")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				name, err := f.fillProcess(cmd.Flags(), env.Getenv)
				if err != nil {
					return cli.Usage(err)
				}
				args = []string{name}
			}
			if err := f.complete(cmd.Flags().Changed, env.Getenv); err != nil {
				return cli.Usage(err)
			}
			return f.run(cmd.Context(), env, natives, args[0])
		},
	}
	f.register(cmd.Flags())
	f.registerRounds(cmd.Flags())
	cmd.AddCommand(mergeQueueCommand(env, integration.DryRunners(natives)))
	return cmd
}

// registerRounds adds the flags that only run has.
func (f *runFlags) registerRounds(flags *pflag.FlagSet) {
	flags.DurationVar(&f.Every, "every", 0, "pause between two rounds, such as 15m, to which up to a tenth is added "+
		"(default: one round)")
	flags.BoolVar(&f.Approve.Adopt, "adopt", false, "put the mark of the integration on things of the data that exist "+
		"without one, and do nothing else")
	flags.StringArrayVar(&f.Approve.Deletions, "confirm-deletions", nil,
		"`digest` of deletions that the gate refused and that are allowed for this run (repeatable)")
	flags.BoolVar(&f.finished, "finished", false, "list the entries of the data that are done with and can be removed, "+
		"and nothing else")
	flags.StringVar(&f.events, "events", "", "address to take events at that others push, such as :8080: a round begins "+
		"soon after one that is about something the data name (default: none)")
	flags.StringVar(&f.eventsToken, "events-token", "", "file with the token that senders of events know")
	flags.StringVar(&f.metrics, "metrics", "", "address to serve /metrics and /healthz at, such as :9090 (default: none)")
}

// register adds the flags that all commands have which run a native integration.
func (f *runFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.bundle, "bundle", "", "the data that are to become true: a bundle file, git:REV, dir:PATH, "+
		"s3://BUCKET/KEY, or http(s)://SERVER/graphql for the newest bundle of a running qontract-server (required)")
	flags.StringVar(&f.config, "config", "", "settings: a file, base:PATH of --bundle git:REV, or git:REV[@DIR]:PATH "+
		"(default prcheck.yaml, if it exists)")
	flags.StringVar(&f.state, "state", "", "folder, or s3://BUCKET/PREFIX, that remembers what was made and has the "+
		"leases (default: nothing is remembered)")
	flags.BoolVar(&f.dryRun, "dry-run", false, "write nothing, and say what would be done (the default)")
	flags.BoolVar(&f.noDryRun, "no-dry-run", false, "write")
	flags.StringVar(&f.Shard, "shard", "", "key of the shard to work on (default: all shards)")
	flags.Var(&f.Static, "static", "static shard to work on, such as 1/3 for the first of three (default: everything)")
	flags.BoolVar(&f.AllowOlder, "allow-older", false, "allow a bundle that is older than that of the last run, for "+
		"this run")
	flags.Var(&f.form, "format", "format of the report: text, or json (one line for each round)")
	flags.StringVar(&f.journal, "journal", "", "file to which each step is appended as a line of JSON when it ends "+
		"(default: none)")
	flags.DurationVar(&f.Timeout, "timeout", time.Hour, "longest time of a round")
	flags.DurationVar(&f.Wait, "wait", 2*time.Minute, "how long a round waits for another run of the same integration "+
		"and shard")
	flags.IntVar(&f.Workers, "jobs", 8, "how many things are read or written at once")
	flags.BoolVar(&f.noCache, "no-cache", false, "do not cache the bundle of a checkout")
}

func (f *runFlags) run(ctx context.Context, env cli.Env, natives []integration.Native, name string) (err error) {
	if env.Getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	}
	if err := change.CheckPaths(ctx, env, change.Paths{Files: []string{f.journal}}); err != nil {
		return err
	}
	in, err := f.input(ctx, env, natives, name)
	if err != nil {
		return err
	}
	if f.journal != "" {
		if in.Journal, err = rounds.OpenJournal(f.journal, name); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, in.Journal.Close()) }()
	}
	return f.serve(ctx, env, in)
}

// input returns what rounds work with, as the flags say.
func (f *runFlags) input(ctx context.Context, env cli.Env, natives []integration.Native,
	name string) (rounds.Input, error) {
	rules, err := source.OpenSettings(ctx, f.config, f.bundle)
	if err != nil {
		return rounds.Input{}, err
	}
	open := source.In(env).With(rules)
	if f.noCache {
		open.Cache = ""
	}
	in := rounds.Input{
		Integration: name, Natives: natives, Settings: f.settings(rules.Settings), Log: env.Stderr,
		Connect: func(s *settings.Settings, learn func(string)) rounds.Systems {
			return writers.Of(systems.New(systems.Sources{Settings: s, Getenv: env.Getenv, Learn: learn}).For(name))
		},
		Masker: mask.New(launch.Equipment{Settings: rules.Settings, Getenv: env.Getenv, Environ: env.Environ}.Secrets(nil)),
	}
	if in.Data, err = rounds.NewSource(open, f.bundle); err != nil {
		return in, err
	}
	flag := change.StateFlag{Place: f.state, Access: state.Reading, Settings: rules, Base: f.bundle}
	if f.Writes {
		flag.Access = state.Writing
	}
	in.State, err = change.OpenState(ctx, env, flag)
	return in, err
}

// settings returns the function that reads the settings of a round. Settings that did not change
// are the same ones again.
func (f *runFlags) settings(last *settings.Settings) func(context.Context) (*settings.Settings, error) {
	return func(ctx context.Context) (*settings.Settings, error) {
		now, err := source.OpenSettings(ctx, f.config, f.bundle)
		if err == nil && now.Digest() != last.Digest() {
			last = now.Settings
		}
		return last, err
	}
}

// serve makes the rounds, and serves metrics meanwhile.
func (f *runFlags) serve(ctx context.Context, env cli.Env, in rounds.Input) error {
	if f.metrics == "" {
		return f.listen(ctx, env, in)
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", f.metrics)
	if err != nil {
		return fmt.Errorf("serving metrics: %w; choose another address with --metrics", err)
	}
	in.Monitor = rounds.NewMonitor(in.Integration, f.Orders)
	_, _ = fmt.Fprintf(env.Stderr, "reconciler: metrics at http://%s/metrics\n", listener.Addr()) // only a note
	return in.Monitor.Serve(listener, func() error { return f.listen(ctx, env, in) })
}

// rounds makes the rounds and writes their reports.
func (f *runFlags) rounds(ctx context.Context, env cli.Env, in rounds.Input) error {
	last, err := rounds.New(in, f.Orders).Run(ctx, func(r *rounds.Report) error {
		write := r.WriteText
		switch isJSON := f.form.String() == "json"; {
		case f.Status && isJSON:
			write = r.WriteStatusJSON
		case f.Status:
			write = r.WriteStatus
		case f.finished && isJSON:
			write = r.WriteFinishedJSON
		case f.finished:
			write = r.WriteFinished
		case isJSON:
			write = r.WriteJSON
		}
		if err := write(env.Stdout); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
		if f.finished && r.Outcome == rounds.Failed {
			// only a note
			_, _ = fmt.Fprintln(env.Stderr, "reconciler: the run has errors, so the list may not be whole: leave out "+
				"--finished to see them")
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case last == nil || f.Every > 0 && last.Outcome != rounds.Interrupted:
		return nil // it was told to end between two rounds
	case last.Misused:
		return cli.Told(cli.ExitUsage)
	}
	switch last.Outcome {
	case rounds.Done:
		return nil
	case rounds.Failed:
		return cli.ErrFailed
	case rounds.Interrupted:
		return ctx.Err()
	default:
		return cli.Told(cli.ExitTrouble)
	}
}

// minPause is the shortest pause between two rounds, and the shortest wait for a lease.
const minPause = time.Second

// complete fills in from the environment what no flag says, and checks that the options go
// together.
func (f *runFlags) complete(isGiven func(flag string) bool, getenv func(string) string) error {
	for _, fill := range []func(func(string) bool, func(string) string) error{f.fillDryRun, f.fillEvery, f.fillShards} {
		if err := fill(isGiven, getenv); err != nil {
			return err
		}
	}
	return f.check(getenv)
}

// fillDryRun decides whether the rounds write.
func (f *runFlags) fillDryRun(isGiven func(string) bool, getenv func(string) string) error {
	if isGiven("dry-run") || isGiven("no-dry-run") {
		switch {
		case f.dryRun && f.noDryRun:
			return errors.New("--dry-run and --no-dry-run contradict each other: give one of them")
		case !f.dryRun && !f.noDryRun:
			return errors.New("--dry-run and --no-dry-run take no value: give the one that you mean")
		}
		f.Writes = f.noDryRun
		return nil
	}
	switch v := getenv("DRY_RUN"); v {
	case "", "--dry-run", "true":
	case "--no-dry-run", "false":
		f.Writes = true
	default:
		return fmt.Errorf("the variable DRY_RUN must be --dry-run, --no-dry-run, true or false, got %.40q", v)
	}
	return nil
}

// fillEvery decides whether there are several rounds.
func (f *runFlags) fillEvery(isGiven func(string) bool, getenv func(string) string) error {
	if isGiven("every") {
		return nil
	}
	if v := getenv("RUN_ONCE"); v != "" {
		once, err := strconv.ParseBool(v)
		if err != nil {
			return fmt.Errorf("the variable RUN_ONCE must be true or false, got %.40q", v)
		}
		if once {
			return nil
		}
	}
	if v := getenv("SLEEP_DURATION_SECS"); v != "" {
		seconds, err := strconv.ParseUint(v, 10, 31)
		if err != nil || seconds == 0 {
			return fmt.Errorf("the variable SLEEP_DURATION_SECS must be a number of seconds from 1, got %.40q", v)
		}
		f.Every = time.Duration(seconds) * time.Second
	}
	return nil
}

// fillShards decides which part of the work is done.
func (f *runFlags) fillShards(isGiven func(string) bool, getenv func(string) string) error {
	if !isGiven("shard") {
		f.Shard = getenv("SHARD_KEY")
	}
	shards, id := getenv("SHARDS"), getenv("SHARD_ID")
	if isGiven("static") || isGiven("shard") || shards == "" && id == "" {
		return nil
	}
	of, err := strconv.ParseUint(shards, 10, 31)
	part, err2 := strconv.ParseUint(id, 10, 31)
	if err != nil || err2 != nil || part >= of {
		return fmt.Errorf("the variables SHARDS and SHARD_ID must be a number from 1 and one below it, got %.40q and %.40q",
			shards, id)
	}
	if of == 1 {
		return nil
	}
	if err := f.Static.Set(fmt.Sprintf("%d/%d", part+1, of)); err != nil {
		return fmt.Errorf("the variables SHARDS and SHARD_ID: %w", err)
	}
	return nil
}

// digestForm matches the digest of deletions.
var digestForm = lazyregexp.New(`^sha256:[0-9a-f]{64}$`)

// check returns an error if options do not go together.
func (f *runFlags) check(getenv func(string) string) error {
	if f.Static.Of == 1 {
		f.Static = plan.Fraction{} // it is the whole
	}
	isRepeated := f.Every != 0
	switch {
	case f.bundle == "":
		return errors.New("--bundle is required: the data that are to become true")
	case f.Writes && (getenv("CI_MERGE_REQUEST_IID") != "" || getenv("CI_PIPELINE_SOURCE") == "merge_request_event"):
		return errors.New("this is the pipeline of a merge request, where only a dry run is possible: what is not merged " +
			"must not become true")
	case isRepeated && f.Every < minPause:
		return errors.New("--every must be at least 1s")
	case f.Timeout < minPause || f.Wait < minPause:
		return errors.New("--timeout and --wait must be at least 1s")
	case f.Workers < 1:
		return errors.New("--jobs must be at least 1")
	case isRepeated && len(f.Approve.Deletions) > 0:
		return errors.New("--confirm-deletions is for one run: leave out --every, or set RUN_ONCE=true")
	case isRepeated && f.AllowOlder:
		return errors.New("--allow-older is for one run: leave out --every, or set RUN_ONCE=true")
	case isRepeated && f.finished:
		return errors.New("--finished is for one run: leave out --every, or set RUN_ONCE=true")
	case (f.events == "") != (f.eventsToken == ""):
		return errors.New("--events and --events-token belong together: the address, and the file with the token")
	case f.events != "" && !isRepeated:
		return errors.New("--events is for rounds that are repeated: say how often with --every")
	case f.finished && (f.Writes || f.Approve.Adopt):
		return errors.New("--finished only lists: leave out --no-dry-run and --adopt")
	}
	for _, d := range f.Approve.Deletions {
		if !digestForm.MatchString(d) {
			return fmt.Errorf("--confirm-deletions %.80q is no digest of deletions: copy it from the report of the dry run, "+
				"sha256: and 64 digits", d)
		}
	}
	if f.metrics != "" {
		if _, _, err := net.SplitHostPort(f.metrics); err != nil {
			return fmt.Errorf("--metrics: %w; give HOST:PORT, such as :9090", err)
		}
	}
	return nil
}
