package planner

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"

	"github.com/app-sre/prcheck/affected"
	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/schemafilter"
	"github.com/app-sre/prcheck/trace"
)

// maxPassed bounds how many tasks evidence names.
const maxPassed = 20

// reuse gives the tasks of an integration their inputs and leaves out those that
// passed with the same not long ago.
func (m *maker) reuse(ctx context.Context, o schemafilter.Outcome, s affected.Subject, d *plan.Decision, tasks []plan.Task) []plan.Task {
	if len(tasks) == 0 {
		return nil // nothing is evaluated for what does not run
	}
	var left []plan.Task
	var passed []plan.Earlier
	sees := m.sees(ctx, o, s)
	for _, t := range tasks {
		t.Inputs = inputs(t, sees(t.Shard))
		if p, ok := m.passed(ctx, o, t); ok {
			passed = append(passed, p)
			continue
		}
		left = append(left, t)
	}
	if len(passed) == 0 {
		return left
	}
	d.Evidence.Reused, d.Evidence.Passed = len(passed), passed[:min(len(passed), maxPassed)]
	first := passed[0].Began
	for _, p := range passed {
		if p.Began.Before(first) {
			first = p.Began
		}
	}
	at := first.UTC().Format("2006-01-02 15:04 UTC")
	switch {
	case len(left) > 0:
		d.Reason += fmt.Sprintf("; %d of its %d tasks passed with the same inputs and do not run again", len(passed), len(tasks))
		return left
	case len(passed) == 1:
		d.Reason += "; its task passed with the same inputs, " + at
	default:
		d.Reason += fmt.Sprintf("; each of its %d tasks passed with the same inputs, the first %s", len(passed), at)
	}
	d.Decision, d.Rung = plan.Skip, plan.RungResult
	return nil
}

// passed tells whether a task need not run, since it passed with the same inputs.
// What always runs, what may do something else although its inputs are the same
// (head edits its programs, its command has a value that no plan knows, it is part
// of this program, of which there are many versions) and what cannot start does.
func (m *maker) passed(ctx context.Context, o schemafilter.Outcome, t plan.Task) (plan.Earlier, bool) {
	within := m.Settings.For(o.Name).Reuse
	always := o.Use.Check == nil || o.Use.Check.AlwaysRun
	if m.Results == nil || within <= 0 || always || t.Native || t.Blocked != "" ||
		len(o.Decision.Evidence.Edited) > 0 || m.unknown(t) != "" {
		return plan.Earlier{}, false
	}
	if m.anyAge {
		within = math.MaxInt64
	}
	began, ok := m.Results.Passed(ctx, t, within)
	return plan.Earlier{Shard: t.Label(), Inputs: t.Inputs, Began: began}, ok
}

// sees returns what the tasks of an integration see of the two bundles, for each
// shard: without a memory of results both as they are; with one, no more than
// counts. That is its desired states, with the files for which paths rules run it,
// its definition and all types, where the desired states can be told, and otherwise
// all contents.
func (m *maker) sees(ctx context.Context, o schemafilter.Outcome, s affected.Subject) func(shard string) any {
	if m.Results == nil || m.BaseServer != nil || m.HeadServer != nil {
		return func(string) any { return m.bundles() }
	}
	seen, ok := m.world.See(ctx, s)
	if !ok {
		return func(string) any { return map[string]any{"contents": m.contents()} }
	}
	sides := [2]*bundle.Bundle{m.Base, m.Head}
	var definitions, ruled [2]string
	for i, b := range sides {
		for _, p := range o.Decision.Evidence.Definition {
			if f, ok := b.Datafile(bundle.Path(p)); ok {
				definitions[i] += sum(f)
			}
		}
		ruled[i] = m.ruled(o.Name, b)
	}
	return func(shard string) any {
		return map[string]any{"states": seen.From(shard), "types": m.types(), "definition": definitions, "ruled": ruled}
	}
}

// bundles are both of them as they are, to the byte.
func (m *maker) bundles() any {
	return map[string]any{"bundles": [2]string{m.Base.SHA256(), m.Head.SHA256()}}
}

// ruled digests the files of a bundle for which paths rules run an integration, ""
// when there are no such rules. There may be many files, so each rule is looked at
// once.
func (m *maker) ruled(name string, b *bundle.Bundle) string {
	out := ""
	for i, rule := range m.Settings.Rules {
		if !rule.Runs(name) {
			continue
		}
		at := ruledKey{i, b}
		digest, known := m.covered[at]
		if !known {
			digest = covered(rule, b)
			m.covered[at] = digest
		}
		out += digest
	}
	return out
}

// A ruledKey is a paths rule by its index, and a bundle.
type ruledKey struct {
	rule int
	in   *bundle.Bundle
}

// covered digests the files of a bundle that a paths rule covers.
func covered(rule integration.Rule, b *bundle.Bundle) string {
	all := sha256.New()
	add := func(folder string, files []*bundle.File) {
		for _, f := range files {
			if _, ok := rule.Match(folder + string(f.Path)); ok {
				_, _ = fmt.Fprintln(all, folder, sum(f)) // a hash never fails
			}
		}
	}
	add("data", b.Datafiles())
	add("resources", b.Resources())
	return fmt.Sprintf("%x", all.Sum(nil))
}

// sum digests a file with its path.
func sum(f *bundle.File) string {
	return fmt.Sprintf("%q %x", f.Path, sha256.Sum256(f.Raw()))
}

// inputs digests all that decides what a task does: how it is started, what it sees,
// and which engine answers it.
func inputs(t plan.Task, sees any) string {
	raw, err := json.Marshal(map[string]any{"engine": trace.Version, "command": t.Command, "integration": t.Integration, "shard": t.Shard, "sees": sees})
	if err != nil { // strings and lists of strings always encode
		raw = []byte(err.Error())
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(raw))
}
