package ci

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/app-sre/prcheck/internal/retry"
)

// A Discussion is a merge request as somebody needs it who decides whether it is approved.
type Discussion struct {
	ID          int    // in all of GitLab
	Head        string // newest commit of the source branch
	Author      string
	Description string
	OpenedAt    time.Time
	Labels      []string
	Approvers   []string // who approve it in GitLab at the moment
	Versions    []DiffVersion
	Notes       []DiscussionNote // in the order of their times
}

// A DiffVersion is a state of the change, by the clock of the server.
type DiffVersion struct {
	Head, Base string // commits
	At         time.Time
}

// A DiscussionNote is a note of a merge request. Who changed it last [Client.Edits] knows.
type DiscussionNote struct {
	ID                   int
	By                   string
	IsSystem             bool // GitLab wrote it about something that By did
	IsOwn                bool // By is the user of the token
	Body                 string
	WrittenAt, ChangedAt time.Time // a note changes also when somebody reacts to it or resolves it
}

// An Edit is the last change of the text of a note.
type Edit struct {
	At time.Time // zero if nobody changed it
	By string    // "" if GitLab does not tell
}

// discussionAPI has the calls of GitLab for what people say about a merge request.
type discussionAPI interface {
	discussionNotes(ctx context.Context, at MergeRequest, user, page, size int) ([]DiscussionNote, bool, error)
	versions(ctx context.Context, at MergeRequest, page int) ([]DiffVersion, bool, error)
	approvers(ctx context.Context, at MergeRequest) ([]string, error)
	discussion(ctx context.Context, at MergeRequest) (Discussion, error)
	changeLabels(ctx context.Context, at MergeRequest, add, remove []string) error
	edits(ctx context.Context, id int, after string) (all map[int]Edit, next string, err error)
	groupMembers(ctx context.Context, group string, page int) (names []string, more bool, err error)
}

// maxVersions is the largest number of pages of versions.
const maxVersions = 50

// Discussion reads what people said about a merge request. The notes are read first, so that no version is missing that
// the server had when one of them was written.
func (c *Client) Discussion(ctx context.Context, at MergeRequest) (Discussion, error) {
	out, err := c.discussion(ctx, at)
	if err != nil {
		return Discussion{}, fmt.Errorf("merge request !%d: %w", at.IID, addRemedy(err, "api"))
	}
	return out, nil
}

func (c *Client) discussion(ctx context.Context, at MergeRequest) (out Discussion, err error) {
	if err := c.identify(ctx); err != nil {
		return out, err
	}
	notes, err := c.discussionNotes(ctx, at)
	if err != nil {
		return out, fmt.Errorf("reading notes: %w", err)
	}
	var approvers []string
	err = repeat(ctx, requestTimeout, func(ctx context.Context) (err error) {
		approvers, err = c.api.approvers(ctx, at)
		return err
	})
	if err != nil {
		return out, fmt.Errorf("reading approvals: %w", err)
	}
	versions, err := readPages(ctx, maxVersions, func(ctx context.Context, page int) ([]DiffVersion, bool, error) {
		return c.api.versions(ctx, at, page)
	})
	if err != nil {
		return out, fmt.Errorf("reading versions: %w", err)
	}
	slices.SortStableFunc(versions, func(a, b DiffVersion) int { return a.At.Compare(b.At) })
	err = repeat(ctx, requestTimeout, func(ctx context.Context) (err error) {
		out, err = c.api.discussion(ctx, at)
		return err
	})
	if err != nil {
		return out, fmt.Errorf("reading it: %w", err)
	}
	out.Notes, out.Approvers, out.Versions = notes, approvers, versions
	if n := len(versions); n == 0 || versions[n-1].Head != out.Head {
		return out, errors.New("its newest version is not that of its head: GitLab is still working on a push")
	}
	return out, nil
}

// discussionNotes reads all notes, in smaller pages if very long ones make a page too large.
func (c *Client) discussionNotes(ctx context.Context, at MergeRequest) ([]DiscussionNote, error) {
	list := func(size int) ([]DiscussionNote, error) {
		return readPages(ctx, maxNotes/size, func(ctx context.Context, page int) ([]DiscussionNote, bool, error) {
			return c.api.discussionNotes(ctx, at, c.userID, page, size)
		})
	}
	notes, err := list(pageSize)
	if errors.Is(err, errTooLarge) {
		notes, err = list(pageSize / 10)
	}
	slices.SortStableFunc(notes, func(a, b DiscussionNote) int { return a.WrittenAt.Compare(b.WrittenAt) })
	return notes, err
}

