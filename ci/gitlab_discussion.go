package ci

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	gitlab "github.com/xanzy/go-gitlab"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// discussionNotes returns one page of the notes of a merge request, with their times.
func (l goGitLab) discussionNotes(ctx context.Context, at MergeRequest,
	user, page, size int) ([]DiscussionNote, bool, error) {
	return l.notesOf(ctx, at.Project, at.IID, user, page, size)
}

// notesOf does so in a project by its number or its path.
func (l goGitLab) notesOf(ctx context.Context, project any,
	number, user, page, size int) ([]DiscussionNote, bool, error) {
	opts := &gitlab.ListMergeRequestNotesOptions{ListOptions: pageOptions(page, size), OrderBy: gitlab.Ptr("created_at"),
		Sort: gitlab.Ptr("asc")}
	found, res, err := l.client.Notes.ListMergeRequestNotes(project, number, opts, gitlab.WithContext(ctx))
	if err != nil {
		return nil, false, l.convertError(res, err)
	}
	return convertList(found, func(n *gitlab.Note) DiscussionNote {
		return DiscussionNote{ID: n.ID, By: n.Author.Username, IsSystem: n.System, IsOwn: n.Author.ID == user, Body: n.Body,
			WrittenAt: timeOf(n.CreatedAt), ChangedAt: timeOf(n.UpdatedAt)}
	}), hasNextPage(res, len(found)), nil
}

// timeOf returns a time that GitLab may not tell.
func timeOf(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.UTC()
}

// versions returns one page of the versions of a merge request.
func (l goGitLab) versions(ctx context.Context, at MergeRequest, number int) ([]DiffVersion, bool, error) {
	opts := gitlab.GetMergeRequestDiffVersionsOptions(pageOptions(number, pageSize))
	found, res, err := l.client.MergeRequests.GetMergeRequestDiffVersions(at.Project, at.IID, &opts,
		gitlab.WithContext(ctx))
	if err != nil {
		return nil, false, l.convertError(res, err)
	}
	return convertList(found, func(v *gitlab.MergeRequestDiffVersion) DiffVersion {
		return DiffVersion{Head: v.HeadCommitSHA, Base: v.BaseCommitSHA, At: timeOf(v.CreatedAt)}
	}), hasNextPage(res, len(found)), nil
}

// approvers returns who approve a merge request.
func (l goGitLab) approvers(ctx context.Context, at MergeRequest) ([]string, error) {
	return l.approversOf(ctx, at.Project, at.IID)
}

// approversOf does so in a project by its number or its path.
func (l goGitLab) approversOf(ctx context.Context, project any, number int) ([]string, error) {
	found, res, err := l.client.MergeRequestApprovals.GetConfiguration(project, number, gitlab.WithContext(ctx))
	if err != nil {
		return nil, l.convertError(res, err)
	}
	var out []string
	for _, by := range found.ApprovedBy {
		if by != nil && by.User != nil {
			out = append(out, by.User.Username)
		}
	}
	return out, nil
}

// discussion returns a merge request without its notes, approvals and versions.
func (l goGitLab) discussion(ctx context.Context, at MergeRequest) (Discussion, error) {
	m, res, err := l.client.MergeRequests.GetMergeRequest(at.Project, at.IID, nil, gitlab.WithContext(ctx))
	if err != nil {
		return Discussion{}, l.convertError(res, err)
	}
	out := Discussion{ID: m.ID, Head: m.SHA, Description: m.Description, OpenedAt: timeOf(m.CreatedAt), Labels: m.Labels}
	if m.Author != nil {
		out.Author = m.Author.Username
	}
	return out, nil
}

// changeLabels adds labels to a merge request and removes others.
func (l goGitLab) changeLabels(ctx context.Context, at MergeRequest, add, remove []string) error {
	opts := &gitlab.UpdateMergeRequestOptions{}
	if len(add) > 0 {
		opts.AddLabels = gitlab.Ptr(gitlab.LabelOptions(add))
	}
	if len(remove) > 0 {
		opts.RemoveLabels = gitlab.Ptr(gitlab.LabelOptions(remove))
	}
	_, res, err := l.client.MergeRequests.UpdateMergeRequest(at.Project, at.IID, opts, gitlab.WithContext(ctx))
	return l.convertError(res, err)
}

// groupBot matches the names of users that GitLab makes for tokens of groups.
var groupBot = lazyregexp.New(`^group_.+_bot_`)

// groupMembers returns one page of the people who are members of a group itself.
func (l goGitLab) groupMembers(ctx context.Context, group string, page int) ([]string, bool, error) {
	opts := &gitlab.ListGroupMembersOptions{ListOptions: pageOptions(page, pageSize)}
	found, res, err := l.client.Groups.ListGroupMembers(group, opts, gitlab.WithContext(ctx))
	if err != nil {
		return nil, false, l.convertError(res, err)
	}
	names := convertList(found, func(m *gitlab.GroupMember) string { return m.Username })
	return slices.DeleteFunc(names, groupBot.MatchString), hasNextPage(res, len(found)), nil
}

// editsQuery asks for who changed the notes of a merge request last. The other API does not tell.
const editsQuery = `query Edits($id: MergeRequestID!, $after: String) {
  mergeRequest(id: $id) {
    notes(first: 100, after: $after) {
      nodes { id lastEditedAt lastEditedBy { username } }
      pageInfo { hasNextPage endCursor }
    }
  }
}`

// An editsAnswer is the answer to editsQuery.
type editsAnswer struct {
	Errors []struct{ Message string }
	Data   struct {
		MergeRequest *struct {
			Notes struct {
				Nodes []struct {
					ID           string
					LastEditedAt *time.Time
					LastEditedBy *struct{ Username string }
				}
				PageInfo struct {
					HasNextPage bool
					EndCursor   string
				}
			}
		}
	}
}

// edits returns a page of who changed the notes of a merge request last, and where the next page begins, "" after the
// last one.
func (l goGitLab) edits(ctx context.Context, id int, after string) (all map[int]Edit, next string, err error) {
	variables := map[string]any{"id": fmt.Sprintf("gid://gitlab/MergeRequest/%d", id)}
	if after != "" {
		variables["after"] = after
	}
	body := map[string]any{"query": editsQuery, "variables": variables}
	req, err := l.client.NewRequest(http.MethodPost, "", body, []gitlab.RequestOptionFunc{gitlab.WithContext(ctx)})
	if err != nil {
		return nil, "", err
	}
	at := l.client.BaseURL() // it ends with /api/v4/
	at.Path, at.RawPath = path.Join(at.Path, "..", "graphql"), ""
	req.URL = at
	var found editsAnswer
	if res, err := l.client.Do(req, &found); err != nil {
		return nil, "", l.convertError(res, err)
	}
	if len(found.Errors) > 0 || found.Data.MergeRequest == nil {
		return nil, "", errUntold
	}
	all = map[int]Edit{}
	for _, n := range found.Data.MergeRequest.Notes.Nodes {
		number, err := strconv.Atoi(n.ID[strings.LastIndex(n.ID, "/")+1:]) // gid://gitlab/Note/1
		if err != nil {
			continue
		}
		edit := Edit{At: timeOf(n.LastEditedAt)}
		if n.LastEditedBy != nil {
			edit.By = n.LastEditedBy.Username
		}
		all[number] = edit
	}
	if page := found.Data.MergeRequest.Notes.PageInfo; page.HasNextPage {
		next = page.EndCursor
	}
	return all, next, nil
}
