package moved

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/internal/cli"
)

// now is the program that has the commands now.
const now = "reconciler"

// A Spelling is a command that moved.
type Spelling struct {
	Program string // that had it, such as runner
	Was, Is string // its name there, and in the program reconciler
}

// Command returns a command with the old spelling.
func Command(env cli.Env, s Spelling) *cobra.Command {
	spelling := now + " " + s.Is
	return &cobra.Command{
		Use:                s.Was,
		Short:              "The old spelling of " + spelling,
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			// only a note
			_, _ = fmt.Fprintf(env.Stderr, "%s: %s is %s now; version 0.7 will not know the old spelling\n", s.Program, s.Was,
				spelling)
			program, err := beside(now)
			if err != nil {
				return cli.Usage(fmt.Errorf("%s needs the program %s in the folder of %s: install it there, or call it "+
					"yourself: %w", s.Was, now, s.Program, err))
			}
			var environ []string
			if env.Environ != nil {
				environ = env.Environ()
			}
			if err := replace(program, append([]string{now, s.Is}, args...), environ); err != nil {
				return fmt.Errorf("starting %s in place of %s: %w", program, s.Program, err)
			}
			return nil
		},
	}
}

// beside returns the file of a program in the folder of this one.
func beside(name string) (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", err
	}
	file := filepath.Join(filepath.Dir(own), name+filepath.Ext(own))
	_, err = os.Stat(file)
	return file, err
}
