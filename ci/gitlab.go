package ci

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	gitlab "github.com/xanzy/go-gitlab"
)

// A goGitLab is the api, made with the library go-gitlab. This file, gitlab_forge.go,
// gitlab_queue.go and gitlab_discussion.go alone use the library.
// Each method sends one request and returns errors of this package.
type goGitLab struct {
	client *gitlab.Client
	mask   func(string) string
}

// unlimited replaces the rate limiter of the library.
type unlimited struct{}

// Wait returns immediately.
func (unlimited) Wait(context.Context) error { return nil }

// newGoGitLab returns a goGitLab that sends every request once.
func newGoGitLab(api string, token Token, transport http.RoundTripper, mask func(string) string) (goGitLab, error) {
	open := gitlab.NewClient
	if token.Job {
		open = gitlab.NewJobClient
	}
	client, err := open(token.Value,
		gitlab.WithBaseURL(api),
		gitlab.WithHTTPClient(&http.Client{Transport: transport, CheckRedirect: checkRedirect}),
		gitlab.WithoutRetries(), // the library would also repeat requests that may do harm, and would not respect Retry-After
		gitlab.WithCustomRetryMax(0),
		gitlab.WithCustomLimiter(unlimited{}),
	)
	return goGitLab{client, mask}, err
}

// convertError converts an error of the library into one of this package.
func (l goGitLab) convertError(res *gitlab.Response, err error) error {
	var refused *gitlab.ErrorResponse
	var address *url.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return &RefusedError{Status: refused.Response.StatusCode, Text: cleanText(refusalText(refused), l.mask),
			after: retryAfter(refused.Response.Header)}
	case errors.Is(err, gitlab.ErrNotFound) && res != nil:
		return &RefusedError{Status: http.StatusNotFound, after: retryAfter(res.Header)}
	case errors.As(err, &address):
		return address.Err // without the address, which may contain a signature
	}
	return err
}

// refusalText returns the message with which GitLab refused a request.
func refusalText(refused *gitlab.ErrorResponse) string {
	var plain struct{ Message, Error string }
	if err := json.Unmarshal(refused.Body, &plain); err == nil && plain.Message+plain.Error != "" {
		return cmp.Or(plain.Message, plain.Error)
	}
	return strings.TrimPrefix(refused.Message, "failed to parse unknown error format: ")
}

// hasNextPage reports whether there is a page after the page with the given number of
// elements. It does not use the total number, which GitLab does not send for long lists.
func hasNextPage(res *gitlab.Response, found int) bool {
	if next := res.Header.Values("X-Next-Page"); len(next) > 0 {
		return next[0] != ""
	}
	return found > 0
}

// pageOptions returns the options that ask for one page.
func pageOptions(number, size int) gitlab.ListOptions {
	return gitlab.ListOptions{Page: number, PerPage: size}
}

// convertList converts the items of a list. It leaves out items that are null.
func convertList[From, To any](list []*From, convert func(*From) To) []To {
	var out []To
	for _, item := range list {
		if item != nil {
			out = append(out, convert(item))
		}
	}
	return out
}

// userID returns the id of the token's user.
func (l goGitLab) userID(ctx context.Context) (int, error) {
	user, res, err := l.client.Users.CurrentUser(gitlab.WithContext(ctx))
	if err != nil {
		return 0, l.convertError(res, err)
	}
	return user.ID, nil
}

// tokenRights returns what GitLab tells of the token, and its time.
func (l goGitLab) tokenRights(ctx context.Context) (Rights, error) {
	token, res, err := l.client.PersonalAccessTokens.GetSinglePersonalAccessToken(gitlab.WithContext(ctx))
	var out Rights
	if res != nil {
		if at, bad := http.ParseTime(res.Header.Get("Date")); bad == nil {
			out.Clock = at
		}
	}
	if err != nil {
		return out, l.convertError(res, err)
	}
	out.Scopes = token.Scopes
	if token.ExpiresAt != nil {
		out.Expires = time.Time(*token.ExpiresAt)
	}
	return out, nil
}

// access returns the role of the token's user in a project.
func (l goGitLab) access(ctx context.Context, project int) (int, error) {
	found, res, err := l.client.Projects.GetProject(project, nil, gitlab.WithContext(ctx))
	if err != nil {
		return 0, l.convertError(res, err)
	}
	role := 0
	if p := found.Permissions; p != nil && p.ProjectAccess != nil {
		role = int(p.ProjectAccess.AccessLevel)
	}
	if p := found.Permissions; p != nil && p.GroupAccess != nil {
		role = max(role, int(p.GroupAccess.AccessLevel))
	}
	return role, nil
}

// notes returns one page of the notes of a merge request.
func (l goGitLab) notes(ctx context.Context, at MergeRequest, number, size int) ([]storedNote, bool, error) {
	opts := &gitlab.ListMergeRequestNotesOptions{ListOptions: pageOptions(number, size), OrderBy: gitlab.Ptr("created_at"),
		Sort: gitlab.Ptr("asc")}
	found, res, err := l.client.Notes.ListMergeRequestNotes(at.Project, at.IID, opts, gitlab.WithContext(ctx))
	if err != nil {
		return nil, false, l.convertError(res, err)
	}
	return convertList(found, toStoredNote), hasNextPage(res, len(found)), nil
}

// toStoredNote converts a note of the library.
func toStoredNote(n *gitlab.Note) storedNote {
	return storedNote{id: n.ID, author: n.Author.ID, system: n.System, body: n.Body}
}

