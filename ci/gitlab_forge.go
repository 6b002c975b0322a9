package ci

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"

	gitlab "github.com/xanzy/go-gitlab"

	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/internal/retry"
)

// branches returns one page of the branches whose names begin with a prefix.
func (l goGitLab) branches(ctx context.Context, project, prefix string, number int) ([]branch, bool, error) {
	opts := &gitlab.ListBranchesOptions{ListOptions: pageOptions(number, pageSize), Search: gitlab.Ptr("^" + prefix)}
	found, res, err := l.client.Branches.ListBranches(project, opts, gitlab.WithContext(ctx))
	if err != nil {
		return nil, false, l.convertError(res, err)
	}
	return convertList(found, func(b *gitlab.Branch) branch {
		out := branch{name: b.Name}
		if b.Commit != nil {
			out.head = b.Commit.ID
		}
		return out
	}), hasNextPage(res, len(found)), nil
}

// file returns a file at a ref.
func (l goGitLab) file(ctx context.Context, project, ref, path string) (services.ForgeFile, error) {
	found, res, err := l.client.RepositoryFiles.GetFile(project, path, &gitlab.GetFileOptions{Ref: &ref},
		gitlab.WithContext(ctx))
	if err != nil {
		return services.ForgeFile{}, l.convertError(res, err)
	}
	raw, err := base64.StdEncoding.DecodeString(found.Content)
	switch {
	case found.Encoding != "base64" || err != nil || found.LastCommitID == "":
		return services.ForgeFile{}, retry.Permanent(fmt.Errorf("the answer is no file: encoding %.20q, last commit %.20q",
			found.Encoding, found.LastCommitID))
	case len(raw) > maxForgeFile:
		return services.ForgeFile{}, errTooLarge
	}
	return services.ForgeFile{Content: raw, Version: found.LastCommitID}, nil
}

// compare returns what a branch has that base has not.
func (l goGitLab) compare(ctx context.Context, project, base, branch string) (services.Ahead, error) {
	opts := &gitlab.CompareOptions{From: &base, To: &branch}
	found, res, err := l.client.Repositories.Compare(project, opts, gitlab.WithContext(ctx))
	if err != nil {
		return services.Ahead{}, l.convertError(res, err)
	}
	if found.CompareTimeout {
		return services.Ahead{}, retry.Permanent(fmt.Errorf("GitLab did not end the comparison in time"))
	}
	var out services.Ahead
	out.Commits = convertList(found.Commits, func(c *gitlab.Commit) services.AheadCommit {
		return services.AheadCommit{ID: c.ID, Parents: c.ParentIDs, Message: c.Message}
	})
	slices.Reverse(out.Commits) // GitLab has the oldest first
	for _, d := range found.Diffs {
		if d != nil {
			out.Paths = append(out.Paths, d.OldPath, d.NewPath)
		}
	}
	slices.Sort(out.Paths)
	out.Paths = slices.Compact(out.Paths)
	return out, nil
}

// ownRequests returns one page of the open merge requests of a user, without their checks.
func (l goGitLab) ownRequests(ctx context.Context, project string,
	author, number int) ([]services.MergeRequest, bool, error) {
	opts := &gitlab.ListProjectMergeRequestsOptions{ListOptions: pageOptions(number, pageSize),
		State: gitlab.Ptr("opened"), AuthorID: &author,
		Scope: gitlab.Ptr("all"), OrderBy: gitlab.Ptr("created_at"), Sort: gitlab.Ptr("asc")}
	found, res, err := l.client.MergeRequests.ListProjectMergeRequests(project, opts, gitlab.WithContext(ctx))
	if err != nil {
		return nil, false, l.convertError(res, err)
	}
	return convertList(found, func(m *gitlab.MergeRequest) services.MergeRequest { return toMergeRequest(m, author) }),
		hasNextPage(res, len(found)), nil
}

// requestsOf returns the newest merge requests that were made from a branch of the project.
func (l goGitLab) requestsOf(ctx context.Context, project, branch string,
	user, size int) ([]services.MergeRequest, error) {
	opts := &gitlab.ListProjectMergeRequestsOptions{ListOptions: pageOptions(1, size), State: gitlab.Ptr("all"),
		SourceBranch: &branch,
		Scope:        gitlab.Ptr("all"), OrderBy: gitlab.Ptr("created_at"), Sort: gitlab.Ptr("desc")}
	found, res, err := l.client.MergeRequests.ListProjectMergeRequests(project, opts, gitlab.WithContext(ctx))
	if err != nil {
		return nil, l.convertError(res, err)
	}
	own := slices.DeleteFunc(found, func(m *gitlab.MergeRequest) bool {
		return m == nil || m.SourceProjectID != m.TargetProjectID
	})
	return convertList(own, func(m *gitlab.MergeRequest) services.MergeRequest { return toMergeRequest(m, user) }), nil
}

// request returns one merge request.
func (l goGitLab) request(ctx context.Context, project string, number, user int) (services.MergeRequest, error) {
	found, res, err := l.client.MergeRequests.GetMergeRequest(project, number, nil, gitlab.WithContext(ctx))
	if err != nil {
		return services.MergeRequest{}, l.convertError(res, err)
	}
	return toMergeRequest(found, user), nil
}

