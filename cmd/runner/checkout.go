package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/app-sre/prcheck/ci/revisions"
	"github.com/app-sre/prcheck/cmd/internal/change"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/source"
)

// fromCheckout fills in base and head if the flags do not name them: head is the working
// tree, and base is the commit where HEAD left the branch that it will be merged into. The
// plan names both by their commits, so that it equals the plan of a pipeline for the same
// two commits.
func fromCheckout(ctx context.Context, env cli.Env, in change.Inputs, dir string) (change.Inputs, error) {
	switch {
	case source.IsLive(in.Base) || source.IsLive(in.Head):
		return in, source.ErrLive
	case in.Base != "" && in.Head != "":
		return in.Complete(ctx, env)
	}
	if dir == "" {
		dir = "."
	}
	if in.Base == "" && in.Head == "" && revisions.InJob(env.Getenv) {
		return in.CompleteInJob(ctx, env, dir)
	}
	repo, err := git.FindRepository(ctx, dir)
	if err != nil {
		return in, cli.Invalid(err)
	}
	commit, branch, err := repo.Head(ctx)
	if err != nil {
		return in, cli.Invalid(err)
	}
	if in.Config == "" {
		in.Config = ownSettings(repo.Root())
	}
	if in.Base == "" {
		base, err := mergeBase(ctx, env, repo, commit, branch)
		if err != nil {
			return in, cli.Invalid(err)
		}
		in.Base, in.BaseName = source.RevisionOf(repo, base), "git:"+base
		if in.Config == ownSettings(repo.Root()) && repo.Differs(ctx, base, integration.SettingsName) {
			_, _ = fmt.Fprintf(env.Stderr, "runner: %s differs from the one of %s, which a pipeline uses\n", integration.SettingsName, short(base)) // only a note
		}
	}
	if in.Head != "" {
		return in, nil
	}
	open, err := in.Opener(ctx, env)
	if err != nil {
		return in, err
	}
	clean, err := repo.IsClean(ctx, pathsInside(open.Settings.Checkout())...)
	if err != nil {
		return in, err
	}
	in.Head, in.HeadName = "dir:"+repo.Root(), "dir:."
	if clean {
		in.Head, in.HeadName = source.RevisionOf(repo, commit), "git:"+commit
	}
	return in, nil
}

// mergeBase returns the commit for base. A message says what is compared.
func mergeBase(ctx context.Context, env cli.Env, repo *git.Repository, commit, branch string) (string, error) {
	target, err := repo.DefaultBranch(ctx)
	if err != nil {
		return "", err
	}
	base, err := repo.MergeBase(ctx, target)
	if err != nil {
		return "", err
	}
	from := "branch " + branch
	if branch == "" {
		from = "detached HEAD " + short(commit) + " (git switch BRANCH goes to a branch)"
	}
	_, _ = fmt.Fprintf(env.Stderr, "runner: comparing the working tree on %s with where it left %s, %s\n", from, target, short(base)) // only a note
	return base, nil
}

// pathsInside returns the paths of the parts of a bundle that lie in the checkout.
func pathsInside(at integration.Checkout) []string {
	var out []string
	for _, p := range []string{at.Data, at.Resources, at.Schemas, at.GraphQL} {
		if !integration.IsOutside(p) {
			out = append(out, p)
		}
	}
	return out
}

// short abbreviates the id of a commit.
func short(commit string) string { return commit[:min(len(commit), 12)] }

// ownSettings returns the settings file of the checkout, "" if there is none or if the
// current folder has one.
func ownSettings(root string) string {
	if _, err := os.Stat(integration.SettingsName); err == nil {
		return ""
	}
	name := filepath.Join(root, integration.SettingsName)
	if _, err := os.Stat(name); err != nil {
		return ""
	}
	return name
}

// baseTrouble adds a remedy to an error if base cannot be bundled: the author of the change
// cannot repair base.
func baseTrouble(ctx context.Context, env cli.Env, in change.Inputs, err error) error {
	if in.BaseName == "" || errors.Is(err, cli.ErrFailed) || ctx.Err() != nil {
		return err
	}
	open, trouble := in.Opener(ctx, env)
	if trouble != nil {
		return err
	}
	if _, trouble := open.Bundle(ctx, in.Base, nil); trouble == nil {
		return err
	}
	return errors.Join(err, cli.Invalid(fmt.Errorf("the mistake is in the base, %s, and not in the change: compare with another revision, --base git:REV, or with a bundle file",
		short(strings.TrimPrefix(in.BaseName, "git:")))))
}
