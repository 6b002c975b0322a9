package runner

import (
	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/report"
)

// A look says how a report in text looks.
type look struct {
	color   cli.Choice
	verbose bool
}

func newLook() look { return look{color: cli.Colors()} }

// register adds the flags to a command.
func (l *look) register(cmd *cobra.Command) {
	cmd.Flags().Var(&l.color, "color", cli.ColorUsage)
	cmd.Flags().BoolVarP(&l.verbose, "verbose", "v", false,
		"text also lists skipped integrations with their reasons, and all effects")
}

// style returns the style of a report on stdout.
func (l look) style(env cli.Env) report.Style {
	return report.Style{Color: env.Color(l.color, env.Stdout), Verbose: l.verbose}
}
