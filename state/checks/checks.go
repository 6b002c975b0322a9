package checks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state"
)

// Version is the version of the documents.
const Version = "1"

// Folder is the folder of the state for checks.
const Folder = "checks"

// The bounds of a document.
const (
	maxDocument = 1 << 20
	maxParts    = 1000
	maxName     = 1000 // bytes
)

// A Check is how the check of a merge request stands.
type Check struct {
	Version      string    `json:"version"`
	MergeRequest string    `json:"merge_request"` // such as group/project!7
	Commit       string    `json:"commit"`
	Base         string    `json:"base,omitempty"`
	Pipeline     int64     `json:"pipeline,omitempty"` // its number, 0 if it is not known
	InTrain      bool      `json:"in_train,omitempty"` // it is the pipeline of a merge train
	Plan         string    `json:"plan"`               // the digest of its plan
	Tasks        int       `json:"tasks"`              // of the plan
	Skipped      int       `json:"skipped"`            // integrations that the plan skips
	Written      time.Time `json:"written"`            // when a part ended last
	Of           int       `json:"of"`                 // how many parts there are
	Parts        []Part    `json:"parts"`              // that ended, by number
}

// A Part is how the tasks of one part ended.
type Part struct {
	Part       int          `json:"part"`
	Verdict    plan.Verdict `json:"verdict"`
	Passed     int          `json:"passed"`
	Failed     int          `json:"failed"` // because of the change, as far as is known
	OnBase     int          `json:"broken_on_base"`
	Create     int          `json:"create"` // effects that are not pending on base
	Change     int          `json:"change"`
	Delete     int          `json:"delete"`
	Other      int          `json:"other"`
	Unknown    int          `json:"unknown"`    // tasks whose effects nobody knows, or not all of them
	Uncompared int          `json:"uncompared"` // tasks with effects that were not compared with base
}

// A Status says in one word how a check stands.
type Status string

// The statuses.
const (
	Running    Status = "running" // some parts did not end
	Passed     Status = "passed"
	Failed     Status = "failed"
	NotChecked Status = "not checked" // the environment is broken
)

// Status returns how the check stands. What failed in one part failed.
func (c Check) Status() Status {
	is := Passed
	for _, p := range c.Parts {
		switch {
		case p.Verdict == plan.VerdictFailed:
			return Failed
		case p.Verdict != plan.VerdictPassed:
			is = NotChecked
		}
	}
	if len(c.Parts) < c.Of {
		return Running
	}
	return is
}

// Sum returns the counts of all parts that ended.
func (c Check) Sum() Part {
	var out Part
	for _, p := range c.Parts {
		out.Passed, out.Failed, out.OnBase = out.Passed+p.Passed, out.Failed+p.Failed, out.OnBase+p.OnBase
		out.Create, out.Change, out.Delete, out.Other = out.Create+p.Create, out.Change+p.Change, out.Delete+p.Delete,
			out.Other+p.Other
		out.Unknown, out.Uncompared = out.Unknown+p.Unknown, out.Uncompared+p.Uncompared
	}
	return out
}

var kind = state.Kind[Check]{Version: Version, Limit: maxDocument, Valid: func(c *Check) error {
	isWrong := func(p Part) bool {
		return p.Part < 1 || p.Part > c.Of || min(p.Passed, p.Failed, p.OnBase, p.Create, p.Change, p.Delete, p.Other,
			p.Unknown, p.Uncompared) < 0
	}
	numbers := map[int]bool{}
	for _, p := range c.Parts {
		numbers[p.Part] = true
	}
	if c.MergeRequest == "" || len(c.MergeRequest) > maxName || c.Of < 1 || c.Of > maxParts || len(c.Parts) > c.Of ||
		len(numbers) < len(c.Parts) || c.Written.IsZero() || min(c.Tasks, c.Skipped) < 0 ||
		slices.ContainsFunc(c.Parts, isWrong) {
		return errors.New("it is not valid")
	}
	return nil
}}

// A Store keeps checks in a state.
type Store struct{ in state.Store }

// NewStore returns a store that keeps its documents in a state.
func NewStore(in state.Store) Store { return Store{in} }

func key(mergeRequest string) string { return Folder + "/" + state.Name(mergeRequest) + ".json" }

