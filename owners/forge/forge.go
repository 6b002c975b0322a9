package forge

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/ci"
	"github.com/app-sre/prcheck/owners/approvals"
	"github.com/app-sre/prcheck/owners/decision"
	"github.com/app-sre/prcheck/owners/review"
)

// A Forge is one merge request.
type Forge struct {
	Client       *ci.Client
	MergeRequest ci.MergeRequest
	Pipeline     ci.Commit // in which this runs; its status is set there if its commit is the head
	Tool         string    // begins the name of the status, and is in the marker of the note

	generation int64             // of the note as it was read
	bases      map[string]string // what each version starts from, by its head
}

var _ review.Forge = (*Forge)(nil)

// StatusName returns the name of the status. It is none of those that ci.Client.SetStatuses keeps.
func (f *Forge) StatusName() string { return f.Tool + "-owners" }

// Base returns the commit that a version starts from, as it was read last.
func (f *Forge) Base(head string) (commit string, ok bool) {
	commit, ok = f.bases[head]
	return commit, ok
}

// Members returns the members of a group, and whether there is such a group.
func (f *Forge) Members(ctx context.Context, group string) ([]string, bool, error) {
	return f.Client.GroupMembers(ctx, group)
}

// Read implements [review.Forge].
func (f *Forge) Read(ctx context.Context) (review.Request, error) {
	d, err := f.Client.Discussion(ctx, f.MergeRequest)
	if err != nil {
		return review.Request{}, err
	}
	out := review.Request{Head: d.Head, Author: d.Author, Labels: d.Labels, Note: f.readNote(d.Notes)}
	f.bases = map[string]string{}
	for _, v := range d.Versions {
		out.Versions = append(out.Versions, approvals.Version{Head: v.Head, PushedAt: v.At})
		f.bases[v.Head] = v.Base
	}
	edits, err := f.edits(ctx, d)
	if err != nil {
		return review.Request{}, err
	}
	out.Comments = comments(d, edits)
	out.Status, err = f.readStatus(ctx, d.Head)
	return out, err
}

// edits returns who changed the comments last that have words, of those that may have been changed.
func (f *Forge) edits(ctx context.Context, d ci.Discussion) (map[int]ci.Edit, error) {
	var changed []int
	for _, n := range d.Notes {
		if !n.IsSystem && !n.IsOwn && n.ChangedAt.After(n.WrittenAt) &&
			len(decision.Words([]decision.Comment{{Body: n.Body}})) > 0 {
			changed = append(changed, n.ID)
		}
	}
	if len(changed) == 0 {
		return nil, nil
	}
	return f.Client.Edits(ctx, d.ID, changed)
}

// comments returns what people said, and did by the button.
func comments(d ci.Discussion, edits map[int]ci.Edit) []review.EditedComment {
	about := review.EditedComment{By: d.Author, Body: d.Description, WrittenAt: d.OpenedAt}
	if first := d.Versions[0].At; first.After(about.WrittenAt) {
		about.WrittenAt = first // GitLab makes the first version a moment later
	}
	out := []review.EditedComment{about}
	approvedAt := map[string]time.Time{}
	for _, n := range d.Notes {
		switch {
		case n.IsSystem && n.Body == "approved this merge request":
			approvedAt[n.By] = n.WrittenAt
		case n.IsSystem && isAboutDescription(n.Body):
			if by := out[0].EditedBy; by == "" || by == d.Author { // what somebody else wrote may still stand there
				out[0].EditedAt, out[0].EditedBy = n.WrittenAt, n.By
			}
		case !n.IsSystem && !n.IsOwn:
			c := review.EditedComment{By: n.By, Body: n.Body, WrittenAt: n.WrittenAt}
			if edit, isTold := edits[n.ID]; isTold {
				c.EditedAt, c.EditedBy = edit.At, edit.By
			} else if n.ChangedAt.After(n.WrittenAt) {
				c.EditedAt = n.ChangedAt
			}
			out = append(out, c)
		}
	}
	for _, person := range d.Approvers {
		if at, ok := approvedAt[person]; ok {
			out = append(out, review.EditedComment{By: person, Body: string(decision.Approve), WrittenAt: at})
		}
	}
	return out
}

