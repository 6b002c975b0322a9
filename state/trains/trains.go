package trains

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state"
)

// Version is the version of the documents.
const Version = "1"

// The bounds of a document.
const (
	maxDocument = 8 << 20
	maxPassed   = 10000
	maxName     = 1000 // bytes
)

// A Pipeline is the last pipeline of a merge request outside of a merge train.
type Pipeline struct {
	Commit string   // the last commit of the branch of the merge request
	Base   string   // the commit of base, "" if it is not known
	Passed []Passed // sorted by integration and shard
}

// Digest returns a digest of all that is remembered of the pipeline.
func (p *Pipeline) Digest() string {
	raw, _ := json.Marshal(p) // strings always encode
	return fmt.Sprintf("sha256:%x", sha256.Sum256(raw))
}

// A Passed is a task that passed.
type Passed struct {
	Integration string `json:"integration"`
	Shard       string `json:"shard,omitempty"`   // with the number of a static shard
	Command     string `json:"command,omitempty"` // digest of how it was started, "" if it is not known
	Inputs      string `json:"inputs"`            // digest of its inputs
}

// id identifies a task within a plan.
func (p Passed) id() [2]string { return [2]string{p.Integration, p.Shard} }

// A document is what is remembered of a pipeline.
type document struct {
	Version      string   `json:"version"`
	MergeRequest string   `json:"merge_request"`
	Pipeline     int64    `json:"pipeline,omitempty"` // its number, 0 if it is not known
	Plan         string   `json:"plan"`               // the digest of its plan
	Commit       string   `json:"commit"`
	Base         string   `json:"base,omitempty"`
	Passed       []Passed `json:"passed"`
}

func key(mergeRequest string) string { return "trains/" + state.Name(mergeRequest) + ".json" }

// kind describes the document of a merge request.
func kind(mergeRequest string) state.Kind[document] {
	return state.Kind[document]{Version: Version, Limit: maxDocument, Valid: func(d *document) error {
		isWrong := func(p Passed) bool {
			return p.Integration == "" || p.Inputs == "" ||
				max(len(p.Integration), len(p.Shard), len(p.Command), len(p.Inputs)) > maxName
		}
		if d.MergeRequest != mergeRequest || len(d.Passed) > maxPassed || slices.ContainsFunc(d.Passed, isWrong) {
			return errors.New("it is not valid")
		}
		return nil
	}}
}

// A Store remembers pipelines.
type Store struct{ in state.Store }

// NewStore returns a store that keeps its documents in a state.
func NewStore(in state.Store) Store { return Store{in} }

// Last returns the last pipeline of a merge request outside of a merge train. It returns nil if
// nothing is remembered. A document that cannot be read is as good as none.
func (s Store) Last(ctx context.Context, mergeRequest string) *Pipeline {
	d, err := kind(mergeRequest).Read(ctx, s.in, key(mergeRequest))
	if err != nil {
		return nil
	}
	return &Pipeline{Commit: d.Commit, Base: d.Base, Passed: d.Passed}
}

// Add remembers how tasks of a plan ended. The plan may have more tasks than there are results,
// such as those of other parts. A plan that was not made in the own pipeline of a merge request
// is left out, and so is one of an earlier pipeline, which ended late.
func (s Store) Add(ctx context.Context, p *plan.Plan, results []plan.Result) error {
	if p.MergeRequest == nil || p.MergeRequest.InTrain {
		return nil
	}
	name := p.MergeRequest.Name
	number := p.MergeRequest.Pipeline
	warning, err := kind(name).Update(ctx, s.in, key(name), func(d *document) {
		if number != 0 && number < d.Pipeline {
			return
		}
		if d.Plan != p.Digest {
			*d = document{Plan: p.Digest, Passed: leftOut(p)}
		}
		d.Version, d.MergeRequest, d.Pipeline, d.Commit, d.Base = Version, name, number, p.MergeRequest.Commit, p.Base.Commit
		d.add(p, results)
	})
	if err = errors.Join(warning, err); err != nil {
		return fmt.Errorf("remembering what passed in the pipeline of %s: %w", name, err)
	}
	return nil
}

// leftOut returns the tasks that a plan leaves out because they passed before.
func leftOut(p *plan.Plan) []Passed {
	var out []Passed
	for _, d := range p.Integrations {
		for _, e := range d.Evidence.Passed {
			out = append(out, Passed{Integration: d.Name, Shard: e.Shard, Inputs: e.Inputs})
		}
	}
	for _, r := range p.MergeRequest.Reused {
		out = append(out, Passed{Integration: r.Integration, Shard: r.Shard, Inputs: r.Inputs})
	}
	return out
}

// add adds the tasks that passed, and removes those that ended otherwise.
func (d *document) add(p *plan.Plan, results []plan.Result) {
	all, tasks := map[[2]string]Passed{}, map[string]plan.Task{}
	for _, passed := range d.Passed {
		all[passed.id()] = passed
	}
	for _, t := range p.Tasks {
		tasks[t.ID] = t
	}
	for _, r := range results {
		t, ok := tasks[r.Task]
		if !ok {
			continue
		}
		ended := Passed{Integration: t.Integration, Shard: t.Label(), Command: t.Command, Inputs: t.Inputs}
		delete(all, ended.id())
		if r.OK() && max(len(ended.Integration), len(ended.Shard)) <= maxName {
			all[ended.id()] = ended
		}
	}
	d.Passed = slices.SortedFunc(maps.Values(all), func(a, b Passed) int {
		return cmp.Or(cmp.Compare(a.Integration, b.Integration), cmp.Compare(a.Shard, b.Shard))
	})
	d.Passed = d.Passed[:min(len(d.Passed), maxPassed)]
}
