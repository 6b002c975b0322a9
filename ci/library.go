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

	gitlab "github.com/xanzy/go-gitlab"
)

// library is the api by go-gitlab, and the only place that knows it: each method
// is one request, and its errors are ours.
type library struct {
	client *gitlab.Client
	mask   func(string) string
}

// unlimited is in place of the library's own limit of requests.
type unlimited struct{}

func (unlimited) Wait(context.Context) error { return nil }

// newLibrary returns a client that sends everything once.
func newLibrary(api string, token Token, transport http.RoundTripper, mask func(string) string) (library, error) {
	open := gitlab.NewClient
	if token.Job {
		open = gitlab.NewJobClient
	}
	client, err := open(token.Value,
		gitlab.WithBaseURL(api),
		gitlab.WithHTTPClient(&http.Client{Transport: transport, CheckRedirect: redirect}),
		gitlab.WithoutRetries(), // it would repeat what must not be, and not wait as it is told
		gitlab.WithCustomRetryMax(0),
		gitlab.WithCustomLimiter(unlimited{}),
	)
	return library{client, mask}, err
}

// wrong makes an error of ours of what a call returned.
func (l library) wrong(res *gitlab.Response, err error) error {
	var refused *gitlab.ErrorResponse
	var address *url.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return &RefusedError{Status: refused.Response.StatusCode, Text: shown(said(refused), l.mask), after: retryAfter(refused.Response.Header)}
	case errors.Is(err, gitlab.ErrNotFound) && res != nil:
		return &RefusedError{Status: http.StatusNotFound, after: retryAfter(res.Header)}
	case errors.As(err, &address):
		return address.Err // without the address, which may be signed
	}
	return err
}

// said is what GitLab said when it refused something.
func said(refused *gitlab.ErrorResponse) string {
	var plain struct{ Message, Error string }
	if err := json.Unmarshal(refused.Body, &plain); err == nil && plain.Message+plain.Error != "" {
		return cmp.Or(plain.Message, plain.Error)
	}
	return strings.TrimPrefix(refused.Message, "failed to parse unknown error format: ")
}

// more tells whether there is a page after the one that an answer held, which held
// found elements. Totals are not looked at: GitLab leaves them out of long lists.
func more(res *gitlab.Response, found int) bool {
	if next := res.Header.Values("X-Next-Page"); len(next) > 0 {
		return next[0] != ""
	}
	return found > 0
}

func page(number, size int) gitlab.ListOptions {
	return gitlab.ListOptions{Page: number, PerPage: size}
}

func (l library) me(ctx context.Context) (int, error) {
	user, res, err := l.client.Users.CurrentUser(gitlab.WithContext(ctx))
	if err != nil {
		return 0, l.wrong(res, err)
	}
	return user.ID, nil
}

func (l library) notes(ctx context.Context, at MergeRequest, number, size int) ([]note, bool, error) {
	opts := &gitlab.ListMergeRequestNotesOptions{ListOptions: page(number, size), OrderBy: gitlab.Ptr("created_at"), Sort: gitlab.Ptr("asc")}
	found, res, err := l.client.Notes.ListMergeRequestNotes(at.Project, at.IID, opts, gitlab.WithContext(ctx))
	if err != nil {
		return nil, false, l.wrong(res, err)
	}
	var out []note
	for _, n := range found {
		out = append(out, ours(n))
	}
	return out, more(res, len(found)), nil
}

func ours(n *gitlab.Note) note {
	return note{id: n.ID, author: n.Author.ID, system: n.System, body: n.Body}
}

func (l library) note(ctx context.Context, at MergeRequest, id int) (note, error) {
	n, res, err := l.client.Notes.GetMergeRequestNote(at.Project, at.IID, id, gitlab.WithContext(ctx))
	if err != nil {
		return note{}, l.wrong(res, err)
	}
	return ours(n), nil
}

