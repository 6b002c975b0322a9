package runner

import (
	"context"
	"fmt"

	"github.com/app-sre/prcheck/ci"
	"github.com/app-sre/prcheck/ci/note"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/report"
)

// A labelCheck is the answer to the question whether the merge request of this job has the
// labels that its effects need.
type labelCheck struct {
	needed  []report.NeededLabel
	missing []report.NeededLabel
	asked   bool  // whether this job belongs to a merge request
	trouble error // why the labels are not known
}

// checkLabels asks GitLab for the labels of the merge request, if the effects need any.
func checkLabels(ctx context.Context, at ci.Environment, e report.AllEffects) labelCheck {
	c := labelCheck{needed: e.Labels, asked: at.MergeRequest.IID != 0}
	c.missing, c.trouble = ci.MissingLabels(ctx, at, e.Labels)
	return c
}

// checkLabelsHere is [checkLabels] for the job that the variables describe.
func checkLabelsHere(ctx context.Context, env cli.Env, e report.AllEffects) labelCheck {
	if len(e.Labels) == 0 {
		return labelCheck{}
	}
	at, err := ci.ReadEnvironment(env.Getenv)
	if err != nil {
		return labelCheck{needed: e.Labels, trouble: cli.Invalid(err)}
	}
	return checkLabels(ctx, at, e)
}

// verdict says on stderr which labels are missing. It returns the error for the exit code.
func (c labelCheck) verdict(env cli.Env) error {
	for _, l := range c.missing {
		// the exit code says it, too
		_, _ = fmt.Fprintf(env.Stderr, "runner: the merge request %s; add the label and run this job again\n", l)
	}
	if c.trouble == nil && len(c.missing) > 0 {
		return cli.ErrFailed
	}
	return c.trouble
}

// forNote returns the answer for the note.
func (c labelCheck) forNote() note.Labels {
	return note.Labels{Needed: c.needed, Missing: c.missing, Asked: c.asked, Known: c.trouble == nil}
}
