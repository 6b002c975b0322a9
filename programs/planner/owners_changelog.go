package planner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/owners/changelog"
	"github.com/app-sre/prcheck/owners/content"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/source"
)

func ownersChangelogCommand(env cli.Env) *cobra.Command {
	var h history
	var known, out string
	form := cli.OneOf("text", "json")
	cmd := &cobra.Command{
		Use:   "changelog --base git:REV --head git:REV [--known FILE] [--out DIR]",
		Short: "Say of each merge which apps and change types it touched",
		Long: `changelog reads the commits of a branch after --base and up to --head, each against
the one before it, and says which apps a commit touched and which change types with
the label change_log_tracking allow a place of it. Apps, namespaces and change types
are those of --head.

--out writes bundle-diffs.json and minimized-bundle-diffs.json in the form in which
qontract-reconcile keeps them. --known names such a file: its entries are taken over,
and only other commits are read. A commit whose data make no bundle has an entry with
"error": true; the command then ends with 3.`,
		Example: `  planner owners changelog --base git:main~20 --head git:main
  planner owners changelog --base git:v1 --head git:main --known bundle-diffs.json --out .`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := readLog(known)
			if err != nil {
				return err
			}
			h.open = source.In(env)
			failed, err := h.add(cmd.Context(), l)
			if err != nil {
				return err
			}
			if out != "" {
				err = writeLog(out, l)
			} else {
				err = printLog(env.Stdout, form.String(), l)
			}
			return errors.Join(err, failed)
		},
	}
	cmd.Flags().StringVar(&h.base, "base", "", "commit after which the log begins: git:REV[@DIR] (required)")
	cmd.Flags().StringVar(&h.head, "head", "", "commit with which the log ends, likewise (required)")
	cmd.Flags().StringVar(&known, "known", "", "file with a log whose entries are taken over")
	cmd.Flags().StringVar(&out, "out", "", "folder for both documents; without it the log is printed")
	cmd.Flags().Var(&form, "format", "how to print it: text or json")
	return cmd
}

// A history is the commits of a branch that a log is made of.
type history struct {
	open       source.Opener
	base, head string
}

// maxCommits bounds how many commits one run reads.
const maxCommits = 10_000

// add adds the entries of all commits that a log does not know. failed says of which commits nobody knows what they
// touched.
func (h history) add(ctx context.Context, l *changelog.Log) (failed, err error) {
	steps, dir, err := h.steps(ctx)
	if err != nil {
		return nil, err
	}
	newest, err := h.open.Bundle(ctx, h.head, nil)
	if err != nil {
		return nil, err
	}
	r, err := changelog.NewReader(newest)
	if err != nil {
		return nil, cli.Invalid(fmt.Errorf("%s: %w", h.head, err))
	}
	repo, err := git.FindRepository(ctx, dir)
	if err != nil {
		return nil, err
	}
	sides := sides{open: h.open, dir: dir, last: newest}
	var entries []changelog.Entry
	for _, s := range steps {
		if l.Has(s.Hash) {
			continue
		}
		e := changelog.NewEntry(s.Hash, s.Made, s.Message)
		if err := touch(ctx, &e, r, &sides, repo, s); err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			e.Error = true
			failed = errors.Join(failed, fmt.Errorf("commit %s: %s", git.Short(s.Hash), err.Error())) // nobody's mistake now
		}
		entries = append(entries, e)
	}
	l.Add(entries...)
	return failed, nil
}

// steps returns the commits, and the folder of the repository.
func (h history) steps(ctx context.Context) ([]git.Step, string, error) {
	for flag, ref := range map[string]string{"--base": h.base, "--head": h.head} {
		if _, _, ok := source.ParseRevision(ref); !ok {
			return nil, "", cli.Usage(fmt.Errorf("%s must be a revision such as git:main, not %q", flag, ref))
		}
	}
	from, err := source.OpenRevision(ctx, h.base)
	if err != nil {
		return nil, "", err
	}
	to, err := source.OpenRevision(ctx, h.head)
	if err != nil {
		return nil, "", err
	}
	steps, err := to.Steps(ctx, from.Hash(), maxCommits)
	if err != nil && ctx.Err() == nil {
		err = cli.Invalid(err)
	}
	return steps, to.Dir(), err
}

// touch fills in what a commit touched.
func touch(ctx context.Context, e *changelog.Entry, r *changelog.Reader, of *sides, repo *git.Repository,
	s git.Step) error {
	paths, err := repo.ChangedPaths(ctx, s.Parent, s.Hash)
	if err != nil {
		return err
	}
	var names []string
	for _, p := range paths {
		names = append(names, p.Path)
	}
	after, err := of.bundle(ctx, s.Hash)
	if err != nil {
		return err
	}
	before, err := of.bundle(ctx, s.Parent)
	if err != nil {
		return err
	}
	if e.Apps, e.ChangeTypes, err = r.Touched(content.Bundles{Base: before, Head: after}); err != nil {
		return err
	}
	e.ChangeTypes = append(e.ChangeTypes, changelog.InFolders(names)...)
	return nil
}

// sides opens the bundles of commits, and keeps the last one, since the commit before a commit is read next.
type sides struct {
	open   source.Opener
	dir    string
	commit string
	last   *bundle.Bundle
}

func (o *sides) bundle(ctx context.Context, commit string) (*bundle.Bundle, error) {
	if o.commit == commit {
		return o.last, nil
	}
	b, err := o.open.Bundle(ctx, "git:"+commit+"@"+o.dir, o.last)
	if err != nil {
		return nil, err
	}
	o.commit, o.last = commit, b
	return b, nil
}

// readLog reads a log that was kept, an empty one for no name.
func readLog(name string) (*changelog.Log, error) {
	if name == "" {
		return &changelog.Log{}, nil
	}
	raw, err := os.ReadFile(name) //nolint:gosec // the user names it
	if err != nil {
		return nil, cli.Invalid(err)
	}
	l, err := changelog.Read(raw)
	if err != nil {
		return nil, cli.Invalid(fmt.Errorf("%s: %w", name, err))
	}
	return l, nil
}

// writeLog writes both documents into a folder.
func writeLog(dir string, l *changelog.Log) error {
	for name, of := range map[string]*changelog.Log{changelog.Document: l, changelog.SmallDocument: l.Small()} {
		if err := cli.WriteFile(filepath.Join(dir, name), func(w io.Writer) error {
			_, err := w.Write(of.Encode())
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// printLog prints a log.
func printLog(w io.Writer, form string, l *changelog.Log) error {
	if form == "json" {
		_, err := w.Write(append(l.Encode(), '\n'))
		return err
	}
	for _, e := range l.Entries {
		apps, types := sanitize.Line(strings.Join(e.Apps, ", ")), sanitize.Line(strings.Join(e.ChangeTypes, ", "))
		if e.Error {
			apps = "could not be read"
		}
		if _, err := fmt.Fprintf(w, "%s  %s  %s\n  apps   %s\n  types  %s\n", git.Short(e.Commit), e.MergedAt,
			sanitize.Line(e.Description), orNone(apps), orNone(types)); err != nil {
			return err
		}
	}
	return nil
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