func (l library) createNote(ctx context.Context, at MergeRequest, body string) (note, error) {
	n, res, err := l.client.Notes.CreateMergeRequestNote(at.Project, at.IID, &gitlab.CreateMergeRequestNoteOptions{Body: &body}, gitlab.WithContext(ctx))
	if err != nil {
		return note{}, l.wrong(res, err)
	}
	return ours(n), nil
}

func (l library) editNote(ctx context.Context, at MergeRequest, id int, body string) (note, error) {
	n, res, err := l.client.Notes.UpdateMergeRequestNote(at.Project, at.IID, id, &gitlab.UpdateMergeRequestNoteOptions{Body: &body}, gitlab.WithContext(ctx))
	if err != nil {
		return note{}, l.wrong(res, err)
	}
	return ours(n), nil
}

func (l library) removeNote(ctx context.Context, at MergeRequest, id int) error {
	return l.wrong(l.client.Notes.DeleteMergeRequestNote(at.Project, at.IID, id, gitlab.WithContext(ctx)))
}

func (l library) statuses(ctx context.Context, at Commit, number int) ([]posted, bool, error) {
	opts := &gitlab.GetCommitStatusesOptions{ListOptions: page(number, pageSize)}
	found, res, err := l.client.Commits.GetCommitStatuses(at.Project, at.SHA, opts, gitlab.WithContext(ctx))
	if err != nil {
		return nil, false, l.wrong(res, err)
	}
	var out []posted
	for _, s := range found {
		out = append(out, posted{id: s.ID, author: s.Author.ID, pipeline: s.PipelineId, name: s.Name, state: State(s.Status)})
	}
	return out, more(res, len(found)), nil
}

func (l library) setStatus(ctx context.Context, at Commit, s Status) error {
	opts := &gitlab.SetCommitStatusOptions{State: gitlab.BuildStateValue(s.State), Name: &s.Name, Description: &s.Description, PipelineID: &at.Pipeline}
	if s.TargetURL != "" {
		opts.TargetURL = &s.TargetURL
	}
	_, res, err := l.client.Commits.SetCommitStatus(at.Project, at.SHA, opts, gitlab.WithContext(ctx))
	return l.wrong(res, err)
}

func (l library) children(ctx context.Context, project, pipeline, number int) ([]child, bool, error) {
	opts := &gitlab.ListJobsOptions{ListOptions: page(number, pageSize)}
	found, res, err := l.client.Jobs.ListPipelineBridges(project, pipeline, opts, gitlab.WithContext(ctx))
	if err != nil {
		return nil, false, l.wrong(res, err)
	}
	var out []child
	for _, b := range found {
		c := child{id: b.ID, name: b.Name, status: b.Status}
		if d := b.DownstreamPipeline; d != nil {
			c.project, c.pipeline = d.ProjectID, d.ID
		}
		out = append(out, c)
	}
	return out, more(res, len(found)), nil
}

func (l library) jobs(ctx context.Context, project, pipeline, number int) ([]job, bool, error) {
	opts := &gitlab.ListJobsOptions{ListOptions: page(number, pageSize)}
	found, res, err := l.client.Jobs.ListPipelineJobs(project, pipeline, opts, gitlab.WithContext(ctx))
	if err != nil {
		return nil, false, l.wrong(res, err)
	}
	var out []job
	for _, j := range found {
		out = append(out, job{project: project, id: j.ID, name: j.Name, status: j.Status, artifacts: j.ArtifactsFile.Filename != ""})
	}
	return out, more(res, len(found)), nil
}

func (l library) artifacts(ctx context.Context, from job, w io.Writer) error {
	ctx = context.WithValue(ctx, artifactsKey{}, true)
	address := "projects/" + gitlab.PathEscape(itoa(from.project)) + "/jobs/" + itoa(from.id) + "/artifacts"
	req, err := l.client.NewRequest(http.MethodGet, address, nil, []gitlab.RequestOptionFunc{gitlab.WithContext(ctx)})
	if err != nil {
		return err
	}
	return l.wrong(l.client.Do(req, w))
}
