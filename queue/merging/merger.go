package merging

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/app-sre/prcheck/queue"
)

// A Reader reads merge requests and the branch. An error says that it could not be read.
type Reader interface {
	// Moment reads what counts right before a merge of a head on a base.
	Moment(ctx context.Context, number int, p queue.Proven) (queue.Moment, error)
	// Poll reads a merge request that is being rebased, and the tree of its head.
	Poll(ctx context.Context, number int) (queue.RebasePoll, error)
	// After reads a merge request after a merge was sent: the word of GitLab if it is open, and the commit and the tree
	// that the merge of a head made of the branch.
	After(ctx context.Context, number int, head string) (Aftermath, error)
}

// An Aftermath is a merge request after a merge was sent.
type Aftermath struct {
	queue.After
	Word   string // detailed_merge_status
	Commit string // in the branch
}

// A Writer makes the calls that change something. Each returns the status of the answer, 0 if there was none.
type Writer interface {
	Rebase(ctx context.Context, number int) int
	Publish(ctx context.Context, head string) error
	Merge(ctx context.Context, number int, call queue.MergeCall) int
}

// A Merger merges requests that were accepted. The pauses are those between questions.
type Merger struct {
	Reader       Reader
	Writer       Writer
	Owner        *Owner
	TreeOf       func(ctx context.Context, commit string) (string, error)
	SquashOption string // of the project
	NeedsStatus  bool   // the project merges only what has a pipeline or a status
	Pause        time.Duration
}

// askTime is how long is waited for GitLab to find something out.
const askTime = time.Minute

// An Accepted is a request that a walk accepted. Its base is a tree: that of the branch, or of the one ahead.
type Accepted struct {
	Number int
	queue.Proven
}

// A Told is what was done about a request.
type Told struct {
	Number   int
	Reaction queue.Reaction
	Merged   *MergedTree // nil if it was not merged
}

// Begin records the commit of the branch that a walk starts from. If the branch no longer has what it had, everything
// that was proven is dropped.
func (m *Merger) Begin(ctx context.Context, target string,
	hasInHistory func(ctx context.Context, commit, of string) (bool, error)) (queue.Reaction, error) {
	reaction := queue.Reaction{Does: []queue.Move{{Step: queue.GoOn}}}
	if was := m.Owner.record.Base; was != "" && was != target {
		has, err := hasInHistory(ctx, was, target)
		if err != nil {
			return reaction, err
		}
		p := queue.Proven{Pair: queue.Pair{Base: was}}
		reaction = p.Before(queue.Moment{Target: target, IsDescendant: has})
	}
	return reaction, m.Owner.Write(ctx, func(r *Record) { r.Base = target })
}

// Merge merges accepted requests in their order. One that is not merged drops all behind it, since they were proven on
// top of it. The error says that nothing more may be done now.
func (m *Merger) Merge(ctx context.Context, all []Accepted) ([]Told, error) {
	var out []Told
	for _, a := range all {
		t, err := m.one(ctx, a)
		if t.Number != 0 {
			out = append(out, t)
		}
		if err != nil || t.Merged == nil {
			return out, err
		}
	}
	return out, nil
}

// one merges one request.
func (m *Merger) one(ctx context.Context, a Accepted) (Told, error) {
	t := Told{Number: a.Number}
	p, reaction, err := m.ready(ctx, a)
	if err != nil || !reaction.Has(queue.Merge) {
		t.Reaction = reaction
		return t, errors.Join(err, ended(reaction), m.forget(ctx))
	}
	t.Reaction, t.Merged, err = m.merge(ctx, a.Number, p)
	return t, err
}

// ready asks everything again, and rebases a request whose head is not on top of the branch. It returns what is merged.
func (m *Merger) ready(ctx context.Context, a Accepted) (queue.Proven, queue.Reaction, error) {
	p := a.Proven
	tree, err := m.TreeOf(ctx, m.Owner.record.Base)
	if err != nil {
		return p, queue.Reaction{}, err
	}
	if tree != p.Base {
		return p, queue.Reaction{Does: []queue.Move{{Step: queue.ForgetProof}, {Step: queue.LookAgain}},
			Told: "it was proven on another base"}, nil
	}
	p.Base = m.Owner.record.Base
	moment, err := m.Reader.Moment(ctx, a.Number, p)
	if err != nil {
		return p, queue.Reaction{}, err
	}
	reaction := p.Before(moment)
	switch {
	case !reaction.Has(queue.Merge):
		return p, reaction, nil
	case moment.IsOnTop:
		tree, err := m.TreeOf(ctx, p.Head)
		return p, p.AfterRebase(queue.RebaseReply{Code: 202, Polls: []queue.RebasePoll{{Head: p.Head, Tree: tree}}}), err
	}
	return m.rebase(ctx, a.Number, p)
}

// rebase lets the forge rebase a request, and compares what it made with what was proven.
func (m *Merger) rebase(ctx context.Context, number int, p queue.Proven) (queue.Proven, queue.Reaction, error) {
	if err := m.intend(ctx, Intent{CallRebase, number, p}); err != nil {
		return p, queue.Reaction{}, err
	}
	reply := queue.RebaseReply{Code: m.Writer.Rebase(ctx, number)}
	reaction := p.AfterRebase(reply)
	for len(reaction.Does) == 1 && reaction.Has(queue.Poll) {
		if err := m.wait(ctx); err != nil {
			return p, reaction, err
		}
		poll, err := m.Reader.Poll(ctx, number)
		if err != nil {
			return p, reaction, err
		}
		reply.Polls = append(reply.Polls, poll)
		reaction = p.AfterRebase(reply)
	}
	i := slices.IndexFunc(reaction.Does, func(d queue.Move) bool { return d.Step == queue.Merge })
	if i < 0 {
		return p, reaction, nil
	}
	p.Head = reaction.Does[i].Of
	moment, err := m.Reader.Moment(ctx, number, p) // a rebase takes time
	return p, p.Before(moment), err
}

