package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/internal/git"
)

// bundleFlags are the names of the flags that take a reference to a bundle.
var bundleFlags = []string{"base", "head", "bundle"}

// completeReferences lets shells complete the flags of a command that name bundles: the branches and tags of the
// checkout, its working tree, and files.
func completeReferences(cmd *cobra.Command) {
	for _, name := range bundleFlags {
		if f := cmd.Flags().Lookup(name); f == nil || f.Value.Type() != "string" {
			continue
		}
		// it fails only for an unknown flag
		_ = cmd.RegisterFlagCompletionFunc(name, func(cmd *cobra.Command, _ []string,
			typed string) ([]string, cobra.ShellCompDirective) {
			var out []string
			if begins(revision, typed) || strings.HasPrefix(typed, revision) {
				refs, err := git.References(cmd.Context(), ".")
				if err != nil {
					return nil, cobra.ShellCompDirectiveDefault // files
				}
				for _, r := range append([]string{"HEAD"}, refs...) {
					out = append(out, revision+r)
				}
			}
			if begins(here, typed) {
				out = append(out, here)
			}
			if len(out) == 0 || typed == "" {
				return out, cobra.ShellCompDirectiveDefault
			}
			return out, cobra.ShellCompDirectiveNoFileComp
		})
	}
}

// What references to a revision begin with, and the reference to the working tree of this folder.
const (
	revision = "git:"
	here     = "dir:."
)

// begins reports whether what was typed is the beginning of a word.
func begins(word, typed string) bool { return strings.HasPrefix(word, typed) }

// CompleteNames lets shells complete the first argument of a command with names.
func CompleteNames(cmd *cobra.Command, names []string) {
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
