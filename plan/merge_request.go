package plan

import (
	"errors"
	"fmt"
)

// A MergeRequest is the merge request in whose pipeline a plan was made.
type MergeRequest struct {
	Name    string `json:"name"`               // such as "group/project!7"
	Commit  string `json:"commit,omitempty"`   // the last commit of its branch, "" if that is not known
	InTrain bool   `json:"in_train,omitempty"` // the pipeline is that of a merge train
	// Pipeline is the number of the pipeline: a later one has a higher number. It is 0 if it is not
	// known.
	Pipeline int64 `json:"pipeline,omitempty"`
	// Reused are the tasks that the plan leaves out because they passed before, and that the evidence
	// of their integrations does not name. A plan for a merge train has none.
	Reused []Reused `json:"reused,omitempty"`
	// Train tells which results of its own pipeline hold in its merge train. It is nil if its
	// own results are not remembered, and outside of a merge train.
	Train *Train `json:"train,omitempty"`
}

// A Reused is a task that a plan leaves out because it passed before.
type Reused struct {
	Integration string `json:"integration"`
	Shard       string `json:"shard,omitempty"` // with the number of a static shard
	Inputs      string `json:"inputs"`          // as the task would have them
}

// maxMoved bounds how many results a [Train] lists.
const maxMoved = 20

// A Train tells which results of the own pipeline of a merge request hold in its merge train.
// A result holds if the plan leaves out its task because it passed with the same inputs. This
// only counts what the rung result decided.
type Train struct {
	Own     string  `json:"own"`             // "sha256:…" of what is remembered of the own pipeline
	Results int     `json:"results"`         // tasks that passed in the own pipeline
	Hold    int     `json:"hold"`            // how many of them hold
	Moved   []Moved `json:"moved,omitempty"` // those that do not hold (at most 20)
}

// A Moved is a result that does not hold in a merge train, and why.
type Moved struct {
	Integration string `json:"integration"`
	Shard       string `json:"shard,omitempty"` // with the number of a static shard
	Code        Code   `json:"code"`            // of the reason
	Reason      string `json:"reason"`          // one sentence
}

// Name returns the name of the task of the result, for people.
func (m Moved) Name() string {
	if m.Shard == "" {
		return m.Integration
	}
	return m.Integration + "/" + m.Shard
}

// Add adds a result that does not hold, unless enough are listed. Only then why is called.
func (t *Train) Add(integration, shard string, why func() Reason) {
	if len(t.Moved) < maxMoved {
		r := why()
		t.Moved = append(t.Moved, Moved{Integration: integration, Shard: shard, Code: r.Code, Reason: r.String()})
	}
}

// String returns how many results hold, as one sentence without a full stop.
func (t *Train) String() string {
	switch {
	case t.Results == 0:
		return "the merge request's pipeline has no result that could hold in this train"
	case t.Results == 1 && t.Hold == 1:
		return "the 1 result of the merge request's pipeline holds in this train"
	case t.Results == 1:
		return "the 1 result of the merge request's pipeline does not hold in this train"
	}
	verb := "hold"
	if t.Hold == 1 {
		verb = "holds"
	}
	return fmt.Sprintf("%d of %d results of the merge request's pipeline %s in this train", t.Hold, t.Results, verb)
}

// More returns how many results do not hold and are not listed.
func (t *Train) More() int { return t.Results - t.Hold - len(t.Moved) }

// check checks what a plan says about its merge request. Reused is how many tasks the plan
// leaves out because they passed with the same inputs.
func (m *MergeRequest) check(reused int) error {
	switch {
	case m == nil:
		return nil
	case m.Name == "":
		return errors.New("merge_request: the name is empty")
	case len(m.Reused) > reused:
		return fmt.Errorf("merge_request: %d tasks are left out because they passed, but the integrations say %d",
			len(m.Reused), reused)
	case m.Train == nil:
		return nil
	case !m.InTrain:
		return errors.New("merge_request: only a merge train has results that hold in it")
	case m.Train.Hold < 0 || m.Train.More() < 0:
		return fmt.Errorf("merge_request: of %d results %d hold and %d do not", m.Train.Results, m.Train.Hold,
			len(m.Train.Moved))
	case m.Train.Hold > reused:
		return fmt.Errorf("merge_request: %d results hold, but only %d tasks are left out because they passed", m.Train.Hold,
			reused)
	}
	for _, moved := range m.Train.Moved {
		if moved.Integration == "" || moved.Reason == "" {
			return errors.New("merge_request: a result that does not hold needs an integration and a reason")
		}
	}
	return nil
}
