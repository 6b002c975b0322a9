package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/ci/note"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/safepath"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
	"github.com/app-sre/prcheck/runner/parts"
)

// reportsUsage is the help for the flag --reports.
const reportsUsage = `folder for all reports: plan.json, results.json, report.html, note.md, junit.xml,
codequality.json, terraform.json, metrics.txt, and of precheck logs/; a flag for a single file wins.
It must be empty, or one that --reports wrote, whose reports are removed first`

// reportMark is the file by which a folder is known to be one for reports.
const reportMark = ".prcheck-reports"

// reportNames are the files that --reports writes.
var reportNames = []string{"plan.json", "results.json", "report.html", "note.md", "junit.xml", "codequality.json",
	"terraform.json", "metrics.txt"}

// A reportFolder is a folder for all reports; "" is none.
type reportFolder string

// file returns the name of a file: the one that a flag gives, or else one in the folder.
func (f reportFolder) file(given, name string) string {
	if given != "" || f == "" {
		return given
	}
	return filepath.Join(string(f), name)
}

func (f reportFolder) html(given string) string { return f.file(given, "report.html") }

func (f reportFolder) ci(given ciFiles) ciFiles {
	return ciFiles{folder: f, junit: f.file(given.junit, "junit.xml"),
		codequality: f.file(given.codequality, "codequality.json"),
		metrics:     f.file(given.metrics, "metrics.txt"), terraform: f.file(given.terraform, "terraform.json")}
}

// logs returns the folder for logs.
func (f reportFolder) logs(given string, isGiven bool) string {
	if isGiven || f == "" {
		return given
	}
	return filepath.Join(string(f), "logs")
}

// open makes the folder, or checks that it is one for reports and removes those of the run before: a run that ends
// early leaves none that looks like its own. What the command reads stays.
func (f reportFolder) open(ctx context.Context, env cli.Env, reads ...string) error {
	if f == "" {
		return nil
	}
	if err := change.CheckPaths(ctx, env, change.Paths{Folders: []string{string(f)}}); err != nil {
		return err
	}
	root, err := safepath.MakeFolder(string(f))
	if err != nil {
		return cli.Invalid(fmt.Errorf("making --reports: %w", err))
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return cli.Invalid(fmt.Errorf("reading --reports: %w", err))
	}
	isOurs := func(e fs.DirEntry) bool { return e.Name() == reportMark }
	if len(entries) > 0 && !slices.ContainsFunc(entries, isOurs) {
		return cli.Invalid(fmt.Errorf("the folder %q of --reports has other files: name an empty one, or one that --reports "+
			"wrote", string(f)))
	}
	for _, e := range entries {
		if e.IsDir() || !slices.Contains(reportNames, e.Name()) || isRead(filepath.Join(string(f), e.Name()), reads) {
			continue
		}
		if err := root.Remove(e.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return cli.Invalid(fmt.Errorf("removing an earlier report from --reports: %w", err))
		}
	}
	return cli.WriteFile(filepath.Join(string(f), reportMark), func(io.Writer) error { return nil })
}

// isRead reports whether a file is one of those that a command reads, or is one of results in a folder that it reads.
func isRead(name string, reads []string) bool {
	isSame := func(name string) bool {
		info, err := safepath.Stat(name)
		return err == nil && slices.ContainsFunc(reads, func(read string) bool {
			other, err := safepath.Stat(read)
			return read != "" && err == nil && os.SameFile(info, other)
		})
	}
	if isSame(name) {
		return true
	}
	at, err := filepath.Abs(filepath.Dir(name))
	if err == nil {
		at, err = filepath.EvalSymlinks(at)
	}
	if err != nil || !parts.IsFile(name) {
		return err != nil // nobody knows
	}
	for !isSame(at) && at != filepath.Dir(at) {
		at = filepath.Dir(at)
	}
	return isSame(at)
}

// write writes the plan, its results and the note.
func (f reportFolder) write(ctx context.Context, env cli.Env, p *plan.Plan, results *plan.Results,
	rep *report.Report) error {
	if f == "" {
		return nil
	}
	n := note.Note{Tool: "prcheck", Plan: p, Results: results, Commit: p.Head.Commit,
		Labels: checkLabelsHere(ctx, env, rep.Effects).forNote(), Locator: noteLocator(ctx, env, p, results)}
	text, err := n.Body("")
	if err != nil {
		return fmt.Errorf("writing the note: %w", err)
	}
	write := func(name string, do func(io.Writer) error) error { return cli.WriteFile(f.file("", name), do) }
	return errors.Join(
		write("plan.json", func(w io.Writer) error { return plan.Write(w, p) }),
		write("results.json", func(w io.Writer) error { return plan.WriteResults(w, results) }),
		write("note.md", func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		}))
}