// toMergeRequest converts a merge request of the library.
func toMergeRequest(m *gitlab.MergeRequest, user int) services.MergeRequest {
	states := map[string]services.MergeState{"opened": services.MergeOpen, "locked": services.MergeOpen,
		"merged": services.MergeDone, "closed": services.MergeClosed}
	out := services.MergeRequest{
		Number: m.IID, URL: m.WebURL, Branch: m.SourceBranch, Head: m.SHA, State: states[m.State], Title: m.Title,
		Description: m.Description,
		Labels:      m.Labels, Conflicts: m.HasConflicts, Checks: toChecks(m), Armed: m.MergeWhenPipelineSucceeds,
	}
	if m.SourceProjectID != m.TargetProjectID {
		out.Branch = "" // it is of a fork, whose branches may have any name
	}
	if out.State == services.MergeClosed && m.ClosedBy != nil {
		out.ClosedByUs, out.ClosedBy = m.ClosedBy.ID == user, m.ClosedBy.Username
	}
	if out.State == services.MergeClosed && m.ClosedAt != nil {
		out.Closed = m.ClosedAt.UTC()
	}
	if m.CreatedAt != nil {
		out.Opened = m.CreatedAt.UTC()
	}
	if m.MergedAt != nil {
		out.Merged = m.MergedAt.UTC()
	}
	return out
}

// toChecks returns how the newest pipeline of a merge request ended. GitLab may answer with the
// pipeline of an earlier commit, which says nothing, except for pipelines of merged results: their
// commit is never that of the branch.
func toChecks(m *gitlab.MergeRequest) services.Checks {
	p := m.HeadPipeline
	if p == nil || p.SHA != m.SHA && !strings.HasSuffix(p.Ref, "/merge") && !strings.HasSuffix(p.Ref, "/train") {
		return services.ChecksNone
	}
	switch p.Status {
	case "success":
		return services.ChecksPassed
	case "failed":
		return services.ChecksFailed
	case "canceled", "skipped":
		return services.ChecksNone
	}
	return services.ChecksRunning
}

// commit makes one commit on the head of the start branch, and lets the branch point to it. It
// fails if the branch is there, unless it is forced.
func (l goGitLab) commit(ctx context.Context, project string, c services.ForgeCommit, force bool) (string, error) {
	opts := &gitlab.CreateCommitOptions{Branch: &c.Branch, StartBranch: &c.Start, CommitMessage: &c.Message, Force: &force,
		Stats: gitlab.Ptr(false)}
	for _, change := range c.Changes {
		opts.Actions = append(opts.Actions, &gitlab.CommitActionOptions{
			Action: gitlab.Ptr(gitlab.FileUpdate), FilePath: gitlab.Ptr(change.Path), Encoding: gitlab.Ptr("base64"),
			Content: gitlab.Ptr(base64.StdEncoding.EncodeToString(change.Content)), LastCommitID: gitlab.Ptr(change.Version),
		})
	}
	made, res, err := l.client.Commits.CreateCommit(project, opts, gitlab.WithContext(ctx))
	if err != nil {
		return "", l.convertError(res, err)
	}
	return made.ID, nil
}

// openRequest opens a merge request whose branch is removed when it is merged.
func (l goGitLab) openRequest(ctx context.Context, project string, text services.MergeText) (int, error) {
	opts := &gitlab.CreateMergeRequestOptions{Title: &text.Title, Description: &text.Description,
		SourceBranch: &text.Branch, TargetBranch: &text.Target, RemoveSourceBranch: gitlab.Ptr(true)}
	if len(text.Labels) > 0 {
		labels := gitlab.LabelOptions(text.Labels)
		opts.Labels = &labels
	}
	made, res, err := l.client.MergeRequests.CreateMergeRequest(project, opts, gitlab.WithContext(ctx))
	if err != nil {
		return 0, l.convertError(res, err)
	}
	return made.IID, nil
}

// changeRequest changes the texts of a merge request and adds its labels.
func (l goGitLab) changeRequest(ctx context.Context, project string, number int, text services.MergeText) error {
	opts := &gitlab.UpdateMergeRequestOptions{Title: &text.Title, Description: &text.Description}
	if len(text.Labels) > 0 {
		labels := gitlab.LabelOptions(text.Labels)
		opts.AddLabels = &labels
	}
	_, res, err := l.client.MergeRequests.UpdateMergeRequest(project, number, opts, gitlab.WithContext(ctx))
	return l.convertError(res, err)
}

// closeRequest closes a merge request.
func (l goGitLab) closeRequest(ctx context.Context, project string, number int) error {
	_, res, err := l.client.MergeRequests.UpdateMergeRequest(project, number,
		&gitlab.UpdateMergeRequestOptions{StateEvent: gitlab.Ptr("close")}, gitlab.WithContext(ctx))
	return l.convertError(res, err)
}

// addNote adds a note to a merge request. A note that is a quick action alone makes none, and
// GitLab answers 202.
func (l goGitLab) addNote(ctx context.Context, project string, number int, body string) error {
	_, res, err := l.client.Notes.CreateMergeRequestNote(project, number,
		&gitlab.CreateMergeRequestNoteOptions{Body: &body}, gitlab.WithContext(ctx))
	if res != nil && res.StatusCode == http.StatusAccepted {
		return nil
	}
	return l.convertError(res, err)
}

// arm lets GitLab merge a merge request as soon as its checks passed.
func (l goGitLab) arm(ctx context.Context, project string, number int, head string) error {
	opts := &gitlab.AcceptMergeRequestOptions{MergeWhenPipelineSucceeds: gitlab.Ptr(true),
		ShouldRemoveSourceBranch: gitlab.Ptr(true), SHA: &head}
	_, res, err := l.client.MergeRequests.AcceptMergeRequest(project, number, opts, gitlab.WithContext(ctx))
	return l.convertError(res, err)
}
