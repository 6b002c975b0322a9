package runner

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/runner"
	"github.com/app-sre/prcheck/runner/memory"
	"github.com/app-sre/prcheck/runner/progress"
)

// executionFlags control how tasks run. Each command that runs tasks has them.
type executionFlags struct {
	logs       string
	jobs       int
	noBaseline bool
	failFast   bool
	memory     memory.Limit
	progress   progress.Mode
	temp       string // the folder for config files of tasks, which the guard removes
}

// stateUsage is the help for the flag --state.
const stateUsage = "folder, or s3://BUCKET/PREFIX, that remembers the queries and inputs of tasks that passed, how " +
	"long tasks took, and which are flaky (default: nothing is remembered)"

// register adds the flags to a command.
func (f *executionFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.logs, "logs", "logs", "folder for the complete logs")
	flags.IntVar(&f.jobs, "jobs", 0, "how many tasks run at the same time (default one per processor)")
	flags.BoolVar(&f.noBaseline, "no-baseline", false, "do not run failed tasks on base; every failure fails the check")
	flags.Var(&f.memory, "memory", `how much memory the running tasks may need together, according to exec.memory in the
settings: an amount such as 8GiB, or auto for nine tenths of the memory that this
machine has available (default: no limit)`)
	flags.BoolVar(&f.failFast, "fail-fast", false, "start no more tasks after the first failure that is not the same on "+
		"base (default: run all tasks)")
	flags.Var(&f.progress, "progress", `how to show on stderr which tasks run: terminal (a bar, and a line for each running
task, redrawn), plain (a line for each task that ended, every 30 seconds a line
that names the running tasks, and sections in GitLab), none, or auto: terminal if
stderr is a terminal and CI is not set, else plain`)
}

// options returns the options for a run.
func (f executionFlags) options(env cli.Env) runner.Options {
	return runner.Options{
		Jobs: f.jobs, Logs: f.logs, NoBaseline: f.noBaseline, FailFast: f.failFast,
		MemoryLimit: f.memory.Bytes(os.DirFS("/")),
		Temp:        f.temp,
		Progress:    progress.Display{Out: env.Stderr, Mode: f.progress, Getenv: env.Getenv}, Notes: env.Stderr,
	}
}
