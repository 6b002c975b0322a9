package runner

import (
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/natives/systems"
	"github.com/app-sre/prcheck/runner/launch"
)

// connect returns the function that connects the natives of a plan with what they read beside
// the data.
func connect(env cli.Env) func(*integration.Settings, func(string)) func(string) launch.Systems {
	return func(settings *integration.Settings, learn func(string)) func(string) launch.Systems {
		all := systems.New(systems.Options{Settings: settings, Getenv: env.Getenv, Learn: learn})
		return func(integration string) launch.Systems { return all.For(integration) }
	}
}