// elsewhere is how notes of the system begin that are about something else than the description. Any other one may be
// about it: words of GitLab that nobody knows here let nobody approve.
var elsewhere = []string{
	"approved this merge request", "unapproved this merge request", "added ", "removed ", "assigned to ", "unassigned ",
	"requested review from ", "requested approval from ", "requested changes", "left review comments",
	"changed title from ", "changed source branch from ", "changed target branch from ", "changed milestone to ",
	"changed this file in ",
	"changed this line in ", "marked this merge request as ", "mentioned in ", "resolved all threads",
	"enabled an automatic merge", "aborted the automatic merge", "canceled the automatic merge", "closed", "reopened",
	"merged", "locked this merge request", "unlocked this merge request", "restored source branch ",
	"restored target branch ", "deleted source branch ", "deleted target branch ", "picked the changes into the branch ",
}

// isAboutDescription reports whether a note of the system may say that the description changed.
func isAboutDescription(body string) bool {
	return !slices.ContainsFunc(elsewhere, func(begin string) bool { return strings.HasPrefix(body, begin) })
}

// readStatus returns the status of a commit. Where its pipelines differ, or this one has none, it is one that no
// decision has.
func (f *Forge) readStatus(ctx context.Context, head string) (review.Status, error) {
	all, err := f.Client.StatusesOf(ctx, f.at(head), f.StatusName())
	if err != nil || len(all) == 0 {
		return review.Status{}, err
	}
	var out review.Status
	isOne := f.at(head).Pipeline == 0
	for i, s := range all {
		one := review.Status{IsApproved: s.State == ci.Success, Text: s.Description}
		if i == 0 {
			out = one
		}
		if one != out {
			out = review.Status{IsApproved: out.IsApproved || one.IsApproved}
		}
		isOne = isOne || s.Pipeline == f.Pipeline.Pipeline
	}
	if !isOne {
		out.Text = ""
	}
	return out, nil
}

// at returns the commit on which a status is set, in this pipeline if it is one of the commit.
func (f *Forge) at(head string) ci.Commit {
	if head == f.Pipeline.SHA {
		return f.Pipeline
	}
	return ci.Commit{Project: f.Pipeline.Project, SHA: head}
}

// Write implements [review.Forge].
func (f *Forge) Write(ctx context.Context, w review.Write) error {
	switch {
	case w.Status != nil:
		return f.writeStatus(ctx, w.Head, *w.Status)
	case w.Note != nil:
		return f.writeNote(ctx, *w.Note)
	}
	return f.Client.ChangeLabels(ctx, f.MergeRequest, w.Add, w.Remove)
}

// writeStatus sets the status of a commit in this pipeline, and in all others that have another one.
func (f *Forge) writeStatus(ctx context.Context, head string, to review.Status) error {
	status := ci.CommitStatus{Name: f.StatusName(), State: ci.Failed, Description: to.Text}
	if to.IsApproved {
		status.State = ci.Success
	}
	all, err := f.Client.StatusesOf(ctx, f.at(head), f.StatusName())
	if err != nil {
		return err
	}
	pipelines := []int{f.at(head).Pipeline}
	if pipelines[0] == 0 && len(all) > 0 {
		pipelines = nil
	}
	for _, s := range all {
		if s.CommitStatus != status {
			pipelines = append(pipelines, s.Pipeline)
		}
	}
	slices.Sort(pipelines)
	for _, pipeline := range slices.Compact(pipelines) {
		at := f.at(head)
		at.Pipeline = pipeline
		if err := f.Client.SetStatus(ctx, at, status); err != nil {
			return err
		}
	}
	return nil
}

// writeNote lets the note show a text.
func (f *Forge) writeNote(ctx context.Context, text string) error {
	_, err := f.Client.Publish(ctx, f.MergeRequest, note{f.Tool, f.generation + 1, text})
	if err != nil {
		return fmt.Errorf("who must approve: %w", err)
	}
	return nil
}
