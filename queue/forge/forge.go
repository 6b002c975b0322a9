package forge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/app-sre/prcheck/ci"
	"github.com/app-sre/prcheck/queue"
	"github.com/app-sre/prcheck/queue/peer"
)

// A Forge is a project of GitLab with its merge requests for one branch.
type Forge struct {
	Client *ci.MergeQueue
	Target string // branch
}

// A View is what a round finds.
type View struct {
	Project  ci.QueueProject
	Base     string // head of the target branch
	Requests []queue.Request
	listed   []ci.QueueRequest // the same ones
}

// Refusal says why the queue cannot act in a project, and what to do; "" if it can.
func (v *View) Refusal() string {
	switch {
	case v.Project.HasTrains:
		return "merge trains are on for the project: the queue and the trains would merge beside each other; turn one off"
	case v.Project.MergeMethod != "ff" && v.Project.MergeMethod != "rebase_merge":
		return "the project merges with merge commits, so others can merge between a proof and its merge: set its merge " +
			"method to fast-forward or semi-linear"
	}
	return ""
}

// errMoved is the error when the branch moved while its merge requests were read.
var errMoved = errors.New("the target branch moved while its merge requests were read, in each of three attempts")

// attempts is how often a view is read if the branch moves meanwhile.
const attempts = 3

// Read reads the merge requests, with the base that they all were read beside.
func (f *Forge) Read(ctx context.Context) (*View, error) {
	project, err := f.Client.Project(ctx)
	if err != nil {
		return nil, err
	}
	base, err := f.Client.Branch(ctx, f.Target)
	for range attempts {
		if err != nil {
			return nil, err
		}
		v := &View{Project: project, Base: base}
		if err := f.read(ctx, v); err != nil {
			return nil, err
		}
		if base, err = f.Client.Branch(ctx, f.Target); err == nil && base == v.Base {
			return v, nil
		}
	}
	return nil, errors.Join(err, errMoved)
}

// read reads the open merge requests, and who labelled them.
func (f *Forge) read(ctx context.Context, v *View) error {
	open, err := f.Client.Requests(ctx, ci.RequestFilter{State: "opened", Target: f.Target})
	if err != nil {
		return err
	}
	for _, m := range open {
		if m.Head == "" || m.Target != f.Target {
			continue // it lost its branch, or has another target by now
		}
		r := queue.Request{Number: m.Number, Title: m.Title, Head: m.Head, IsDraft: m.IsDraft, Labels: m.Labels,
			Status: m.Status}
		if slices.ContainsFunc(m.Labels, func(label string) bool { return slices.Contains(queue.Classes, label) }) {
			if r.Events, err = f.events(ctx, m.Number); err != nil {
				return err
			}
		}
		v.Requests, v.listed = append(v.Requests, r), append(v.listed, m)
	}
	return nil
}

// events reads who added and removed labels.
func (f *Forge) events(ctx context.Context, number int) ([]queue.LabelEvent, error) {
	all, err := f.Client.LabelEvents(ctx, number)
	var out []queue.LabelEvent
	for _, e := range all {
		if e.Label != "" {
			out = append(out, queue.LabelEvent{Label: e.Label, By: e.By, At: e.At, IsRemoval: e.IsRemoval})
		}
	}
	return out, err
}

// groupTime is how long a group of the peer is looked for after its lead was merged.
const groupTime = 24 * time.Hour

// Peer reads what else the peer looks at, of those that stand in its queue and of its group.
func (f *Forge) Peer(ctx context.Context, v *View, o peer.Rules, now time.Time) (peer.Snapshot, error) {
	s := peer.Snapshot{Rules: o, Target: v.Base, Now: now}
	s.SquashAlways = v.Project.SquashOption == "always"
	for i, m := range v.listed {
		listed := listedOf(m)
		listed.Request = v.Requests[i]
		if len(listed.Events) > 0 {
			var err error
			if listed.Pipelines, err = f.pipelines(ctx, m.Number); err != nil {
				return s, err
			}
			if listed.IsRebased, err = f.Client.IsAncestor(ctx, v.Base, m.Head); err != nil {
				return s, err
			}
		}
		s.Requests = append(s.Requests, listed)
	}
	if !o.Groups {
		return s, nil
	}
	return s, f.group(ctx, &s)
}

// group reads the group of the peer, if it has one.
func (f *Forge) group(ctx context.Context, s *peer.Snapshot) error {
	known := map[[2]string]bool{}
	s.Contains = func(commit, other string) bool { return known[[2]string{commit, other}] }
	for _, label := range []string{peer.GroupLead, peer.Pending} {
		merged, err := f.Client.Requests(ctx, ci.RequestFilter{State: "merged", Target: f.Target, Label: label,
			Since: s.Now.Add(-groupTime)})
		if err != nil {
			return err
		}
		for _, m := range merged {
			listed := listedOf(m)
			for _, commit := range []string{m.MergeCommit, m.SquashCommit} {
				if label == peer.GroupLead && commit != "" {
					is, err := f.Client.IsAncestor(ctx, commit, s.Target)
					if err != nil {
						return err
					}
					known[[2]string{s.Target, commit}] = is
				}
			}
			if !slices.ContainsFunc(s.Requests, func(o peer.Listed) bool { return o.Number == m.Number }) {
				s.Requests = append(s.Requests, listed)
			}
		}
	}
	pipelines, err := f.Client.BranchPipelines(ctx, f.Target)
	if err != nil {
		return fmt.Errorf("comparing with the peer: %w", err)
	}
	s.TargetPipeline = pipelinesOf(pipelines)
	return nil
}

func (f *Forge) pipelines(ctx context.Context, number int) ([]peer.Pipeline, error) {
	all, err := f.Client.Pipelines(ctx, number)
	return pipelinesOf(all), err
}

func pipelinesOf(all []ci.QueuePipeline) (out []peer.Pipeline) {
	for _, p := range all {
		out = append(out, peer.Pipeline{ID: p.ID, Status: p.Status, Source: p.Source, SHA: p.SHA, CreatedAt: p.CreatedAt,
			UpdatedAt: p.UpdatedAt})
	}
	return out
}

// listedOf returns a merge request as the peer lists it.
func listedOf(m ci.QueueRequest) peer.Listed {
	return peer.Listed{
		Request: queue.Request{Number: m.Number, Title: m.Title, Head: m.Head, IsDraft: m.IsDraft, Labels: m.Labels},
		State:   m.State, MergeStatus: m.OldStatus, Squash: m.Squash, UpdatedAt: m.UpdatedAt, MergeError: m.MergeError,
		MergedAt: m.MergedAt, MergeCommit: m.MergeCommit, SquashCommit: m.SquashCommit,
	}
}
