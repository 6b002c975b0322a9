package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// Renamed makes of a command its old spelling: it works as before, is not listed, and says what it is called now.
func Renamed(env Env, program string, cmd *cobra.Command, now string) *cobra.Command {
	was := cmd.Name()
	cmd.Hidden = true
	cmd.PreRun = func(*cobra.Command, []string) {
		// only a note
		_, _ = fmt.Fprintf(env.Stderr, "%s: %s is %s %s now; version 0.8 will not know the old spelling\n", program, was, program,
			now)
	}
	return cmd
}
