package source

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/settings"
)

// ParseRevision splits a reference git:REV[@DIR] into the revision and the folder of its
// repository, "." when none is named. An @ that git itself writes is part of the revision,
// as in HEAD@{1} and in @ alone.
func ParseRevision(ref string) (revision, dir string, ok bool) {
	s, ok := strings.CutPrefix(ref, "git:")
	i := strings.LastIndex(s, "@")
	if i <= 0 || i == len(s)-1 || s[i+1] == '{' {
		return s, ".", ok
	}
	return s[:i], s[i+1:], ok
}

// RevisionOf returns the reference to a commit of a repository: git:COMMIT, followed by the
// repository's folder unless that is the current folder.
func RevisionOf(repo *git.Repository, commit string) string {
	if repo.IsCurrent() {
		return "git:" + commit
	}
	return "git:" + commit + "@" + repo.Root()
}

// OpenRevision opens the commit of a reference git:REV[@DIR]. All errors are of the user's
// making.
func OpenRevision(ctx context.Context, ref string) (*git.Commit, error) {
	revision, dir, _ := ParseRevision(ref)
	c, err := git.OpenCommit(ctx, dir, revision)
	if err != nil && ctx.Err() == nil {
		err = cli.Invalid(fmt.Errorf("reference %q: %w", ref, err))
	}
	return c, err
}

// checkoutName is what a plan calls a reference to a checkout.
func checkoutName(ref string) string {
	if dir, ok := strings.CutPrefix(ref, "dir:"); ok {
		return "dir:" + plainName(dir)
	}
	revision, dir, _ := ParseRevision(ref)
	if dir == "." {
		return "git:" + revision
	}
	return "git:" + revision + "@" + plainName(dir)
}

// plainName returns a path, of an absolute path only its last part.
func plainName(name string) string {
	if filepath.IsAbs(name) {
		return path.Base(filepath.ToSlash(name))
	}
	return filepath.ToSlash(filepath.Clean(name))
}

// A Comparison is what differs between the files of two revisions of one repository.
type Comparison struct {
	Changed   []string        // paths of the repository that differ
	New, Gone map[string]bool // those of them that only head has, and only base
	// ReadBase and ReadHead return the text of a file of the repository, up to
	// [settings.MaxBytes] bytes and one more. The error is [fs.ErrNotExist] when there is
	// no such file.
	ReadBase, ReadHead func(path string) ([]byte, error)
	// PathOf returns the path in the repository of a file on disk, and whether it lies there.
	PathOf func(name string) (path string, inside bool)
}

// Compare compares the files of two references. It returns nil when base is not a revision,
// or they are not both to one repository: the one in the folder root, unless that is "".
func Compare(ctx context.Context, base, head, root string) (*Comparison, error) {
	revision, dir, ok := ParseRevision(base)
	if !ok || !IsCheckout(head) {
		return nil, nil //nolint:nilnil // there is nothing to compare, as documented
	}
	from, err := git.OpenCommit(ctx, dir, revision)
	if err != nil {
		return nil, err
	}
	repo, err := git.FindRepository(ctx, dir)
	if err != nil {
		return nil, err
	}
	to := "" // the working tree
	c := &Comparison{PathOf: repo.PathOf, ReadBase: readCommit(ctx, from), ReadHead: func(path string) ([]byte, error) {
		return readBelow(repo.Root(), path, settings.MaxBytes)
	}}
	where, ok := strings.CutPrefix(head, "dir:")
	if !ok {
		revision, where, _ = ParseRevision(head)
		commit, err := git.OpenCommit(ctx, where, revision)
		if err != nil {
			return nil, err
		}
		to, c.ReadHead = commit.Hash(), readCommit(ctx, commit)
	}
	other, err := git.FindRepository(ctx, where)
	if err != nil || other.Root() != repo.Root() || root != "" && root != repo.Root() {
		return nil, ctx.Err()
	}
	changed, err := repo.ChangedPaths(ctx, from.Hash(), to)
	c.New, c.Gone = map[string]bool{}, map[string]bool{}
	for _, p := range changed {
		c.Changed = append(c.Changed, p.Path)
		c.New[p.Path], c.Gone[p.Path] = p.Kind == git.PathAdded, p.Kind == git.PathDeleted
	}
	return c, err
}

// readCommit returns a function that reads files of a commit.
func readCommit(ctx context.Context, c *git.Commit) func(path string) ([]byte, error) {
	return func(path string) ([]byte, error) { return c.ReadFile(ctx, path, settings.MaxBytes) }
}
