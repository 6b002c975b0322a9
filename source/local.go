package source

import (
	"context"
	"os"
	"path/filepath"

	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/world"
)

// A LocalChange is the change that somebody works on in a checkout.
type LocalChange struct {
	Repository     *git.Repository
	Commit, Branch string // of HEAD; Branch is "" if no branch is checked out
}

// FindLocalChange finds the checkout that a folder lies in.
func FindLocalChange(ctx context.Context, dir string) (LocalChange, error) {
	repo, err := git.FindRepository(ctx, dir)
	if err != nil {
		return LocalChange{}, err
	}
	commit, branch, err := repo.Head(ctx)
	return LocalChange{repo, commit, branch}, err
}

// Base returns the commit before the change: the commit where HEAD left the branch that
// it will be merged into. That branch is the target.
func (c LocalChange) Base(ctx context.Context) (commit, target string, err error) {
	if target, err = c.Repository.DefaultBranch(ctx); err != nil {
		return "", "", err
	}
	commit, err = c.Repository.MergeBase(ctx, target)
	return commit, target, err
}

// A LocalHead is head of a local change.
type LocalHead struct {
	Ref, Name string   // a reference, and its name in plans
	Edited    []string // files that differ from HEAD, also new ones that git does not ignore
	Hidden    []string // edited files that git was told not to look at
}

// Head returns head of the change. It is the commit of HEAD if the working tree has exactly its
// files, so that the plan equals the plan of a pipeline. Otherwise it is the working tree. Files
// that prcheck writes do not count.
func (c LocalChange) Head(ctx context.Context, open Opener, own Own) (LocalHead, error) {
	root := c.Repository.Root()
	tree, err := open.World(ctx, "dir:"+root, own, world.Keeper{})
	if err != nil {
		return LocalHead{}, err
	}
	out := LocalHead{Ref: "dir:" + root, Name: "dir:.", Edited: tree.Edited(), Hidden: tree.Hidden()}
	if len(out.Edited) == 0 {
		out.Ref, out.Name = RevisionOf(c.Repository, c.Commit), "git:"+c.Commit
	}
	return out, nil
}

// SettingsIn returns the name of the settings file of the checkout in a folder. It is ""
// if there is none, or if the current folder has one, which is read by default.
func SettingsIn(root string) string {
	if _, err := os.Stat(settings.FileName); err == nil {
		return ""
	}
	name := filepath.Join(root, settings.FileName)
	if _, err := os.Stat(name); err != nil {
		return ""
	}
	return name
}
