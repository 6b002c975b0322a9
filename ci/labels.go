package ci

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/report"
)

// labelAPI has the call of GitLab for labels.
type labelAPI interface {
	labels(ctx context.Context, at MergeRequest) ([]string, error)
}

// Labels returns the labels that a merge request has now. CI_MERGE_REQUEST_LABELS has only
// those that it had when the pipeline began.
func (c *Client) Labels(ctx context.Context, at MergeRequest) ([]string, error) {
	var out []string
	err := repeat(ctx, requestTimeout, func(ctx context.Context) (err error) {
		out, err = c.api.labels(ctx, at)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("the labels of merge request !%d: %w", at.IID, addRemedy(err, "read_api"))
	}
	return out, nil
}

// MissingLabels returns those of the needed labels that the merge request of a job does not
// have now. It returns nil for a job that belongs to no merge request.
func MissingLabels(ctx context.Context, at Environment, needed []report.NeededLabel) ([]report.NeededLabel, error) {
	if len(needed) == 0 || at.MergeRequest.IID == 0 {
		return nil, nil
	}
	const what = "reading the labels that the effects need"
	if at.API == "" || at.MergeRequest.Project == 0 || at.Token.Value == "" {
		return nil, errors.New(what + ": CI_API_V4_URL, CI_MERGE_REQUEST_PROJECT_ID and a token with scope read_api in " +
			TokenVariable + " are needed")
	}
	client, err := New(Options{API: at.API, Token: at.Token, CAFile: at.CAFile})
	if err != nil {
		return nil, cli.Invalid(err)
	}
	has, err := client.Labels(ctx, at.MergeRequest)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return slices.DeleteFunc(slices.Clone(needed), func(l report.NeededLabel) bool {
		return slices.Contains(has, l.Label)
	}), nil
}

// WithLabels returns the status of a check whose merge request lacks labels, or whose
// labels could not be read. Otherwise it returns the status unchanged.
func (s CommitStatus) WithLabels(missing []report.NeededLabel, trouble error) CommitStatus {
	switch {
	case s.State != Success:
	case trouble != nil:
		s.State, s.Description = Failed, "the labels of the merge request could not be read; "+s.Description
	case len(missing) > 0:
		s.State, s.Description = Failed, missing[0].String()+"; "+s.Description
	}
	return s
}
