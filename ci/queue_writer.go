package ci

import (
	"context"
	"errors"
	"net/http"
)

// Rebase asks GitLab to rebase a merge request without a pipeline. It returns the status of the answer, 0 if there was
// none: then GitLab may have done it. GitLab rebases later, and notes a failure in the merge request.
func (q *MergeQueue) Rebase(ctx context.Context, number int) int {
	return statusOf(http.StatusAccepted, sendWithin(ctx, requestTimeout, func(ctx context.Context) error {
		return q.api.rebaseRequest(ctx, q.project, number)
	}))
}

// Merge merges a merge request if its head is still the one that is named. It returns the status of the answer, 0 if
// there was none: then GitLab may have done it.
func (q *MergeQueue) Merge(ctx context.Context, number int, head string, squash bool) int {
	return statusOf(http.StatusOK, sendWithin(ctx, requestTimeout, func(ctx context.Context) error {
		return q.api.mergeRequest(ctx, q.project, number, head, squash)
	}))
}

// Publish sets a status of a head that says that it was proven.
func (q *MergeQueue) Publish(ctx context.Context, project int, head string, s CommitStatus) error {
	return q.client.SetStatus(ctx, Commit{Project: project, SHA: head}, s)
}

// statusOf returns the status of an answer.
func statusOf(good int, err error) int {
	var refused *RefusedError
	switch {
	case err == nil:
		return good
	case errors.As(err, &refused):
		return refused.Status
	}
	return 0
}
