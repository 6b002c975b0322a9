package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/runner"
	"github.com/app-sre/prcheck/runner/memory"
	"github.com/app-sre/prcheck/runner/progress"
)

// executionFlags say how tasks are run. All commands that run tasks have them.
type executionFlags struct {
	logs       string
	jobs       int
	noBaseline bool
	failFast   bool
	memory     memory.Limit
	progress   progress.Mode
}

// register adds the flags to a command.
func (f *executionFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.logs, "logs", "logs", "folder for the complete logs")
	flags.IntVar(&f.jobs, "jobs", 0, "how many tasks run at once (default one per processor)")
	flags.BoolVar(&f.noBaseline, "no-baseline", false, "do not run failed tasks again on base; every failure fails the check")
	flags.Var(&f.memory, "memory", `how much memory the tasks that run at once may need together, by what exec.memory
says: an amount such as 8GiB, or auto for nine tenths of what this machine has
to give (default: no limit)`)
	flags.BoolVar(&f.failFast, "fail-fast", false, "start nothing more after the first task that fails and does not fail the same way on base (default: run everything)")
	flags.Var(&f.progress, "progress", `how to show on stderr what runs: terminal (a bar, and a line for each running
task, redrawn), plain (a line for each task that ended, one twice a minute that
names what runs, and sections in GitLab), none, or auto: terminal where stderr is
one and CI is not set, else plain`)
}

// options are the options of a run as the flags give them.
func (f executionFlags) options(env cli.Env) runner.Options {
	return runner.Options{
		Jobs: f.jobs, Logs: f.logs, NoBaseline: f.noBaseline, FailFast: f.failFast, MemoryLimit: f.memory.Bytes(os.DirFS("/")),
		Progress: progress.Options{Out: env.Stderr, Mode: f.progress, Getenv: env.Getenv}, Notes: env.Stderr,
	}
}
