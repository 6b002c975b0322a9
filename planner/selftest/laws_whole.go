package selftest

import (
	"context"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/planner/rules"
	"github.com/app-sre/prcheck/qontract/bundle"
)

// checkWhole looks at the real plan: with traces, earlier results and edits of rules.
func checkWhole(ctx context.Context, t *tester, base, head *bundle.Bundle) (finding, error) {
	in := t.in
	in.Base, in.Head = base, head
	p, err := t.Make(ctx, in)
	if err != nil {
		return finding{}, &unplannedError{err}
	}
	broken := func(name, what string) (finding, error) {
		return finding{checked: 1, broken: &Counterexample{Integration: name, What: what}}, nil
	}
	missing, disabled, err := t.defined(base, head)
	if err != nil {
		return finding{}, err
	}
	owner := map[string]string{}
	for _, d := range p.Integrations {
		if !missing[d.Name] {
			return broken(d.Name, "the plan decides about it twice, or no side defines it")
		}
		delete(missing, d.Name)
		if selects(d) != (len(d.Tasks) > 0) {
			return broken(d.Name, fmt.Sprintf("%s, and it has %d tasks", describe(d), len(d.Tasks)))
		}
		if disabled[d.Name] && selects(d) {
			return broken(d.Name, "it is disabled on both sides: "+describe(d))
		}
		for _, id := range d.Tasks {
			owner[id] = d.Name
		}
	}
	for name := range missing {
		return broken(name, "the plan says nothing about it")
	}
	for _, task := range p.Tasks {
		if owner[task.ID] != task.Integration {
			return broken(task.Integration, fmt.Sprintf("no decision lists its task %q, or two tasks have this id", task.ID))
		}
		delete(owner, task.ID)
	}
	for id, name := range owner {
		return broken(name, fmt.Sprintf("the plan lacks its task %q", id))
	}
	return finding{checked: len(p.Integrations)}, nil
}

// checkProof lets the second implementation replay the real plan: with traces, earlier results, and the
// files on which these rest.
func checkProof(ctx context.Context, t *tester, base, head *bundle.Bundle) (finding, error) {
	in := t.in
	in.Base, in.Head = base, head
	p, err := t.Make(ctx, in)
	if err != nil {
		return finding{}, &unplannedError{err}
	}
	r, err := planner.Verify(ctx, in, p)
	if err != nil {
		return finding{}, &unplannedError{err}
	}
	if len(r.Refuted) > 0 {
		return finding{checked: 1, broken: &Counterexample{Integration: r.Refuted[0].Integration, What: r.Refuted[0].Why}},
			nil
	}
	return finding{checked: len(p.Integrations)}, nil
}

// defined returns the integrations of either side, and those that neither side lets run.
func (t *tester) defined(base, head *bundle.Bundle) (all, disabled map[string]bool, err error) {
	all, disabled = map[string]bool{}, map[string]bool{}
	for _, b := range []*bundle.Bundle{base, head} {
		definitions, err := integration.List(b, t.in.Settings)
		if err != nil {
			return nil, nil, err
		}
		for _, d := range definitions {
			off := d.Check == nil || d.Check.Disabled
			disabled[d.Name] = off && (disabled[d.Name] || !all[d.Name])
			all[d.Name] = true
		}
	}
	return all, disabled, nil
}

// checkShards compares the tasks of a plan with those of a plan in which everything runs in
// full.
func checkShards(ctx context.Context, t *tester, base, head *bundle.Bundle) (finding, error) {
	var f finding
	in := t.plain(base, head)
	p, err := t.Make(ctx, in)
	if err != nil {
		return f, &unplannedError{err}
	}
	in.Edits = rules.Edits{Of: func(string) []string { return []string{"everything runs in full"} }}
	full, err := t.Make(ctx, in)
	if err != nil {
		return f, &unplannedError{err}
	}
	whole := tasksByName(full)
	for _, d := range full.Integrations {
		tasks := whole[d.Name]
		if len(tasks) < 2 {
			continue
		}
		f.checked++
		what := overlap(tasks)
		if got, _ := p.Decision(d.Name); what == "" {
			what = t.outside(got, tasksByName(p)[d.Name], tasks)
		}
		if what != "" {
			f.broken = &Counterexample{Integration: d.Name, What: what}
			return f, nil
		}
	}
	if f.checked == 0 {
		f.why = "no integration is divided into several tasks"
	}
	return f, nil
}

func tasksByName(p *plan.Plan) map[string][]plan.Task {
	out := map[string][]plan.Task{}
	for _, task := range p.Tasks {
		out[task.Integration] = append(out[task.Integration], task)
	}
	return out
}

// overlap returns why the tasks of a full run overlap or leave a static shard out, or "".
func overlap(tasks []plan.Task) string {
	seen, parts := map[string]bool{}, map[string]map[plan.Fraction]bool{}
	for _, task := range tasks {
		if seen[task.Label()] {
			return fmt.Sprintf("a full run has two tasks for the shard %q", task.Label())
		}
		seen[task.Label()] = true
		if task.Static != (plan.Fraction{}) {
			if parts[task.Shard] == nil {
				parts[task.Shard] = map[plan.Fraction]bool{}
			}
			parts[task.Shard][task.Static] = true
		}
	}
	for shard, have := range parts {
		for static := range have {
			for i := range static.Of {
				if want := (plan.Fraction{Part: i + 1, Of: static.Of}); !have[want] {
					return fmt.Sprintf("a full run lacks the static shard %s of the shard %q", want, shard)
				}
			}
		}
	}
	return ""
}

// outside returns why the tasks of a decision are not tasks of a full run, or "".
func (t *tester) outside(d plan.Decision, tasks, full []plan.Task) string {
	if d.Decision == plan.Run && len(tasks) != len(full) {
		return fmt.Sprintf("it runs in full with %d tasks, and a full run has %d", len(tasks), len(full))
	}
	for _, task := range tasks {
		isTask := func(f plan.Task) bool { return f.Label() == task.Label() && slices.Equal(f.Argv, task.Argv) }
		if !slices.ContainsFunc(full, isTask) {
			return fmt.Sprintf("no task of a full run is that of the shard %q", task.Label())
		}
	}
	return ""
}

// checkParts divides the real plan into several numbers of parts.
func checkParts(ctx context.Context, t *tester, base, head *bundle.Bundle) (finding, error) {
	in := t.in
	in.Base, in.Head = base, head
	p, err := t.Make(ctx, in)
	if err != nil {
		return finding{}, &unplannedError{err}
	}
	if len(p.Tasks) == 0 {
		return finding{why: "the plan has no tasks"}, nil
	}
	var f finding
	for _, n := range []int{1, 2, 3, 7, len(p.Tasks) + 1} {
		f.checked++
		times := map[string]int{}
		for _, part := range t.Partition(p.Tasks, n) {
			for _, task := range part.Tasks {
				times[task.ID]++
			}
		}
		for _, task := range p.Tasks {
			if times[task.ID] != 1 {
				f.broken = &Counterexample{Integration: task.Integration, What: fmt.Sprintf("of %d parts, %d have the task %q", n,
					times[task.ID], task.ID)}
				return f, nil
			}
		}
	}
	return f, nil
}
