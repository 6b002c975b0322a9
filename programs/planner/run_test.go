package planner

import (
	"context"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/natives"
)

// runAll runs the program with the natives of prcheck.
func runAll(ctx context.Context, env cli.Env) error {
	return Run(ctx, env, integration.DryRunners(natives.List(natives.Services{}))...)
}
