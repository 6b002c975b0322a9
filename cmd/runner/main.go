// Command runner runs the dry-runs of a plan and reports their results. What runs is
// decided by the command planner.
package main

import (
	"os"

	"github.com/app-sre/prcheck/natives"
	"github.com/app-sre/prcheck/natives/connect"
	"github.com/app-sre/prcheck/programs/runner"
)

func main() {
	os.Exit(runner.Main(natives.List(connect.Services())...))
}
