package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/queue"
	"github.com/app-sre/prcheck/queue/deltas"
	"github.com/app-sre/prcheck/queue/proving"
	"github.com/app-sre/prcheck/report"
	"github.com/app-sre/prcheck/runner/guard"
	"github.com/app-sre/prcheck/runner/journal"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state"
)

// deltaFlags are the flags of delta.
type deltaFlags struct {
	executionFlags
	table, repository, config, state string
	limit                            int
	natives                          []integration.DryRunner
}

func deltaCommand(env cli.Env, natives []integration.DryRunner) *cobra.Command {
	f := deltaFlags{natives: natives}
	cmd := &cobra.Command{
		Use:   "delta --table FILE --repository DIR --state PLACE [flags]",
		Short: "Run what merge requests have to run on another base",
		Long: `delta reads a table that reconciler run merge-queue wrote as JSON, and runs what it says:
for each merge request the tasks whose inputs differ on the branch that it will be merged
into. It believes nothing of the table but the commits: each head is rebased in memory,
validated, planned by the rules of the branch, and the plan is replayed. How tasks end is
remembered in the state, where the queue, the next pipeline of the merge request and that
of the branch find it.

It needs no token of GitLab, and it must not have one: what it runs are programs of the
branch and of merge requests.

Exit codes: 0 all that ran passed, or nothing had to run; 1 a task failed; 2 wrong usage;
3 something could not be run.`,
		Example: `  runner delta --table table.json --repository . --state s3://checks/state
  reconciler run merge-queue --once --repository . --format json | runner delta --table - --repository . --state s3://checks/state`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return guard.Run(cmd.Context(), env, guard.HeldFile{}, func(ctx context.Context, space guard.Workspace) error {
				f.temp = space.Folder
				return f.run(git.Pin(ctx), env)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.table, "table", "", "file with the table, as JSON; - is stdin (required)")
	flags.StringVar(&f.repository, "repository", "", "folder of a clone with the commits (required)")
	flags.StringVar(&f.config, "config", settings.FileName, "path of the settings in the branch")
	flags.StringVar(&f.state, "state", "", "folder, or s3://BUCKET/PREFIX, that remembers how tasks end (required)")
	flags.IntVar(&f.limit, "limit", 0, "how many merge requests at most, the first ones in the queue (default: all)")
	f.register(cmd)
	return cmd
}

// maxTable bounds the bytes of a table.
const maxTable = 64 << 20

// readTable reads the last table of a file: a loop writes one for each round.
func (f *deltaFlags) readTable(env cli.Env) (*queue.Table, error) {
	in := env.Stdin
	if f.table != "-" {
		file, err := os.Open(f.table)
		if err != nil {
			return nil, cli.Invalid(fmt.Errorf("reading the table: %w", err))
		}
		defer file.Close()
		in = file
	}
	var last *queue.Table
	for d := json.NewDecoder(io.LimitReader(in, maxTable)); ; {
		t := &queue.Table{}
		switch err := d.Decode(t); {
		case errors.Is(err, io.EOF) && last != nil:
			return last, nil
		case err != nil:
			return nil, cli.Invalid(fmt.Errorf("reading the table: %w; write it with reconciler run merge-queue --format "+
				"json", err))
		case t.Version != queue.TableVersion:
			return nil, cli.Invalid(fmt.Errorf("the table has the version %.40q, and this program reads %s", t.Version,
				queue.TableVersion))
		}
		last = t
	}
}

func (f *deltaFlags) run(ctx context.Context, env cli.Env) error {
	switch {
	case f.table == "" || f.repository == "" || f.state == "":
		return cli.Usage(errors.New("--table, --repository and --state are required"))
	case f.jobs < 0 || f.limit < 0:
		return cli.Usage(errors.New("--jobs and --limit must not be negative"))
	}
	table, err := f.readTable(env)
	if err != nil {
		return err
	}
	starts := table.Starts
	if f.limit > 0 {
		starts = starts[:min(len(starts), f.limit)]
	}
	p, err := proving.New(ctx, proving.Place{Env: env, Repository: f.repository, Config: f.config, State: f.state,
		Natives: f.natives, Verifies: true})
	if err != nil {
		return err
	}
	defer p.Close() //nolint:errcheck // it lies in a folder for temporary files
	if len(starts) > 0 {
		if err := p.Know(ctx, table.Base); err != nil {
			return err
		}
	}
	failed, troubles := false, error(nil)
	for _, s := range starts {
		isGreen, err := f.one(ctx, env, p, s)
		if ctx.Err() != nil {
			return errors.Join(troubles, err)
		}
		if err != nil {
			troubles = errors.Join(troubles, fmt.Errorf("!%d: %w", s.Number, err))
		}
		failed = failed || err == nil && !isGreen
	}
	_, err = fmt.Fprintf(env.Stdout, "%s looked at\n", phrase.Count(len(starts), "merge request"))
	if err = errors.Join(troubles, err); err == nil && failed {
		return cli.ErrFailed
	}
	return err
}

// one runs what one merge request has to run. It returns whether all of it passed.
func (f *deltaFlags) one(ctx context.Context, env cli.Env, p *proving.Prover, s queue.Start) (bool, error) {
	look := p.Look(ctx)
	for _, before := range s.On {
		look(before.Base, queue.Request{Head: before.Head})
	}
	proof := look(s.Pair.Base, queue.Request{Number: s.Number, Head: s.Pair.Head})
	made, isPlanned := p.Plan(s.Pair)
	switch {
	case !isPlanned:
		return false, errors.New(sanitize.Line(proof.Decide(s.Pair).Reason.String()))
	case proof.Tree != s.Tree:
		return false, errors.New("the table was made of another tree: make it anew")
	case len(made.Tasks) == 0:
		return true, f.tell(env, s, "nothing has to run any more")
	}
	if err := f.tell(env, s, "runs "+phrase.Count(len(made.Tasks), "task")); err != nil {
		return false, err
	}
	results, err := f.execute(ctx, env, p, s, made)
	if results == nil {
		return false, err
	}
	passed := 0
	for _, t := range tasksOf(made, results) {
		if t.Outcome == deltas.Passed {
			passed++
		}
	}
	text := fmt.Sprintf("%d of %s passed at the first attempt", passed, phrase.Count(len(made.Tasks), "task"))
	return passed == len(made.Tasks), errors.Join(err, f.tell(env, s, text))
}

func (f *deltaFlags) tell(env cli.Env, s queue.Start, text string) error {
	_, err := fmt.Fprintf(env.Stdout, "!%d on %.12s: %s\n", s.Number, s.Pair.Base, text)
	return err
}

// execute runs a plan as run does, and remembers how it ended beside its pair.
func (f *deltaFlags) execute(ctx context.Context, env cli.Env, p *proving.Prover, s queue.Start,
	made *plan.Plan) (results *plan.Results, err error) {
	folder, err := os.MkdirTemp(f.temp, "delta-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the plan: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	run := runFlags{executionFlags: f.executionFlags, state: f.state, natives: f.natives,
		out: filepath.Join(folder, "results.json"), audit: auditFlags{budget: time.Minute}}
	trees, err := p.Trees(s.Pair)
	if err != nil {
		return nil, err
	}
	run.base, run.head = p.Ref(trees.Base), p.Ref(trees.Head)
	run.plan, run.config = filepath.Join(folder, "plan.json"), run.base+":"+f.config
	run.logs = filepath.Join(f.logs, fmt.Sprintf("%d", s.Number))
	if err := cli.WriteFile(run.plan, func(w io.Writer) error { return plan.Write(w, made) }); err != nil {
		return nil, err
	}
	rules, err := source.OpenSettings(ctx, run.config, run.base)
	if err != nil {
		return nil, err
	}
	remembered, err := change.OpenState(ctx, env, change.StateFlag{Place: f.state, Access: state.Writing, Settings: rules,
		Base: run.base, Head: run.head})
	if err != nil {
		return nil, err
	}
	file, err := journal.Open(ctx, journal.FileName(run.out, run.logs))
	if err != nil {
		return nil, err
	}
	defer file.Close() // it goes with its folder
	in := remembering{store: deltas.NewStore(remembered), trees: trees, made: made}
	end, err := in.begin(ctx)
	if err != nil {
		return nil, err
	}
	trouble := runPlan(ctx, env, run, file)
	results, err = readResults(run.out)
	if errors.Is(err, fs.ErrNotExist) && trouble != nil {
		err = nil // nothing was run, and the trouble says why
	}
	if errors.Is(trouble, cli.ErrFailed) {
		trouble = nil // the tasks say it
	}
	return results, errors.Join(trouble, err, end(results))
}

// readResults reads the results that a run wrote.
func readResults(name string) (*plan.Results, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return plan.ReadResults(file)
}

// remembering remembers the run of a pair.
type remembering struct {
	store deltas.Store
	trees deltas.Trees
	made  *plan.Plan
}

// begin remembers that the tasks run, and again while they do. The function that it returns remembers how they ended.
func (r remembering) begin(ctx context.Context) (end func(*plan.Results) error, err error) {
	began := time.Now()
	if err := r.store.Begin(ctx, r.trees, tasksOf(r.made, nil), began); err != nil {
		return nil, err
	}
	alive, stop := context.WithCancel(ctx)
	var beat sync.WaitGroup
	beat.Go(func() { r.beat(alive) })
	return func(results *plan.Results) error {
		stop()
		beat.Wait()
		run := deltas.Run{Tasks: tasksOf(r.made, results), Began: began, Ended: time.Now()}
		if results != nil {
			run.Labels = proving.LabelsOf(report.New(r.made, results))
		}
		return r.store.End(context.WithoutCancel(ctx), r.trees, run)
	}, nil
}

// beat remembers now and then that the tasks still run.
func (r remembering) beat(ctx context.Context) {
	for tick := time.NewTicker(deltas.Started / 3); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case now := <-tick.C:
			_ = r.store.Begin(ctx, r.trees, tasksOf(r.made, nil), now) // else another one starts it as well
		}
	}
}

// tasksOf returns the tasks of a plan with how they ended; nil results are those of a run that goes on. A task about
// which nothing was found out has to run again.
func tasksOf(made *plan.Plan, results *plan.Results) []deltas.Task {
	ended := map[string]plan.Result{}
	if results != nil {
		for _, r := range results.Results {
			ended[r.Task] = r
		}
	}
	var out []deltas.Task
	for _, t := range made.Tasks {
		next := deltas.Task{Name: proving.Name(t.Integration, t.Label()), Inputs: t.Inputs}
		switch r, isThere := ended[t.ID]; {
		case results == nil:
		case isThere && r.OK() && r.Attempts == 1:
			next.Outcome = deltas.Passed
		case isThere && (r.Status == plan.Failed || r.Status == plan.TimedOut):
			next.Outcome = deltas.Failed
		default:
			next.Outcome = deltas.Again
		}
		out = append(out, next)
	}
	return out
}
