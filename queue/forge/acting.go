package forge

import (
	"context"
	"slices"

	"github.com/app-sre/prcheck/ci"
	"github.com/app-sre/prcheck/queue"
	"github.com/app-sre/prcheck/queue/merging"
)

// An Acting forge reads what counts right before and after a merge, and merges. It is one for a Merger.
type Acting struct {
	Forge
	Project ci.QueueProject
	People  []string // whose labels count; empty is everybody
	Tool    string   // begins the name of the status
	// TreeOf returns the tree of a commit. GitLab's API does not tell it.
	TreeOf func(ctx context.Context, commit string) (string, error)
	// Misses says what a request lacks by now beside labels of approval, such as approvals of its content; nil is nothing.
	Misses func(ctx context.Context, r queue.Request, p queue.Proven) ([]string, error)
}

var (
	_ merging.Reader = (*Acting)(nil)
	_ merging.Writer = (*Acting)(nil)
)

// Moment implements [merging.Reader].
func (f *Acting) Moment(ctx context.Context, number int, p queue.Proven) (queue.Moment, error) {
	m, err := f.Client.Request(ctx, number)
	if err != nil {
		return queue.Moment{}, err
	}
	out := queue.Moment{Head: m.Head, IsDraft: m.IsDraft, OtherTarget: m.Target != f.Target || m.State != "opened",
		Word: m.Status, TrainsOn: f.Project.HasTrains,
		CannotCompare: f.Project.MergeMethod != "ff" && f.Project.MergeMethod != "rebase_merge"}
	has := func(label string) bool { return slices.Contains(m.Labels, label) }
	out.IsHeld = slices.ContainsFunc(queue.HoldLabels, has) || slices.ContainsFunc(queue.ErrorLabels, has)
	r := queue.Request{Number: number, Head: m.Head, Labels: m.Labels}
	if r.Events, err = f.events(ctx, number); err != nil {
		return out, err
	}
	if _, out.IsApproved = r.Approval(f.People); out.IsApproved && f.Misses != nil && m.Head == p.Head {
		missing, err := f.Misses(ctx, r, p)
		if out.IsApproved = len(missing) == 0; err != nil {
			return out, err
		}
	}
	if out.Target, err = f.Client.Branch(ctx, f.Target); err != nil { // last, so that it is the newest
		return out, err
	}
	if out.Target != p.Base {
		out.IsDescendant, err = f.Client.IsAncestor(ctx, p.Base, out.Target)
		return out, err
	}
	out.IsOnTop, err = f.Client.IsAncestor(ctx, out.Target, m.Head)
	return out, err
}

// Poll implements [merging.Reader].
func (f *Acting) Poll(ctx context.Context, number int) (queue.RebasePoll, error) {
	m, err := f.Client.Request(ctx, number)
	if err != nil || m.IsRebasing || m.MergeError != "" {
		return queue.RebasePoll{IsUnderWay: m.IsRebasing, Error: m.MergeError}, err
	}
	tree, err := f.TreeOf(ctx, m.Head)
	return queue.RebasePoll{Head: m.Head, Tree: tree}, err
}

// After implements [merging.Reader].
func (f *Acting) After(ctx context.Context, number int, head string) (merging.Aftermath, error) {
	m, err := f.Client.Request(ctx, number)
	if err != nil {
		return merging.Aftermath{}, err
	}
	out := merging.Aftermath{After: queue.After{State: m.State}, Word: m.Status}
	if m.State != "merged" {
		return out, nil
	}
	out.IsOther = m.Head != head
	for _, commit := range []string{m.MergeCommit, m.SquashCommit, head} { // some methods name none
		if commit != "" {
			out.Commit = commit
			break
		}
	}
	target, err := f.Client.Branch(ctx, f.Target)
	if err != nil {
		return out, err
	}
	if has, err := f.Client.IsAncestor(ctx, out.Commit, target); err != nil || !has {
		return out, err // the branch does not have it: no tree
	}
	out.TargetTree, err = f.TreeOf(ctx, out.Commit)
	return out, err
}

// Rebase implements [merging.Writer].
func (f *Acting) Rebase(ctx context.Context, number int) int { return f.Client.Rebase(ctx, number) }

// Merge implements [merging.Writer].
func (f *Acting) Merge(ctx context.Context, number int, call queue.MergeCall) int {
	return f.Client.Merge(ctx, number, call.SHA, call.Squash)
}

// Publish implements [merging.Writer].
func (f *Acting) Publish(ctx context.Context, head string) error {
	return f.Client.Publish(ctx, f.Project.ID, head, ci.CommitStatus{Name: f.Tool + "-merge-queue", State: ci.Success,
		Description: "every result holds on this base"})
}
