package bundler

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A Repository is a checkout as its author works on it.
type Repository struct{ root string }

// FindRepository finds the checkout that a folder belongs to.
func FindRepository(ctx context.Context, dir string) (*Repository, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, errors.New("git is not installed, and without it nothing tells base from head: install it, or name bundles with --base and --head")
	}
	out, err := git(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if strings.Contains(err.Error(), "dubious ownership") {
			return nil, fmt.Errorf("git does not trust the checkout in %q, since another user owns it: run git config --global --add safe.directory FOLDER", dir)
		}
		return nil, fmt.Errorf("%q is not in a checkout: go there, or name it with --repo, or name bundles with --base and --head", dir)
	}
	return &Repository{filepath.FromSlash(strings.TrimSpace(string(out)))}, nil
}

// Root is the folder of the checkout.
func (r *Repository) Root() string { return r.root }

// Head is the commit that is checked out, and the branch it is on, "" when HEAD
// is detached.
func (r *Repository) Head(ctx context.Context) (commit, branch string, err error) {
	out, err := git(ctx, r.root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		if ctx.Err() != nil {
			return "", "", ctx.Err()
		}
		return "", "", errors.New("the checkout has no commit yet: commit what is the base of your change first")
	}
	name, err := git(ctx, r.root, "symbolic-ref", "--quiet", "--short", "HEAD")
	if err != nil {
		name = nil
	}
	return strings.TrimSpace(string(out)), strings.TrimSpace(string(name)), ctx.Err()
}

// Clean tells whether some folders and files of the working tree are what is
// committed: nothing modified, nothing new that git does not ignore.
func (r *Repository) Clean(ctx context.Context, paths ...string) (bool, error) {
	args := append([]string{"status", "--porcelain=v1", "--untracked-files=normal", "--ignore-submodules=none", "--"}, paths...)
	out, err := git(ctx, r.root, args...)
	return len(out) == 0 && err == nil, err
}

// Differs tells whether a file of the working tree is not what a commit has, or
// only one of them has it.
func (r *Repository) Differs(ctx context.Context, commit, name string) bool {
	_, missing := os.Stat(filepath.Join(r.root, name))
	_, unknown := git(ctx, r.root, "cat-file", "-e", commit+":"+name)
	if missing != nil || unknown != nil {
		return (missing == nil) != (unknown == nil)
	}
	_, err := git(ctx, r.root, "diff", "--quiet", "--no-ext-diff", "--no-textconv", commit, "--", name)
	return err != nil
}

// Default is the branch that changes are merged into: where the remote's HEAD
// points, or else a remote or local branch with one of the usual names.
func (r *Repository) Default(ctx context.Context) (string, error) {
	if out, err := git(ctx, r.root, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"); err == nil {
		return strings.TrimSpace(string(out)), nil
	}
	for _, name := range []string{"refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main", "refs/heads/master"} {
		if _, err := git(ctx, r.root, "rev-parse", "--verify", "--quiet", name+"^{commit}"); err == nil {
			short := strings.TrimPrefix(strings.TrimPrefix(name, "refs/remotes/"), "refs/heads/")
			return short, nil
		}
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if out, err := git(ctx, r.root, "remote"); err == nil && len(out) == 0 {
		return "", errors.New("the checkout has no remote and no branch main or master to compare with: name the base, for instance --base git:BRANCH, or run git remote add origin URL && git fetch origin")
	}
	return "", errors.New("nothing tells which branch changes are merged into: run git remote set-head origin --auto, or name the base with --base git:BRANCH")
}

// MergeBase is the commit from which HEAD and a branch go their own ways.
func (r *Repository) MergeBase(ctx context.Context, branch string) (string, error) {
	out, err := git(ctx, r.root, "merge-base", "HEAD", branch)
	if commit := strings.TrimSpace(string(out)); err == nil && commit != "" {
		return commit, nil
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if r.Shallow(ctx) {
		return "", fmt.Errorf("the clone is shallow and does not reach back to where HEAD left %s: run git fetch --unshallow (in CI: GIT_DEPTH: 0)", branch)
	}
	return "", fmt.Errorf("HEAD and %s have no commit in common: run git fetch origin, or name the base with --base git:REV", branch)
}

// Shallow tells whether history ends somewhere in the clone because the rest was
// not fetched.
func (r *Repository) Shallow(ctx context.Context) bool {
	out, err := git(ctx, r.root, "rev-parse", "--is-shallow-repository")
	return err == nil && strings.TrimSpace(string(out)) == "true"
}
