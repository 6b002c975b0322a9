package planner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/safepath"
	"github.com/app-sre/prcheck/report"
	"github.com/app-sre/prcheck/report/board"
	"github.com/app-sre/prcheck/state/audits"
	"github.com/app-sre/prcheck/state/checks"
	"github.com/app-sre/prcheck/state/loops"
	"github.com/app-sre/prcheck/state/tally"
)

// boardMark is the file by which a folder is known to be one that this command wrote.
const boardMark = ".prcheck-board"

// A boardFlags says what a board is made from, and where it goes.
type boardFlags struct {
	state, out string
	days       int
	texts      bool
}

func boardCommand(env cli.Env) *cobra.Command {
	var f boardFlags
	cmd := &cobra.Command{
		Use:   "board --state REF --out DIR",
		Short: "Write a static site that says how a whole repository stands",
		Long: `board reads what runner and reconciler remembered in the state, and writes a folder with
one page and its numbers as JSON: what waits for a person, the checks of merge requests,
commits and the stages that they pass, the shards of loops, resources by state, audits, and
twelve weeks as curves. It changes nothing in the state, and needs no server: let a job
publish the folder, for instance as GitLab Pages (docs/board.md).

A document that cannot be read is told on the page and on stderr, and the rest is shown. The
folder must be empty, or one that board wrote. Pages may be public, so reasons, which may
name targets, are left out without --texts.`,
		Example: `  planner board --state s3://bucket/prcheck --out public
  planner board --state .prcheck --out public --texts && jq .tasks public/people.json`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.days < 1 || f.days > maxDays {
				return cli.Usage(fmt.Errorf("--days is %d; it must be from 1 to %d, for older days are forgotten", f.days, maxDays))
			}
			if f.out == "" {
				return cli.Usage(errors.New("--out is required: the folder that gets the site"))
			}
			in, err := readBoard(cmd.Context(), env, f, time.Now())
			if err != nil {
				return err
			}
			return writeBoard(env, f.out, board.New(in))
		},
	}
	cmd.Flags().StringVar(&f.state, "state", "", "folder, or s3://BUCKET/PREFIX, in which runner and reconciler remember "+
		"(required)")
	cmd.Flags().StringVar(&f.out, "out", "", "folder that gets the site (required)")
	cmd.Flags().IntVar(&f.days, "days", 14, "for how many days the check of a merge request is shown")
	cmd.Flags().BoolVar(&f.texts, "texts", false, "show reasons, which may name targets and quote services")
	return cmd
}

// readBoard reads what a board is made from.
func readBoard(ctx context.Context, env cli.Env, f boardFlags, now time.Time) (board.Input, error) {
	in := board.Input{Now: now, Of: env.Getenv("CI_PROJECT_PATH"), Forge: webAddress(env.Getenv("CI_SERVER_URL")),
		Texts: f.texts}
	remembered, err := change.ReadState(ctx, f.state)
	if remembered == nil && err == nil {
		err = errNoState
	}
	if err != nil {
		return in, err
	}
	var damaged, ignored []string
	if in.Checks, damaged, err = checks.NewStore(remembered).All(ctx, now.AddDate(0, 0, -f.days)); err != nil {
		return in, err
	}
	if in.Loops, ignored, err = loops.NewStore(remembered).All(ctx); err != nil {
		return in, err
	}
	in.Unknown = slices.Concat(damaged, ignored)
	since := now.AddDate(0, 0, 1-7*board.Weeks)
	if in.Days, ignored, err = tally.NewStore(remembered).Days(ctx, since, now); err != nil {
		return in, err
	}
	for _, line := range ignored {
		in.Unknown = append(in.Unknown, "what was counted on "+line)
	}
	audited, err := audits.NewStore(remembered).Snapshot(ctx)
	if err != nil {
		in.Unknown = append(in.Unknown, err.Error())
	}
	in.Audits, in.Misses = audited.Total(since), audited.Misses()
	return in, ctx.Err()
}

// webAddress returns an address of the web, "" for anything else.
func webAddress(text string) string {
	if strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://") {
		return text
	}
	return ""
}

// maxToldUnknown is how many documents that cannot be read are told on stderr.
const maxToldUnknown = 5

// writeBoard writes the files of a board, the page last.
func writeBoard(env cli.Env, folder string, b *board.Board) error {
	if err := openBoard(folder); err != nil {
		return err
	}
	views := b.Views()
	for _, name := range slices.Sorted(maps.Keys(views)) {
		err := cli.WriteFile(filepath.Join(folder, name), func(w io.Writer) error { return board.WriteView(w, views[name]) })
		if err != nil {
			return err
		}
	}
	page := filepath.Join(folder, "index.html")
	if err := cli.WriteFile(page, func(w io.Writer) error { return board.HTML(w, b) }); err != nil {
		return err
	}
	for i, line := range b.Unknown {
		if i == maxToldUnknown {
			_, _ = fmt.Fprintf(env.Stderr, "planner: and %d more documents are not shown\n", len(b.Unknown)-i)
			break
		}
		_, _ = fmt.Fprintf(env.Stderr, "planner: %s\n", report.Printable(line)) // only a note
	}
	_, err := fmt.Fprintf(env.Stdout, "%s\n%s\n", b.Title, page)
	return err
}

// openBoard makes the folder of a board, or checks that this command wrote it.
func openBoard(folder string) error {
	root, err := safepath.MakeFolder(folder)
	if err != nil {
		return cli.Invalid(fmt.Errorf("making --out: %w", err))
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return cli.Invalid(fmt.Errorf("reading --out: %w", err))
	}
	if len(entries) > 0 && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == boardMark }) {
		return cli.Invalid(fmt.Errorf("the folder %q of --out has other files: name an empty one, or one that planner board "+
			"wrote", folder))
	}
	return cli.WriteFile(filepath.Join(folder, boardMark), func(io.Writer) error { return nil })
}
