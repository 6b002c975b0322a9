package ci

import (
	"context"
	"errors"
	"net/http"

	gitlab "github.com/xanzy/go-gitlab"

	"github.com/app-sre/prcheck/internal/retry"
)

// queueProject returns what a project says about merging.
func (l goGitLab) queueProject(ctx context.Context, project string) (QueueProject, error) {
	found, res, err := l.client.Projects.GetProject(project, nil, gitlab.WithContext(ctx))
	if err != nil {
		return QueueProject{}, l.convertError(res, err)
	}
	return QueueProject{ID: found.ID, MergeMethod: string(found.MergeMethod), SquashOption: string(found.SquashOption),
		HasTrains: found.MergeTrainsEnabled, NeedsPipeline: found.OnlyAllowMergeIfPipelineSucceeds,
		TakesSkipped: found.AllowMergeOnSkippedPipeline}, nil
}

// branchHead returns the commit of a branch.
func (l goGitLab) branchHead(ctx context.Context, project, name string) (string, error) {
	found, res, err := l.client.Branches.GetBranch(project, name, gitlab.WithContext(ctx))
	if err != nil {
		return "", l.convertError(res, err)
	}
	if found.Commit == nil || !commitSHA.MatchString(found.Commit.ID) {
		return "", retry.Permanent(errors.New("the answer names no commit"))
	}
	return found.Commit.ID, nil
}

// queueRequests returns one page of the merge requests that fit a filter.
func (l goGitLab) queueRequests(ctx context.Context, project string, of RequestFilter,
	number int) ([]QueueRequest, bool, error) {
	opts := &gitlab.ListProjectMergeRequestsOptions{ListOptions: pageOptions(number, pageSize), State: &of.State,
		TargetBranch: &of.Target, Scope: gitlab.Ptr("all"), OrderBy: gitlab.Ptr("created_at"), Sort: gitlab.Ptr("asc")}
	if of.Label != "" {
		labels := gitlab.LabelOptions{of.Label}
		opts.Labels = &labels
	}
	if !of.Since.IsZero() {
		opts.UpdatedAfter = &of.Since
	}
	found, res, err := l.client.MergeRequests.ListProjectMergeRequests(project, opts, gitlab.WithContext(ctx))
	if err != nil {
		return nil, false, l.convertError(res, err)
	}
	return convertList(found, toQueueRequest), hasNextPage(res, len(found)), nil
}

// queueRequest returns one merge request.
func (l goGitLab) queueRequest(ctx context.Context, project string, number int) (QueueRequest, error) {
	found, res, err := l.client.MergeRequests.GetMergeRequest(project, number,
		&gitlab.GetMergeRequestsOptions{IncludeRebaseInProgress: gitlab.Ptr(true)}, gitlab.WithContext(ctx))
	if err != nil {
		return QueueRequest{}, l.convertError(res, err)
	}
	return toQueueRequest(found), nil
}

// toQueueRequest converts a merge request of the library.
func toQueueRequest(m *gitlab.MergeRequest) QueueRequest {
	return QueueRequest{Number: m.IID, Title: m.Title, URL: m.WebURL, Head: m.SHA, Target: m.TargetBranch,
		SourceProject: m.SourceProjectID, IsDraft: m.Draft || m.WorkInProgress, Labels: m.Labels, State: m.State,
		Status: m.DetailedMergeStatus, OldStatus: m.MergeStatus, Squash: m.Squash, UpdatedAt: timeOf(m.UpdatedAt),
		MergedAt: timeOf(m.MergedAt), MergeCommit: m.MergeCommitSHA, SquashCommit: m.SquashCommitSHA,
		MergeError: m.MergeError, IsRebasing: m.RebaseInProgress}
}

