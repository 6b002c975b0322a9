package cli

import (
	"fmt"
	"io"
	"io/fs"
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

// IsTerminal reports whether w is a character device. Terminals are, and so are a few other
// files, such as /dev/null.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&fs.ModeCharDevice != 0
}

// ColorUsage describes a flag --color.
const ColorUsage = "when text has colours; auto means on a terminal and in the log of a GitLab job, unless NO_COLOR " +
	"is set, and everywhere if FORCE_COLOR is set"

// Colors returns the value of a flag --color.
func Colors() Choice { return OneOf("auto", "always", "never") }

// Color reports whether output to w has colours: as a flag --color says, else as the
// variables NO_COLOR and FORCE_COLOR say, else if w is a terminal that can show them or the
// log of a GitLab job.
func (e Env) Color(flag Choice, w io.Writer) bool {
	get := func(name string) string {
		if e.Getenv == nil {
			return ""
		}
		return e.Getenv(name)
	}
	force := get("FORCE_COLOR")
	switch {
	case flag.String() != "auto":
		return flag.String() == "always"
	case get("NO_COLOR") != "":
		return false
	case force != "":
		return force != "0" && force != "false"
	case get("GITLAB_CI") == "true" && isPipe(w):
		return true // the log of a job is a pipe, and GitLab shows its colours
	}
	return get("TERM") != "dumb" && IsTerminal(w)
}

// isPipe reports whether w is a pipe.
func isPipe(w io.Writer) bool {
	f, ok := w.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&fs.ModeNamedPipe != 0
}
