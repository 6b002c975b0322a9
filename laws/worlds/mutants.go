//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// A mutant is a way to break the engine: one text of a file of the product, and what stands
// there instead.
type mutant struct {
	name, file, text, instead string
	upset                     bool // the law catches it when checks are disturbed
}

// mutants are the broken engines that the law must catch.
var mutants = []mutant{
	{
		name: "base in head's tree", file: "runner/run.go",
		text:    `return r.Places.OnBase(ctx, r.userOf(t))`,
		instead: `return r.Places.OnHead(ctx, r.userOf(t))`,
	},
	{
		name: "added files ignored", file: "planner/rules/edits.go",
		text: `	r := f.reads(it.Name)
	if f.mayRead`,
		instead: `	if f.New[p] {
		return false
	}
	r := f.reads(it.Name)
	if f.mayRead`,
	},
	{
		name: "listings ignored", file: "state/files/world.go",
		text:    `return "folder " + digestNames(append(slices.Clone(names), w.OthersIn(name)...))`,
		instead: `return "folder" + digestNames(names[:0])`,
	},
	{
		name: "vain look-ups ignored", file: "state/files/world.go",
		text:    `if now := w.Found(r.Path, r.Lists); now != r.Found || now == unknown {`,
		instead: `if now := w.Found(r.Path, r.Lists); r.Found != "missing" && (now != r.Found || now == unknown) {`,
	},
	{
		name: "links not followed", file: "state/files/world.go",
		text:    `if now := w.Found(r.Path, r.Lists); now != r.Found || now == unknown {`,
		instead: `if now := w.Found(r.Path, r.Lists); r.Found[:3] != "120" && (now != r.Found || now == unknown) {`,
	},
	{
		name: "data read from disk ignored", file: "planner/rules/edits.go",
		text:    `	if f.mayRead(r, p) {`,
		instead: `	if !f.IsData(p) && f.mayRead(r, p) {`,
	},
	{
		name: "undeclared ignored files shared", file: "runner/reads.go",
		text: `func (r *run) whyNotAsOnBase(ctx context.Context, t plan.Task) string {`,
		instead: `func (r *run) whyNotAsOnBase(ctx context.Context, t plan.Task) string {
	return ""
}

func (r *run) unused(ctx context.Context, t plan.Task) string {`,
	},
	{
		name: "digest of the plan kept", file: "runner/reads.go", upset: true,
		text:    `at.World.ChangedMeanwhile(now.list, run); isOther {`,
		instead: `at.World.ChangedMeanwhile(now.list, run); isOther && r == nil {`,
	},
}

// catch lets the law catch each mutant, and prints which it did. A mutant is caught by a pair
// that breaks the law with the mutant and keeps it with the runner of the options.
func (l law) catch(ctx context.Context, out io.Writer, o options, all []mutant) error {
	survived := 0
	for _, m := range all {
		if !strings.Contains(m.name, o.mutant) {
			continue
		}
		at, err := l.catchOne(ctx, o, m)
		if err != nil {
			return fmt.Errorf("mutant %q: %w", m.name, err)
		}
		if at == "" {
			survived++
			_, _ = fmt.Fprintf(out, "survived  %s (%d pairs)\n", m.name, o.pairs)
		} else {
			_, _ = fmt.Fprintf(out, "caught    %s: %s\n", m.name, at)
		}
	}
	if survived > 0 {
		return fmt.Errorf("%w: %d mutants survived", errViolated, survived)
	}
	return nil
}

// catchOne builds a mutant and returns the command that shows its first violation, "" if
// there is none.
func (l law) catchOne(ctx context.Context, o options, m mutant) (string, error) {
	dir, err := os.MkdirTemp(l.temp, "mutant-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	binary, err := m.build(ctx, dir)
	if err != nil {
		return "", err
	}
	broken, check := l, l.check
	broken.Runner = binary
	if o.upsets = m.upset; m.upset {
		check = l.disturb
	}
	at := ""
	_, err = broken.all(ctx, o, func(p pair, f finding) bool {
		if len(f.violations) == 0 || at != "" {
			return at != ""
		}
		v := f.violations[0]
		if whole, err := check(ctx, p, v.Place); err == nil && len(whole.violations) == 0 {
			at = v.String() + "; " + repeat(p, v.Place, m.upset)
		}
		return at != ""
	})
	return at, err
}

// build copies the files that git knows to a folder, applies the patch and builds the runner
// there. The compiler's cache is that of the user: without paths in the programs, only what the
// patch changes is compiled again.
func (m mutant) build(ctx context.Context, dir string) (string, error) {
	root, err := command(ctx, ".", os.Environ(), "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return "", err
	}
	source := filepath.Join(dir, "source")
	if err := copyTracked(ctx, root, source); err != nil {
		return "", err
	}
	name := filepath.Join(source, m.file)
	raw, err := os.ReadFile(name) //nolint:gosec // a file of the copy
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(raw), m.text); n != 1 {
		return "", fmt.Errorf("%s has the text %d times, not once: adapt the patch", m.file, n)
	}
	patched := strings.Replace(string(raw), m.text, m.instead, 1)
	if err := os.WriteFile(name, []byte(patched), 0o600); err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "runner")
	_, err = command(ctx, source, os.Environ(), "go", "build", "-trimpath", "-o", binary, "./cmd/runner")
	return binary, err
}

// copyTracked copies the files that git knows, as they lie in the folder root.
func copyTracked(ctx context.Context, root, to string) error {
	names, err := command(ctx, root, os.Environ(), "git", "ls-files", "-z")
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.TrimRight(names, "\x00"), "\x00") {
		raw, err := os.ReadFile(filepath.Join(root, name)) //nolint:gosec // a file of the repository
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EISDIR) {
			continue // deleted, or a link to a folder
		}
		if err != nil {
			return err
		}
		if err := write(filepath.Join(to, name), file{Text: string(raw)}); err != nil {
			return err
		}
	}
	return nil
}
