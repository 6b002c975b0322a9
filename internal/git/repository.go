package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A Repository is a repository with a working tree, in which an author makes a change.
type Repository struct{ root string }

// FindRepository finds the repository whose working tree a folder belongs to.
func FindRepository(ctx context.Context, dir string) (*Repository, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, errors.New("git is not installed, and without it nothing tells base from head: install it, or " +
			"name bundles with --base and --head")
	}
	out, err := pinned(ctx, "working tree", dir, "", func() ([]byte, error) {
		return run(ctx, dir, "rev-parse", "--show-toplevel")
	})
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if strings.Contains(err.Error(), "dubious ownership") {
			return nil, fmt.Errorf("git does not trust the checkout in %q, since another user owns it: run git "+
				"config --global --add safe.directory FOLDER", dir)
		}
		if strings.Contains(err.Error(), "must be run in a work tree") {
			return nil, fmt.Errorf("%q is a bare repository, which has no files of its own: go to a clone of it "+
				"that has them", dir)
		}
		return nil, fmt.Errorf("%q is not in a checkout: go there, or name it with --repo, or name bundles with "+
			"--base and --head", dir)
	}
	return &Repository{filepath.FromSlash(strings.TrimSpace(string(out)))}, nil
}

// Root returns the top folder of the working tree. It is absolute and has no links.
func (r *Repository) Root() string { return r.root }

// Head returns the commit that is checked out, and its branch; the branch is "" when HEAD
// is detached.
func (r *Repository) Head(ctx context.Context) (commit, branch string, err error) {
	out, err := run(ctx, r.root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		if ctx.Err() != nil {
			return "", "", ctx.Err()
		}
		return "", "", errors.New("the checkout has no commit yet: commit what is the base of your change first")
	}
	name, err := run(ctx, r.root, "symbolic-ref", "--quiet", "--short", "HEAD")
	if err != nil {
		name = nil
	}
	return strings.TrimSpace(string(out)), strings.TrimSpace(string(name)), ctx.Err()
}

// Differs reports whether a file of the working tree has other contents than in a commit, or
// is in only one of the two.
func (r *Repository) Differs(ctx context.Context, commit, name string) bool {
	_, missing := os.Stat(filepath.Join(r.root, name))
	_, unknown := run(ctx, r.root, "cat-file", "-e", commit+":"+name)
	if missing != nil || unknown != nil {
		return (missing == nil) != (unknown == nil)
	}
	_, err := run(ctx, r.root, "diff", "--quiet", "--no-ext-diff", "--no-textconv", commit, "--", name)
	return err != nil
}

// DefaultBranch returns the branch that changes are merged into: the branch that the
// remote's HEAD points to, or else a remote or local branch named main or master.
func (r *Repository) DefaultBranch(ctx context.Context) (string, error) {
	if out, err := run(ctx, r.root, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"); err == nil {
		return strings.TrimSpace(string(out)), nil
	}
	for _, name := range []string{"refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main",
		"refs/heads/master"} {
		if _, err := run(ctx, r.root, "rev-parse", "--verify", "--quiet", name+"^{commit}"); err == nil {
			short := strings.TrimPrefix(strings.TrimPrefix(name, "refs/remotes/"), "refs/heads/")
			return short, nil
		}
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if out, err := run(ctx, r.root, "remote"); err == nil && len(out) == 0 {
		return "", errors.New("the checkout has no remote and no branch main or master to compare with: name the " +
			"base, for instance --base git:BRANCH, or run git remote add origin URL && git fetch origin")
	}
	return "", errors.New("nothing tells which branch changes are merged into: run git remote set-head origin " +
		"--auto, or name the base with --base git:BRANCH")
}

// MergeBase returns the last commit that HEAD and a branch have in common.
func (r *Repository) MergeBase(ctx context.Context, branch string) (string, error) {
	out, err := run(ctx, r.root, "merge-base", "HEAD", branch)
	if commit := strings.TrimSpace(string(out)); err == nil && commit != "" {
		return commit, nil
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if r.IsShallow(ctx) {
		return "", fmt.Errorf("the clone is shallow and does not reach back to where HEAD left %s: run git fetch "+
			"--unshallow (in CI: GIT_DEPTH: 0)", branch)
	}
	return "", fmt.Errorf("HEAD and %s have no commit in common: run git fetch origin, or name the base with "+
		"--base git:REV", branch)
}

// IsShallow reports whether the clone lacks a part of the history because it was not
// fetched.
func (r *Repository) IsShallow(ctx context.Context) bool {
	out, err := run(ctx, r.root, "rev-parse", "--is-shallow-repository")
	return err == nil && strings.TrimSpace(string(out)) == "true"
}
