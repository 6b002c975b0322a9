package queue

import "slices"

// A RunState says how the run of a task for one pair stands. The zero value is that it did not start.
type RunState int

// The states of a run.
const (
	NotStarted RunState = iota
	Started
	RunPassed // at its first attempt
	RunFailed
)

// A Influence is what another request changed of what a task sees.
type Influence struct {
	Request string   `json:"request"`
	Files   []string `json:"files,omitempty"`
}

// A PlannedTask is a task of the plan for a pair.
type PlannedTask struct {
	Name   string
	Inputs string      // digest of all that it sees
	Result *Result     // what is remembered of it; nil is nothing
	Run    RunState    // of its run for this very pair
	With   []Influence // what differs from its own pipeline
	Chance float64     // that it passes, by its history; 0 is that nobody knows
	Cost   float64     // in machine minutes
}

// count says whether the task need not run.
func (t PlannedTask) count() Verdict {
	switch {
	case t.Run == RunPassed:
		return Counts
	case t.Result == nil:
		return NoResult
	}
	return t.Result.Verdict()
}

// A Proof is what was found out about a request that is rebased on a base. The zero value proves nothing.
type Proof struct {
	Pair        Pair
	Tree        string   // of the rebased head: this is what is proven
	Unknown     []string // why it could not be made
	Conflicts   []string // with which requests or files git cannot rebase it
	IsEmpty     bool     // the base has all of it
	IsValidated bool     // all of the tree was validated, or what differs and all that this can break
	Faults      []string
	IsPlanned   bool // by the rules of the base, from the beginning
	Tasks       []PlannedTask
	Unapproved  []string // places that nobody approved who may by the rules of the base
	Labels      []string // that the request needs for what its tasks announce, and does not have
}

// A Decision is what a proof says about its pair.
type Decision struct {
	Pair       Pair        `json:"pair"`
	State      State       `json:"state"`
	Reason     Reason      `json:"reason"`
	Tree       string      `json:"tree,omitempty"`
	Holding    []string    `json:"holding,omitempty"`    // tasks
	Delta      []string    `json:"delta,omitempty"`      // tasks that have to run
	Influences []Influence `json:"influences,omitempty"` // what makes them run, or fail
}

// Decide decides about a pair from its proof. Every doubt keeps the request back or runs a task.
func (p Proof) Decide(asked Pair) Decision {
	out := Decision{Pair: asked, Tree: p.Tree}
	isMade := p.Pair == asked && asked.Head != "" && asked.Base != "" && len(p.Unknown) == 0
	switch {
	case !isMade && p.Pair.Head != "" && p.Pair.Head != asked.Head:
		out.State, out.Reason = Unknown, because(Moved)
	case !isMade:
		out.State, out.Reason = Unknown, because(NotProven, p.Unknown...)
	case len(p.Conflicts) > 0:
		out.State, out.Reason = Conflict, because(TextConflict, p.Conflicts...)
	case p.Tree == "":
		out.State, out.Reason = Unknown, because(NotProven, "no tree was made")
	case p.IsEmpty:
		out.State, out.Reason = NothingLeft, because(AlreadyThere)
	case len(p.Faults) > 0:
		out.State, out.Reason = Invalid, because(NotValid, p.Faults...)
	case !p.IsValidated || !p.IsPlanned:
		out.State, out.Reason = Unknown, because(NotProven, "it was not validated and planned")
	case len(p.Unapproved) > 0:
		out.State, out.Reason = Waiting, because(NotApproved, p.Unapproved...)
	default:
		p.decideTasks(&out)
	}
	return out
}

// decideTasks decides by the tasks of the plan.
func (p Proof) decideTasks(out *Decision) {
	var failed, running, byTag []string
	for _, t := range p.Tasks {
		count := t.count()
		switch {
		case t.Run == RunFailed:
			failed = append(failed, t.Name)
		case t.Run == Started:
			running = append(running, t.Name)
		case count == CountsByTag:
			byTag = append(byTag, t.Name)
			continue
		case count == Counts:
			out.Holding = append(out.Holding, t.Name)
			continue
		}
		out.Delta = append(out.Delta, t.Name)
		out.Influences = addInfluences(out.Influences, t.With)
	}
	slices.Sort(out.Delta)
	slices.Sort(out.Holding)
	switch {
	case len(failed) > 0:
		slices.Sort(failed)
		out.State, out.Reason, out.Influences = Red, because(DeltaFailed, failed...), p.influencesOf(failed)
	case len(out.Delta) > len(running):
		out.State, out.Reason = Delta, because(TasksToRun, out.Delta...)
	case len(running) > 0:
		out.State, out.Reason = Running, because(TasksRunning, running...)
	case len(byTag) > 0:
		out.State, out.Reason = Unknown, because(ImageByTag, byTag...)
	case len(p.Labels) > 0:
		out.State, out.Reason = Waiting, because(LabelNeeded, p.Labels...)
	case len(p.Tasks) == 0:
		out.State, out.Reason = Holds, because(NothingToRun)
	default:
		out.State, out.Reason = Holds, because(AllHold)
	}
}

// influencesOf returns what other requests changed of what some tasks see.
func (p Proof) influencesOf(tasks []string) (out []Influence) {
	for _, t := range p.Tasks {
		if slices.Contains(tasks, t.Name) {
			out = addInfluences(out, t.With)
		}
	}
	return out
}

// addInfluences adds causes, one for each request.
func addInfluences(all, more []Influence) []Influence {
	for _, c := range more {
		i := slices.IndexFunc(all, func(have Influence) bool { return have.Request == c.Request })
		if i < 0 {
			all = append(all, Influence{c.Request, slices.Clone(c.Files)})
			continue
		}
		all[i].Files = append(all[i].Files, c.Files...)
		slices.Sort(all[i].Files)
		all[i].Files = slices.Compact(all[i].Files)
	}
	return all
}

// isSameDelta reports whether the tasks that a request has to run have the very same inputs in two proofs.
func isSameDelta(before, after Proof) bool {
	was, is := before.Decide(before.Pair), after.Decide(after.Pair)
	isSame := func(a, b PlannedTask) bool { return a.Name == b.Name && a.Inputs == b.Inputs && a.Inputs != "" }
	return was.State.isOpen() && is.State.isOpen() &&
		slices.EqualFunc(before.inputsOf(was.Delta), after.inputsOf(is.Delta), isSame)
}

// inputsOf returns tasks by name.
func (p Proof) inputsOf(names []string) (out []PlannedTask) {
	for _, name := range names {
		for _, t := range p.Tasks {
			if t.Name == name {
				out = append(out, t)
			}
		}
	}
	return out
}

// chance returns the chance that all tasks of a decision pass. A task without history counts as one in two.
func (p Proof) chance(d Decision) float64 {
	out := 1.0
	for _, t := range p.inputsOf(d.Delta) {
		if t.Chance <= 0 || t.Chance > 1 {
			t.Chance = 0.5
		}
		out *= t.Chance
	}
	return out
}

// cost returns what the tasks of a decision cost that did not start.
func (p Proof) cost(d Decision) float64 {
	out := 0.0
	for _, t := range p.inputsOf(d.Delta) {
		if t.Run == NotStarted {
			out += t.Cost
		}
	}
	return out
}