// Edits returns who changed the text of notes of a merge request last, by their ids. The id is that of the merge
// request in all of GitLab. Notes are missing of which GitLab does not tell, and all of them where it has no GraphQL
// for that.
func (c *Client) Edits(ctx context.Context, id int, notes []int) (map[int]Edit, error) {
	out, after := map[int]Edit{}, ""
	isMissing := func(note int) bool { _, isThere := out[note]; return !isThere }
	for range maxNotes / pageSize {
		if !slices.ContainsFunc(notes, isMissing) {
			return out, nil
		}
		var page map[int]Edit
		err := repeat(ctx, requestTimeout, func(ctx context.Context) (err error) {
			page, after, err = c.api.edits(ctx, id, after)
			return err
		})
		var refused *RefusedError
		switch {
		case errors.Is(err, errUntold), errors.As(err, &refused) && !refused.mayPass():
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("who edited notes: %w", err)
		}
		maps.Copy(out, page)
		if after == "" {
			break
		}
	}
	return out, nil
}

// GroupMembers returns the members of a group. It is not ok if GitLab has no group with this path.
func (c *Client) GroupMembers(ctx context.Context, group string) (names []string, ok bool, err error) {
	names, err = readPages(ctx, maxMembers, func(ctx context.Context, page int) ([]string, bool, error) {
		return c.api.groupMembers(ctx, group, page)
	})
	var refused *RefusedError
	switch {
	case errors.As(err, &refused) && refused.Status == http.StatusNotFound:
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("the members of the group %q: %w", group, addRemedy(err, "api"))
	}
	return names, true, nil
}

// maxMembers is the largest number of pages of members.
const maxMembers = 50

// errUntold is the error when GitLab answers a query and does not tell what was asked.
var errUntold = retry.Permanent(errors.New("GitLab does not tell"))

// ChangeLabels adds labels to a merge request and removes others; those that it does not name stay. Doing so twice does
// no harm.
func (c *Client) ChangeLabels(ctx context.Context, at MergeRequest, add, remove []string) error {
	err := repeat(ctx, requestTimeout, func(ctx context.Context) error {
		return c.api.changeLabels(ctx, at, add, remove)
	})
	if err != nil {
		return fmt.Errorf("the labels of merge request !%d: %w", at.IID, addRemedy(err, "api"))
	}
	return nil
}

// A NamedStatus is a status of one name that the user of the token has set in a pipeline of a commit.
type NamedStatus struct {
	Pipeline int
	CommitStatus
}

// StatusesOf returns the newest status of a name in each pipeline of a commit.
func (c *Client) StatusesOf(ctx context.Context, at Commit, name string) ([]NamedStatus, error) {
	if err := c.identify(ctx); err != nil {
		return nil, err
	}
	posted, err := readPages(ctx, maxNotes/pageSize, func(ctx context.Context, page int) ([]postedStatus, bool, error) {
		return c.api.statuses(ctx, at, page)
	})
	if err != nil {
		return nil, fmt.Errorf("the statuses %q: %w", name, addRemedy(err, "api"))
	}
	newest := map[int]postedStatus{}
	for _, s := range posted {
		if s.name == truncateField(name) && s.author == c.userID && s.id > newest[s.pipeline].id {
			newest[s.pipeline] = s
		}
	}
	var out []NamedStatus
	for _, s := range newest {
		out = append(out, NamedStatus{s.pipeline, CommitStatus{Name: name, State: s.state, Description: s.description}})
	}
	slices.SortFunc(out, func(a, b NamedStatus) int { return a.Pipeline - b.Pipeline })
	return out, nil
}

// SetStatus sets one status of a commit: in its newest pipeline if at names none.
func (c *Client) SetStatus(ctx context.Context, at Commit, s CommitStatus) error {
	if err := c.setStatus(ctx, at, s); err != nil {
		return fmt.Errorf("the status %q: %w", s.Name, addRemedy(err, "api"))
	}
	return nil
}