// note returns one note.
func (l goGitLab) note(ctx context.Context, at MergeRequest, id int) (storedNote, error) {
	n, res, err := l.client.Notes.GetMergeRequestNote(at.Project, at.IID, id, gitlab.WithContext(ctx))
	if err != nil {
		return storedNote{}, l.convertError(res, err)
	}
	return toStoredNote(n), nil
}

// createNote creates a note and returns it.
func (l goGitLab) createNote(ctx context.Context, at MergeRequest, body string) (storedNote, error) {
	n, res, err := l.client.Notes.CreateMergeRequestNote(at.Project, at.IID,
		&gitlab.CreateMergeRequestNoteOptions{Body: &body}, gitlab.WithContext(ctx))
	if err != nil {
		return storedNote{}, l.convertError(res, err)
	}
	return toStoredNote(n), nil
}

// editNote changes the body of a note and returns the note.
func (l goGitLab) editNote(ctx context.Context, at MergeRequest, id int, body string) (storedNote, error) {
	n, res, err := l.client.Notes.UpdateMergeRequestNote(at.Project, at.IID, id,
		&gitlab.UpdateMergeRequestNoteOptions{Body: &body}, gitlab.WithContext(ctx))
	if err != nil {
		return storedNote{}, l.convertError(res, err)
	}
	return toStoredNote(n), nil
}

// removeNote removes a note.
func (l goGitLab) removeNote(ctx context.Context, at MergeRequest, id int) error {
	return l.convertError(l.client.Notes.DeleteMergeRequestNote(at.Project, at.IID, id, gitlab.WithContext(ctx)))
}

// labels returns the labels of a merge request.
func (l goGitLab) labels(ctx context.Context, at MergeRequest) ([]string, error) {
	mr, res, err := l.client.MergeRequests.GetMergeRequest(at.Project, at.IID, nil, gitlab.WithContext(ctx))
	if err != nil {
		return nil, l.convertError(res, err)
	}
	return mr.Labels, nil
}

// statuses returns one page of the statuses of a commit.
func (l goGitLab) statuses(ctx context.Context, at Commit, number int) ([]postedStatus, bool, error) {
	opts := &gitlab.GetCommitStatusesOptions{ListOptions: pageOptions(number, pageSize)}
	found, res, err := l.client.Commits.GetCommitStatuses(at.Project, at.SHA, opts, gitlab.WithContext(ctx))
	if err != nil {
		return nil, false, l.convertError(res, err)
	}
	return convertList(found, func(s *gitlab.CommitStatus) postedStatus {
		return postedStatus{id: s.ID, author: s.Author.ID, pipeline: s.PipelineId, name: s.Name,
			description: s.Description, state: State(s.Status)}
	}), hasNextPage(res, len(found)), nil
}

// setStatus sets a status of a commit.
func (l goGitLab) setStatus(ctx context.Context, at Commit, s CommitStatus) error {
	opts := &gitlab.SetCommitStatusOptions{State: gitlab.BuildStateValue(s.State), Name: &s.Name,
		Description: &s.Description}
	if at.Pipeline != 0 {
		opts.PipelineID = &at.Pipeline
	}
	if s.TargetURL != "" {
		opts.TargetURL = &s.TargetURL
	}
	_, res, err := l.client.Commits.SetCommitStatus(at.Project, at.SHA, opts, gitlab.WithContext(ctx))
	return l.convertError(res, err)
}

// triggerJobs returns one page of the jobs of a pipeline that start child pipelines. GitLab
// calls them bridges.
func (l goGitLab) triggerJobs(ctx context.Context, project, pipeline, number int) ([]triggerJob, bool, error) {
	opts := &gitlab.ListJobsOptions{ListOptions: pageOptions(number, pageSize)}
	found, res, err := l.client.Jobs.ListPipelineBridges(project, pipeline, opts, gitlab.WithContext(ctx))
	if err != nil {
		return nil, false, l.convertError(res, err)
	}
	return convertList(found, toTriggerJob), hasNextPage(res, len(found)), nil
}

// toTriggerJob converts a bridge of the library.
func toTriggerJob(b *gitlab.Bridge) triggerJob {
	job := triggerJob{id: b.ID, name: b.Name, status: b.Status}
	if d := b.DownstreamPipeline; d != nil {
		job.project, job.pipeline = d.ProjectID, d.ID
	}
	return job
}

// jobs returns one page of the jobs of a pipeline.
func (l goGitLab) jobs(ctx context.Context, project, pipeline, number int) ([]pipelineJob, bool, error) {
	opts := &gitlab.ListJobsOptions{ListOptions: pageOptions(number, pageSize)}
	found, res, err := l.client.Jobs.ListPipelineJobs(project, pipeline, opts, gitlab.WithContext(ctx))
	if err != nil {
		return nil, false, l.convertError(res, err)
	}
	return convertList(found, func(j *gitlab.Job) pipelineJob {
		return pipelineJob{project: project, id: j.ID, name: j.Name, status: j.Status,
			artifacts: j.ArtifactsFile.Filename != ""}
	}), hasNextPage(res, len(found)), nil
}

// artifacts writes the archive with the artifacts of a job to w.
func (l goGitLab) artifacts(ctx context.Context, from pipelineJob, w io.Writer) error {
	ctx = context.WithValue(ctx, artifactsKey{}, true)
	address := "projects/" + gitlab.PathEscape(itoa(from.project)) + "/jobs/" + itoa(from.id) + "/artifacts"
	req, err := l.client.NewRequest(http.MethodGet, address, nil, []gitlab.RequestOptionFunc{gitlab.WithContext(ctx)})
	if err != nil {
		return err
	}
	return l.convertError(l.client.Do(req, w))
}
