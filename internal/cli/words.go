package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A Choice is the value of a flag that takes one of a few words.
type Choice struct {
	words []string
	word  string // the chosen word
}

// OneOf returns a choice between words. The first word is the default.
func OneOf(words ...string) Choice { return Choice{words: words, word: words[0]} }

// String returns the chosen word.
func (c *Choice) String() string { return c.word }

// Type returns all words, for the help of the flag.
func (c *Choice) Type() string { return strings.Join(c.words, separator) }

// Set chooses a word.
func (c *Choice) Set(word string) error {
	if !slices.Contains(c.words, word) {
		return fmt.Errorf("must be one of %s", strings.Join(c.words, ", "))
	}
	c.word = word
	return nil
}

// separator stands between the words in the type of a choice.
const separator = "|"

// completeChoices lets shells complete the flags of a command that are choices.
func completeChoices(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if words := strings.Split(f.Value.Type(), separator); len(words) > 1 {
			// it fails only for an unknown flag
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
		}
	})
}

// Takes returns a check that a command has exactly the named arguments. If the last name
// ends in three dots, that argument may be given several times.
func Takes(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch several := len(names) > 0 && strings.HasSuffix(names[len(names)-1], "..."); {
		case len(args) < len(names):
			return fmt.Errorf("%s is missing", strings.TrimSuffix(names[len(args)], "..."))
		case len(args) > len(names) && !several:
			return fmt.Errorf("unexpected argument %q", args[len(names)])
		}
		return nil
	}
}
