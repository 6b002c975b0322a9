package runner

import (
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/natives/systems"
	"github.com/app-sre/prcheck/runner/launch"
	"github.com/app-sre/prcheck/settings"
)

// connect returns the function that connects the natives of a plan with what they read beside
// the data.
func connect(env cli.Env) func(*settings.Settings, func(string)) func(string) launch.Systems {
	return func(rules *settings.Settings, learn func(string)) func(string) launch.Systems {
		all := systems.New(systems.Sources{Settings: rules, Getenv: env.Getenv, Learn: learn})
		return func(integration string) launch.Systems { return all.For(integration) }
	}
}
