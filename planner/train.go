package planner

import (
	"cmp"
	"slices"
	"sync"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/schemafilter"
	"github.com/app-sre/prcheck/state/trains"
)

// A train follows what becomes of the results of the own pipeline of a merge request in the plan
// of its merge train. It only reads what the rung result decided.
type train struct {
	Input
	own      *trains.Pipeline      // nil if nothing is to be told
	tasks    map[taskKey]plan.Task // of the plan, and those that the rung result left out
	leftOut  map[taskKey]bool      // the latter
	outcomes map[string]schemafilter.Outcome
	unnamed  []plan.Reused          // tasks that passed before and that no evidence names, outside of a train
	files    func() []bundle.Path   // that others changed
	commits  map[bundle.Path]string // that changed them, as far as somebody asked
}

// A taskKey identifies a task in plans of different changes.
type taskKey struct{ integration, label string }

func newTrain(in Input) *train {
	t := &train{Input: in, tasks: map[taskKey]plan.Task{}, leftOut: map[taskKey]bool{},
		outcomes: map[string]schemafilter.Outcome{}, commits: map[bundle.Path]string{}}
	if in.MergeRequest != nil && in.MergeRequest.InTrain {
		t.own = in.Own
	}
	if in.Others != nil {
		t.files = sync.OnceValue(in.Others.Files)
	}
	return t
}

// note notes which tasks of an integration run and which were left out because they passed.
func (t *train) note(o schemafilter.Outcome, r reuse) {
	if t.MergeRequest != nil && !t.MergeRequest.InTrain && len(r.passed) > 0 {
		for _, e := range r.passed[len(r.named()):] {
			t.unnamed = append(t.unnamed, plan.Reused{Integration: o.Name, Shard: e.Shard, Inputs: e.Inputs})
		}
	}
	if t.own == nil {
		return
	}
	t.outcomes[o.Name] = o
	for _, e := range r.passed {
		key := taskKey{o.Name, e.Shard}
		t.tasks[key], t.leftOut[key] = plan.Task{Inputs: e.Inputs}, true
	}
	for _, u := range r.left {
		t.tasks[taskKey{o.Name, u.task.Label()}] = u.task
	}
}

// mergeRequest returns what the plan says about its merge request, once all integrations were
// noted.
func (t *train) mergeRequest(p *plan.Plan) *plan.MergeRequest {
	if t.MergeRequest == nil {
		return nil
	}
	out := *t.MergeRequest
	out.Train, out.Reused = nil, t.unnamed
	if t.own == nil {
		return &out
	}
	rungs := map[string]plan.Rung{}
	for _, d := range p.Integrations {
		rungs[d.Name] = d.Rung
	}
	out.Train = &plan.Train{Own: t.own.Digest(), Results: len(t.own.Passed)}
	for _, passed := range t.own.Passed {
		key := taskKey{passed.Integration, passed.Shard}
		if t.leftOut[key] && t.tasks[key].Inputs == passed.Inputs {
			out.Train.Hold++
			continue
		}
		out.Train.Add(passed.Integration, passed.Shard, func() plan.Reason {
			return t.whyMoved(passed, cmp.Or(rungs[passed.Integration], plan.RungDefinition))
		})
	}
	return &out
}

// whyMoved returns why a result does not hold. The rung is the one that decided about its
// integration.
func (t *train) whyMoved(passed trains.Passed, rung plan.Rung) plan.Reason {
	now, isTask := t.tasks[taskKey{passed.Integration, passed.Shard}]
	switch {
	case !isTask:
		return plan.Reason{Code: plan.CodeNotNeeded, Names: []string{string(rung)}}
	case now.Inputs == passed.Inputs:
		return plan.Reason{Code: plan.CodeOldResult}
	case now.Command != "" && passed.Command != "" && now.Command != passed.Command:
		return plan.Reason{Code: plan.CodeOtherCommand}
	case t.MergeRequest.Commit != "" && t.own.Commit != "" && t.MergeRequest.Commit != t.own.Commit:
		return plan.Reason{Code: plan.CodeOwnCommits}
	}
	if files := t.othersFiles(t.outcomes[passed.Integration]); len(files) > 0 {
		return plan.Reason{Code: plan.CodeOthersFiles, Names: files}
	}
	return plan.Reason{Code: plan.CodeOthersChanged}
}

// othersFiles returns the datafiles that other changes changed since the own pipeline, and that an
// integration may read, the first one with its commit. A file that is on neither side now is left
// out: its schema is not known.
func (t *train) othersFiles(o schemafilter.Outcome) []string {
	if t.files == nil {
		return nil
	}
	var out []string
	for _, path := range t.files() {
		f, ok := t.Base.Datafile(path)
		if !ok {
			f, ok = t.Head.Datafile(path)
		}
		if !ok || !o.Use.Allows(f.Schema) {
			continue
		}
		name := string(path)
		if len(out) == 0 {
			name += t.inCommit(path)
		}
		out = append(out, name)
	}
	return out
}

// inCommit names the commit that changed a file in parentheses; "" if it is not known.
func (t *train) inCommit(path bundle.Path) string {
	commit, isKnown := t.commits[path]
	if !isKnown {
		commit = t.Others.Commit(path)
		t.commits[path] = commit
	}
	if commit == "" {
		return ""
	}
	return " (commit " + commit + ")"
}

// refute returns why what a plan says about its merge train is not true; "" if it is, or if
// something else is remembered of the own pipeline by now. All integrations of the plan were noted,
// and what passed before is what the plan says.
func (t *train) refute(p *plan.Plan) string {
	now := t.mergeRequest(p)
	if p.MergeRequest == nil || p.MergeRequest.Train == nil || now == nil || now.Train == nil ||
		p.MergeRequest.Train.Own != now.Train.Own {
		return ""
	}
	if !isSameJSON(withoutFiles(*p.MergeRequest.Train), withoutFiles(*now.Train)) {
		return "what it says about the results of the merge request's own pipeline is not what these bundles and results give"
	}
	return ""
}

// withoutFiles returns what does not depend on which commits a clone has.
func withoutFiles(t plan.Train) plan.Train {
	t.Moved = slices.Clone(t.Moved)
	for i, m := range t.Moved {
		if m.Code == plan.CodeOthersFiles || m.Code == plan.CodeOthersChanged {
			t.Moved[i].Code, t.Moved[i].Reason = plan.CodeOthersChanged, ""
		}
	}
	return t
}
