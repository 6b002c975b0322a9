package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/ci/revisions"
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
	local, err := source.FindLocalChange(ctx, dir)
	if err != nil {
		return in, cli.Invalid(err)
	}
	own := source.SettingsIn(local.Repository.Root())
	if in.Config == "" {
		in.Config = own
	}
	if in.Base == "" {
		base, target, err := local.Base(ctx)
		if err != nil {
			return in, cli.Invalid(err)
		}
		sayComparison(env, local, target, base)
		in.Base, in.BaseName = source.RevisionOf(local.Repository, base), "git:"+base
		if in.Config == own && local.Repository.Differs(ctx, base, integration.SettingsName) {
			_, _ = fmt.Fprintf(env.Stderr, "runner: %s differs from the one of %s, which a pipeline uses\n", integration.SettingsName, git.Short(base)) // only a note
		}
	}
	if in.Head != "" {
		return in, nil
	}
	open, err := in.Opener(ctx, env)
	if err != nil {
		return in, err
	}
	in.Head, in.HeadName, err = local.Head(ctx, open)
	return in, err
}

// sayComparison writes a line about what is compared.
func sayComparison(env cli.Env, local source.LocalChange, target, base string) {
	from := "branch " + local.Branch
	if local.Branch == "" {
		from = "detached HEAD " + git.Short(local.Commit) + " (git switch BRANCH goes to a branch)"
	}
	_, _ = fmt.Fprintf(env.Stderr, "runner: comparing the working tree on %s with where it left %s, %s\n", from, target, git.Short(base)) // only a note
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
		git.Short(strings.TrimPrefix(in.BaseName, "git:")))))
}
