package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/app-sre/prcheck/internal/suggest"
)

// Execute runs the command of the tree under root that env.Args names. It sets streams,
// error handling, the help command, the version command and --flags-from of the tree, so a
// command need only set Use, Short, Args and RunE. An error before RunE is a usage error
// that says what to do. PreRun hooks that can fail are not supported.
func Execute(ctx context.Context, env Env, root *cobra.Command) error {
	args, err := fillFlags(env.Args, env.Getenv)
	if err != nil {
		return err
	}
	root.SetArgs(append([]string{}, args...)) // nil would mean os.Args
	addFlagsFrom(root)
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetHelpCommand(helpCommand(root))
	root.InitDefaultHelpCmd()
	addVersion(env, root)
	root.AddCommand(documentsCommand(env, root))
	root.InitDefaultCompletionCmd(env.Args...)

	var incomplete, started bool
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if asked, _ := cmd.Flags().GetBool("help"); asked || cmd.Runnable() {
			help(cmd, args)
			return
		}
		incomplete = true
	})
	prepare(root, func(cmd *cobra.Command) {
		if started = true; env.begin != nil && cmd.Name() != versionName {
			env.begin()
		}
	})

	cmd, err := root.ExecuteContextC(ctx)
	switch {
	case err != nil && started:
		return err
	case err != nil:
		return usageError(cmd, err)
	case incomplete:
		return usageError(cmd, missingCommand(cmd))
	}
	return nil
}

// prepare makes every command of the tree call begin when its RunE begins, and lets shells
// complete its flags.
func prepare(cmd *cobra.Command, begin func(cmd *cobra.Command)) {
	if work := cmd.RunE; work != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			begin(cmd)
			return work(cmd, args)
		}
	}
	completeChoices(cmd)
	completeReferences(cmd)
	for _, child := range cmd.Commands() {
		prepare(child, begin)
	}
}

// helpCommand returns a help command like that of cobra, except that an unknown topic is an
// error.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Help about any command",
		RunE: func(_ *cobra.Command, args []string) error {
			topic, rest, err := root.Find(args)
			if err == nil && len(rest) > 0 && topic.HasSubCommands() {
				err = fmt.Errorf("unknown command %q for %q", rest[0], topic.CommandPath())
			}
			if err != nil {
				return usageError(topic, err)
			}
			topic.InitDefaultHelpFlag()
			if err := topic.Flags().Set("help", "true"); err != nil {
				return err
			}
			return topic.Help()
		},
	}
}

// missingCommand returns the error of a command that only groups others and was called
// itself.
func missingCommand(cmd *cobra.Command) error {
	rest := cmd.Flags().Args()
	if len(rest) == 0 {
		return fmt.Errorf("%s needs a command", cmd.CommandPath())
	}
	text := fmt.Sprintf("unknown command %q for %q", rest[0], cmd.CommandPath())
	cmd.SuggestionsMinimumDistance = 2 // as cobra has it for a root
	if near := cmd.SuggestionsFor(rest[0]); len(near) > 0 {
		text += suggestion + strings.Join(near, "\n\t")
	}
	return fmt.Errorf("%s", text)
}

// suggestion is the text with which cobra begins its list of similar commands.
const suggestion = "\n\nDid you mean this?\n\t"

// usageError turns an error of cobra or pflag about cmd into a usage error on one line. The
// line ends with the command that prints the help.
func usageError(cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return nil
	}
	text, near, found := strings.Cut(err.Error(), suggestion)
	names := strings.Fields(near)
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		names = similarFlags(cmd, unknown.GetSpecifiedName())
		found = len(names) > 0
	}
	if found {
		text += fmt.Sprintf(", did you mean %q?", strings.Join(names, `" or "`))
	}
	return Usage(fmt.Errorf("%s (run '%s --help')", text, cmd.CommandPath()))
}

// maxFlagEdits is how many characters of a misspelt flag may be wrong.
const maxFlagEdits = 2

// similarFlags returns the flags of a command that are similar to a misspelt one.
func similarFlags(cmd *cobra.Command, name string) []string {
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	var out []string
	for _, word := range suggest.Words(name, known, min(maxFlagEdits, len(name)/2)) {
		out = append(out, "--"+word)
	}
	return out
}