// Add remembers how a run, or a part of one, ended. A plan of no merge request is left out, and so is one of an earlier
// pipeline, which ended late.
func (s Store) Add(ctx context.Context, p *plan.Plan, rs *plan.Results, now time.Time) error {
	mr := p.MergeRequest
	if mr == nil || mr.Name == "" || len(mr.Name) > maxName || rs.Part.Of > maxParts {
		return nil
	}
	warning, err := kind.Update(ctx, s.in, key(mr.Name), func(c *Check) {
		if mr.Pipeline != 0 && mr.Pipeline < c.Pipeline {
			return
		}
		if c.Plan != p.Digest || c.Pipeline != mr.Pipeline || c.Of != max(rs.Part.Of, 1) {
			*c = Check{}
		}
		c.Version, c.MergeRequest, c.Commit, c.Base, c.Pipeline = Version, mr.Name, mr.Commit, p.Base.Commit, mr.Pipeline
		c.InTrain, c.Plan, c.Tasks, c.Of = mr.InTrain, p.Digest, len(p.Tasks), max(rs.Part.Of, 1)
		c.Skipped = 0
		for _, d := range p.Integrations {
			if d.Decision == plan.Skip {
				c.Skipped++
			}
		}
		c.Written = now.UTC().Truncate(time.Second)
		part := count(rs)
		c.Parts = slices.DeleteFunc(c.Parts, func(p Part) bool { return p.Part == part.Part })
		c.Parts = append(c.Parts, part)
		slices.SortFunc(c.Parts, func(a, b Part) int { return cmp.Compare(a.Part, b.Part) })
	})
	if err = errors.Join(warning, err); err != nil {
		return fmt.Errorf("noting how the check of %s stands: %w", mr.Name, err)
	}
	return nil
}

// count returns the counts of the results of a part.
func count(rs *plan.Results) Part {
	out := Part{Part: max(rs.Part.Part, 1), Verdict: rs.Verdict()}
	for _, r := range rs.Results {
		switch {
		case r.OK():
			out.Passed++
		case r.OnBase():
			out.OnBase++
		default:
			out.Failed++
		}
		if r.Effects == nil || !r.Effects.IsWhole() {
			out.Unknown++
		}
		if r.Effects == nil {
			continue
		}
		before := out
		for _, e := range r.Effects.Items {
			if e.Since != plan.SinceBase && e.Since != plan.SinceGone {
				out.add(e.Kind, 1)
			}
		}
		for kind, n := range r.Effects.Beyond {
			out.add(kind, n)
		}
		if how := r.Effects.HowCompared().How; how == plan.ComparedWithNone && out != before {
			out.Uncompared++
		}
	}
	return out
}

// add counts effects of a kind.
func (p *Part) add(kind plan.EffectKind, n int) {
	switch kind {
	case plan.EffectCreate:
		p.Create += n
	case plan.EffectChange:
		p.Change += n
	case plan.EffectDelete:
		p.Delete += n
	default:
		p.Other += n
	}
}

// All returns all checks that were written since a time, the newest first, and a line for each document that cannot be
// read.
func (s Store) All(ctx context.Context, since time.Time) (all []Check, damaged []string, err error) {
	list, err := s.in.List(ctx, Folder)
	if err != nil {
		return nil, nil, fmt.Errorf("listing the checks of the state: %w", err)
	}
	for _, e := range list {
		if e.Written.Before(since) {
			break // the newest come first
		}
		c, err := kind.Read(ctx, s.in, e.Key)
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case errors.Is(err, state.ErrNotFound): // it was removed in the meantime
		case err == nil && key(c.MergeRequest) != e.Key:
			damaged = append(damaged, fmt.Sprintf("%q of the state is that of another merge request", e.Key))
		case err != nil:
			damaged = append(damaged, fmt.Sprintf("%q of the state is not shown: %v", e.Key, err))
		default:
			all = append(all, *c)
		}
	}
	slices.SortFunc(all, func(a, b Check) int {
		return cmp.Or(b.Written.Compare(a.Written), strings.Compare(a.MergeRequest, b.MergeRequest))
	})
	slices.Sort(damaged)
	return all, damaged, nil
}
