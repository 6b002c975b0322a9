package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A Choice is a flag that takes one of a few words.
type Choice struct {
	words []string
	word  string
}

// OneOf returns a choice between words, the first of which it is until another
// one is set.
func OneOf(words ...string) Choice { return Choice{words: words, word: words[0]} }

// String returns the word that was chosen.
func (c *Choice) String() string { return c.word }

// Type lists the words, as help shows them.
func (c *Choice) Type() string { return strings.Join(c.words, choice) }

// Set chooses a word.
func (c *Choice) Set(word string) error {
	if !slices.Contains(c.words, word) {
		return fmt.Errorf("must be one of %s", strings.Join(c.words, ", "))
	}
	c.word = word
	return nil
}

// choice is between the words in the type of a flag that takes one of them.
const choice = "|"

// complete lets shells complete the flags of a command that take one of a few
// words.
func complete(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if words := strings.Split(f.Value.Type(), choice); len(words) > 1 {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
		}
	})
}

// Takes wants just the arguments that are named, as help names them; the last
// one may be given several times when its name ends in three dots.
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