// labelEvents returns one page of the label events of a merge request.
func (l goGitLab) labelEvents(ctx context.Context, project string, merge, number int) ([]QueueLabelEvent, bool, error) {
	opts := &gitlab.ListLabelEventsOptions{ListOptions: pageOptions(number, pageSize)}
	found, res, err := l.client.ResourceLabelEvents.ListMergeRequestsLabelEvents(project, merge, opts,
		gitlab.WithContext(ctx))
	if err != nil {
		return nil, false, l.convertError(res, err)
	}
	return convertList(found, func(e *gitlab.LabelEvent) QueueLabelEvent {
		return QueueLabelEvent{Label: e.Label.Name, By: e.User.Username, At: timeOf(e.CreatedAt),
			IsRemoval: e.Action != "add"}
	}), hasNextPage(res, len(found)), nil
}

// requestPipelines returns the newest pipelines of a merge request.
func (l goGitLab) requestPipelines(ctx context.Context, project string, number int) ([]QueuePipeline, error) {
	opts := pageOptions(1, pageSize) // the method of the library takes no size
	req, err := l.client.NewRequest(http.MethodGet, "projects/"+gitlab.PathEscape(project)+"/merge_requests/"+
		itoa(number)+"/pipelines", &opts, []gitlab.RequestOptionFunc{gitlab.WithContext(ctx)})
	if err != nil {
		return nil, err
	}
	var found []*gitlab.PipelineInfo
	if res, err := l.client.Do(req, &found); err != nil {
		return nil, l.convertError(res, err)
	}
	return convertList(found, toQueuePipeline), nil
}

// branchPipelines returns the newest pipelines of a branch.
func (l goGitLab) branchPipelines(ctx context.Context, project, branch string) ([]QueuePipeline, error) {
	opts := &gitlab.ListProjectPipelinesOptions{ListOptions: pageOptions(1, pageSize), Ref: &branch,
		OrderBy: gitlab.Ptr("id"), Sort: gitlab.Ptr("desc")}
	found, res, err := l.client.Pipelines.ListProjectPipelines(project, opts, gitlab.WithContext(ctx))
	if err != nil {
		return nil, l.convertError(res, err)
	}
	return convertList(found, toQueuePipeline), nil
}

// toQueuePipeline converts a pipeline of the library.
func toQueuePipeline(p *gitlab.PipelineInfo) QueuePipeline {
	return QueuePipeline{ID: p.ID, Status: p.Status, Source: p.Source, SHA: p.SHA, CreatedAt: timeOf(p.CreatedAt),
		UpdatedAt: timeOf(p.UpdatedAt)}
}

// isAncestor reports whether a commit has nothing that another one lacks.
func (l goGitLab) isAncestor(ctx context.Context, project, old, young string) (bool, error) {
	found, res, err := l.client.Repositories.Compare(project, &gitlab.CompareOptions{From: &young, To: &old},
		gitlab.WithContext(ctx))
	if err != nil {
		return false, l.convertError(res, err)
	}
	if found.CompareTimeout {
		return false, retry.Permanent(errors.New("GitLab did not end the comparison in time"))
	}
	return len(found.Commits) == 0, nil
}

// rebaseRequest asks for the rebase of a merge request without a pipeline. GitLab does it later.
func (l goGitLab) rebaseRequest(ctx context.Context, project string, number int) error {
	res, err := l.client.MergeRequests.RebaseMergeRequest(project, number,
		&gitlab.RebaseMergeRequestOptions{SkipCI: gitlab.Ptr(true)}, gitlab.WithContext(ctx))
	return l.convertError(res, err)
}

// mergeRequest merges a merge request if it still has a head.
func (l goGitLab) mergeRequest(ctx context.Context, project string, number int, head string, squash bool) error {
	opts := &gitlab.AcceptMergeRequestOptions{SHA: &head}
	if squash {
		opts.Squash = &squash
	}
	_, res, err := l.client.MergeRequests.AcceptMergeRequest(project, number, opts, gitlab.WithContext(ctx))
	return l.convertError(res, err)
}
