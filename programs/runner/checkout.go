package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/ci/revisions"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/settings"
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
	usual := source.SettingsIn(local.Repository.Root())
	if in.Config == "" {
		in.Config = usual
	}
	compared := in.Base
	if in.Base == "" {
		base, target, err := local.Base(ctx)
		if err != nil {
			return in, cli.Invalid(err)
		}
		in.Base, in.BaseName = source.RevisionOf(local.Repository, base), "git:"+base
		compared = fmt.Sprintf("%s at %s", target, git.Short(base))
		if in.Config == usual && local.Repository.Differs(ctx, base, settings.FileName) {
			// only a note
			_, _ = fmt.Fprintf(env.Stderr, "runner: %s differs from the one of %s, which a pipeline uses\n", settings.FileName,
				git.Short(base))
		}
	}
	if in.Head != "" {
		return in, nil
	}
	open, err := in.Opener(ctx, env)
	if err != nil {
		return in, err
	}
	own := source.Own{Files: in.Writes, State: in.State, Cache: source.CacheFolder(env.Getenv)}
	head, err := local.Head(ctx, open, own)
	if err != nil {
		return in, err
	}
	in.Head, in.HeadName, in.IsClean = head.Ref, head.Name, len(head.Edited) == 0
	sayComparison(env, compared, local, head)
	return in, nil
}

// maxHidden bounds how many files are named whose edits git hides.
const maxHidden = 3

// sayComparison writes lines about what is compared: base with the working tree.
func sayComparison(env cli.Env, base string, local source.LocalChange, head source.LocalHead) {
	from := "branch " + local.Branch
	if local.Branch == "" {
		from = "detached HEAD " + git.Short(local.Commit) + " (git switch BRANCH goes to a branch)"
	}
	edited := "nothing edited"
	if n := len(head.Edited); n == 1 {
		edited = "1 file edited"
	} else if n > 1 {
		edited = fmt.Sprintf("%d files edited", n)
	}
	// only notes
	_, _ = fmt.Fprintf(env.Stderr, "runner: comparing %s with your working tree on %s, %s\n", base, from, edited)
	for i, name := range head.Hidden {
		if i == maxHidden {
			_, _ = fmt.Fprintf(env.Stderr, "runner: and %d more hidden edits\n", len(head.Hidden)-maxHidden)
			return
		}
		_, _ = fmt.Fprintf(env.Stderr, "runner: git hides the edit of %q (assume-unchanged or skip-worktree); here it "+
			"counts\n", name)
	}
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
	return errors.Join(err,
		cli.Invalid(fmt.Errorf("the mistake is in the base, %s, and not in the change: compare with another revision, "+
			"--base git:REV, or with a bundle file",
			git.Short(strings.TrimPrefix(in.BaseName, "git:")))))
}
