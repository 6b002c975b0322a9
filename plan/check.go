package plan

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Decision returns the decision about the named integration.
func (p *Plan) Decision(name string) (Decision, bool) {
	for _, d := range p.Integrations {
		if d.Name == name {
			return d, true
		}
	}
	return Decision{}, false
}

// Task returns the task with this id.
func (p *Plan) Task(id string) (Task, bool) {
	for _, t := range p.Tasks {
		if t.ID == id {
			return t, true
		}
	}
	return Task{}, false
}

// Reused returns how many tasks the plan leaves out because they passed with the same inputs.
func (p *Plan) Reused() int {
	n := 0
	for _, d := range p.Integrations {
		n += d.Evidence.Reused
	}
	return n
}

// check returns an error for a plan that breaks a rule of the package comment.
func (p *Plan) check() error {
	tasks := make(map[string]Task, len(p.Tasks))
	for i, t := range p.Tasks {
		if t.ID == "" {
			return fmt.Errorf("tasks[%d]: the id is empty; give every task one", i)
		}
		if _, twice := tasks[t.ID]; twice {
			return fmt.Errorf("tasks[%d]: the id %q is taken; ids must be unique", i, t.ID)
		}
		if err := t.check(); err != nil {
			return fmt.Errorf("task %q: %w", t.ID, err)
		}
		tasks[t.ID] = t
	}
	for kind, label := range p.Require {
		if !kind.IsValid() || label == "" {
			return fmt.Errorf("require: %q needs the label %q; a kind is create, change, delete or other, and a label is "+
				"not empty", kind, label)
		}
	}
	listed := make(map[string]bool, len(p.Tasks))
	for i, d := range p.Integrations {
		if i > 0 && d.Name <= p.Integrations[i-1].Name {
			return fmt.Errorf("integrations[%d]: %q follows %q; every integration stands there once, in name order",
				i, d.Name, p.Integrations[i-1].Name)
		}
		if err := d.check(tasks, listed); err != nil {
			return fmt.Errorf("integration %q: %w", d.Name, err)
		}
	}
	for _, t := range p.Tasks {
		if !listed[t.ID] {
			return fmt.Errorf("task %q: no decision for integration %q lists it", t.ID, t.Integration)
		}
	}
	return p.MergeRequest.check(p.Reused())
}

// check checks one decision and marks its tasks as listed.
func (d Decision) check(tasks map[string]Task, listed map[string]bool) error {
	switch {
	case d.Name == "":
		return errors.New("the name is empty")
	case !slices.Contains([]Action{Run, Shards, Skip}, d.Decision):
		return fmt.Errorf("the decision is %q; it must be run, shards or skip", d.Decision)
	case !slices.Contains(Rungs(), d.Rung):
		return fmt.Errorf("the rung is %q; it must be one of %q", d.Rung, Rungs())
	case d.Reason == "":
		return errors.New("there is no reason; every decision needs one")
	case d.Decision == Skip && len(d.Tasks) > 0:
		return fmt.Errorf("it is skipped but has the task %q", d.Tasks[0])
	case d.Decision != Skip && len(d.Tasks) == 0:
		return fmt.Errorf("the decision is %q but there is no task; add one, or a blocked one", d.Decision)
	}
	for _, id := range d.Tasks {
		t, ok := tasks[id]
		switch {
		case !ok:
			return fmt.Errorf("its task %q does not exist", id)
		case t.Integration != d.Name:
			return fmt.Errorf("its task %q belongs to integration %q", id, t.Integration)
		case listed[id]:
			return fmt.Errorf("its task %q is listed twice", id)
		}
		listed[id] = true
	}
	return nil
}

// check checks one task alone.
func (t Task) check() error {
	limit, err := time.ParseDuration(t.Timeout)
	switch {
	case err != nil:
		return fmt.Errorf("the timeout %q is not a duration; write it like 10m0s", t.Timeout)
	case limit <= 0:
		return fmt.Errorf("the timeout %q is not positive", t.Timeout)
	case len(t.Argv) == 0 && !t.Native && t.Blocked == "":
		return errors.New("argv is empty; only native and blocked tasks have no command")
	case len(t.Argv) > 0 && t.Argv[0] == "":
		return errors.New("argv names no program: its first element is empty")
	}
	return nil
}