// merge sends a merge, and follows the answers to their end.
func (m *Merger) merge(ctx context.Context, number int, p queue.Proven) (queue.Reaction, *MergedTree, error) {
	reply, isPublished, began := queue.MergeReply{}, false, time.Now()
	for tries := 0; ; tries++ {
		if m.NeedsStatus && !isPublished {
			if err := m.publish(ctx, number, p); err != nil {
				return queue.Reaction{}, nil, err
			}
			isPublished = true
		}
		if err := m.intend(ctx, Intent{CallMerge, number, p}); err != nil {
			return queue.Reaction{}, nil, err
		}
		reply = queue.MergeReply{Code: m.Writer.Merge(ctx, number, p.Call(m.SquashOption)), Tries: tries,
			Published: isPublished}
		after, err := m.Reader.After(ctx, number, p.Head)
		if err != nil {
			return queue.Reaction{}, nil, err // the record stays: the next loop reads it
		}
		reply.Word = after.Word
		if isGood := reply.Code >= 200 && reply.Code < 300; isGood || p.AfterMerge(reply).Has(queue.ReadRequest) {
			reply.Then = &after.After
		}
		reaction := p.AfterMerge(reply)
		switch {
		case reaction.Has(queue.Record):
			return m.merged(ctx, number, after, reaction)
		case reaction.Has(queue.PublishProof):
			if err := m.publish(ctx, number, p); err != nil {
				return reaction, nil, err
			}
			isPublished = true
		case reaction.Has(queue.AskAgain) && time.Since(began) < askTime, reaction.Has(queue.MergeAgain):
			if reaction.Has(queue.AskAgain) {
				tries-- // nothing was tried
			}
			if err := m.wait(ctx); err != nil {
				return reaction, nil, err
			}
		default:
			return reaction, nil, errors.Join(ended(reaction), m.forget(ctx))
		}
		if moment, err := m.Reader.Moment(ctx, number, p); err != nil {
			return queue.Reaction{}, nil, err
		} else if again := p.Before(moment); !again.Has(queue.Merge) {
			return again, nil, errors.Join(ended(again), m.forget(ctx))
		}
	}
}

// merged records a merge. If the branch has another tree than was proven, the loop ends.
func (m *Merger) merged(ctx context.Context, number int, after Aftermath,
	reaction queue.Reaction) (queue.Reaction, *MergedTree, error) {
	made := &MergedTree{number, after.Commit, after.TargetTree}
	err := m.Owner.Write(ctx, func(r *Record) {
		r.Intent, r.Base, r.Merged = nil, after.Commit, append(r.Merged, *made)
	})
	return reaction, made, errors.Join(err, ended(reaction))
}

// publish sets the status of a head that says that it was proven.
func (m *Merger) publish(ctx context.Context, number int, p queue.Proven) error {
	if err := m.intend(ctx, Intent{CallPublish, number, p}); err != nil {
		return err
	}
	return m.Writer.Publish(ctx, p.Head)
}

// intend records a call before it is made.
func (m *Merger) intend(ctx context.Context, i Intent) error {
	return m.Owner.Write(ctx, func(r *Record) { r.Intent = &i })
}

// forget records that the last call is settled.
func (m *Merger) forget(ctx context.Context) error {
	if m.Owner.record.Intent == nil {
		return nil
	}
	return m.Owner.Write(ctx, func(r *Record) { r.Intent = nil })
}

// wait waits until the next question.
func (m *Merger) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(max(m.Pause, time.Millisecond)):
		return nil
	}
}

// An EndError is a reaction that ends the loop.
type EndError struct{ Reaction queue.Reaction }

// Error says why the loop ends.
func (e *EndError) Error() string {
	if e.Reaction.Told == "" {
		return "nothing is merged"
	}
	return "nothing is merged any more: " + e.Reaction.Told
}

// ended returns an error for a reaction that ends the loop.
func ended(r queue.Reaction) error {
	if !r.IsEnd {
		return nil
	}
	return &EndError{r}
}

// Resume settles what a loop before left: it finds out what became of its last call. It returns what was merged.
func (m *Merger) Resume(ctx context.Context) (*Told, error) {
	i := m.Owner.record.Intent
	if i == nil {
		return nil, nil
	}
	if i.Call != CallMerge {
		return nil, m.forget(ctx) // what a rebase made is looked at as any push, and a status says nothing new
	}
	after, err := m.Reader.After(ctx, i.Number, i.Proven.Head)
	if err != nil {
		return nil, fmt.Errorf("finding out what became of the merge of !%d: %w", i.Number, err)
	}
	if after.State != "merged" {
		return nil, m.forget(ctx)
	}
	reaction := i.Proven.AfterMerge(queue.MergeReply{Then: &after.After})
	t := &Told{Number: i.Number}
	t.Reaction, t.Merged, err = m.merged(ctx, i.Number, after, reaction)
	return t, err
}

// AcceptedOf returns the requests that a walk accepted, in order. The bases of the walk are trees.
func AcceptedOf(o queue.Outcome) []Accepted {
	var out []Accepted
	for _, number := range o.Accepted {
		for _, s := range o.Standings {
			if s.Place.Number == number {
				out = append(out, Accepted{number, queue.Proven{Pair: s.Pair, Tree: s.Tree}})
			}
		}
	}
	return out
}
