package source

import (
	"context"
	"os"
	"path/filepath"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/git"
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

// Head returns a reference to the change, and its name in plans. It is the commit of
// HEAD if the parts of a bundle have no other contents in the working tree, so that the
// plan equals the plan of a pipeline. Otherwise it is the working tree. The opener says
// where these parts are, and which cache remembers names of files.
func (c LocalChange) Head(ctx context.Context, open Opener) (ref, name string, err error) {
	var parts []string // that lie in the checkout
	at := open.Settings.Checkout()
	for _, p := range []string{at.Data, at.Resources, at.Schemas, at.GraphQL} {
		if !integration.IsOutside(p) {
			parts = append(parts, p)
		}
	}
	isClean, err := c.Repository.IsClean(ctx, namesBelow(ctx, c.Repository.Root(), open.Cache), parts...)
	if isClean {
		return RevisionOf(c.Repository, c.Commit), "git:" + c.Commit, err
	}
	return "dir:" + c.Repository.Root(), "dir:.", err
}

// SettingsIn returns the name of the settings file of the checkout in a folder. It is ""
// if there is none, or if the current folder has one, which is read by default.
func SettingsIn(root string) string {
	if _, err := os.Stat(integration.SettingsName); err == nil {
		return ""
	}
	name := filepath.Join(root, integration.SettingsName)
	if _, err := os.Stat(name); err != nil {
		return ""
	}
	return name
}
