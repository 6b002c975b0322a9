package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// documentsCommand returns the hidden command with which a release makes the man pages and
// the completions of a program.
func documentsCommand(env Env, root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:    "documents FOLDER",
		Short:  "Write man pages and completions into a folder",
		Hidden: true,
		Args:   Takes("FOLDER"),
		RunE: func(_ *cobra.Command, args []string) error {
			date, err := sourceDate(env.Getenv("SOURCE_DATE_EPOCH"))
			if err != nil {
				return err
			}
			return writeDocuments(root, args[0], date)
		},
	}
}

// sourceDate returns the date in seconds since 1970 that a build that can be repeated sets,
// or the date of today.
func sourceDate(seconds string) (time.Time, error) {
	if seconds == "" {
		return time.Now(), nil
	}
	var epoch int64
	if _, err := fmt.Sscanf(seconds, "%d", &epoch); err != nil {
		return time.Time{}, Usage(fmt.Errorf("SOURCE_DATE_EPOCH: must be a number of seconds since 1970, got %q", seconds))
	}
	return time.Unix(epoch, 0).UTC(), nil
}

// writeDocuments writes the man pages of all commands of a tree into man, and its
// completions into completions.
func writeDocuments(root *cobra.Command, folder string, date time.Time) error {
	man, completions := filepath.Join(folder, "man"), filepath.Join(folder, "completions")
	for _, f := range []string{man, completions} {
		if err := os.MkdirAll(f, 0o755); err != nil {
			return err
		}
	}
	root.DisableAutoGenTag = true // a line with the date of the build and the name of a library
	header := &doc.GenManHeader{Section: "1", Date: &date, Source: root.Name() + " " + root.Version, Manual: "prcheck"}
	if err := doc.GenManTree(root, header, man); err != nil {
		return err
	}
	name := filepath.Join(completions, root.Name())
	if err := root.GenBashCompletionFileV2(name+".bash", true); err != nil {
		return err
	}
	if err := root.GenZshCompletionFile(name + ".zsh"); err != nil {
		return err
	}
	return root.GenFishCompletionFile(name+".fish", true)
}
