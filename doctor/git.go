package doctor

import (
	"context"

	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/source"
)

// checkGit looks for git and the checkout.
func (e *examination) checkGit(ctx context.Context) {
	repo, err := git.FindRepository(ctx, e.Dir)
	if err != nil {
		e.fail("git", err.Error(), "")
		return
	}
	e.repo = repo
	if _, _, err := repo.Head(ctx); err != nil {
		e.fail("git", err.Error(), "")
		return
	}
	if repo.IsShallow(ctx) {
		e.warn("git", "the clone is shallow, so commits that a check compares with may be missing",
			"run git fetch --unshallow; in GitLab set GIT_DEPTH: 0, or let planner plan fetch the commit of base")
		return
	}
	e.ok("git", "a checkout with its whole history")
}

// checkBase finds the commit that a change is compared with, and the settings in it.
func (e *examination) checkBase(ctx context.Context) {
	if e.repo == nil {
		return
	}
	if e.Base == "" {
		local, err := source.FindLocalChange(ctx, e.repo.Root())
		if err != nil {
			return // checkGit told it
		}
		commit, target, err := local.Base(ctx)
		if err != nil {
			e.fail("base", err.Error(), "")
			return
		}
		e.Base = source.RevisionOf(e.repo, commit)
		e.ok("base", "changes are compared with where they left "+target+", "+git.Short(commit))
	}
	found, err := source.OpenSettings(ctx, settings.FromBase+settings.FileName, e.Base)
	switch {
	case err != nil:
		e.fail("base", "the settings of base cannot be used: "+err.Error(), "mend them in a merge request of their own")
	case found.Revision != nil && found.Revision.Missing:
		e.warn("base", "base has no "+settings.FileName+", so a job starts nothing yet",
			"merge the settings first: a merge request is always checked by the settings of base")
	default:
		if e.InJob {
			e.ok("base", "the settings of base, "+git.Short(found.Revision.Commit)+", can be read")
		}
		e.ofBase = &found
	}
}
