package runner

import (
	"flag"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives"
)

var update = flag.Bool("update", false, "rewrite the expected output, here and in the README")

// all returns the natives of prcheck.
func all() []integration.DryRunner { return integration.DryRunners(natives.List(natives.Services{})) }
