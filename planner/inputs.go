package planner

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/app-sre/prcheck/affected"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/schemafilter"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/trace"
)

// An inputDigester computes the digests of the inputs of tasks.
type inputDigester struct {
	settings   *settings.Settings
	sides      [2]*bundle.Bundle
	comparison *affected.Comparison
	exact      bool // both bundles, to the byte, are the inputs of every task
	contents   func() [2]string
	types      func() [2]string
	ruled      map[ruleKey]string // digests of files, see filesOfRules
}

// newInputDigester returns the inputDigester of an input. Where no results are
// remembered, or live servers answer, nothing is evaluated for the inputs.
func newInputDigester(in Input, c *affected.Comparison) *inputDigester {
	return &inputDigester{
		settings: in.Settings, sides: [2]*bundle.Bundle{in.Base, in.Head}, comparison: c,
		exact:    in.Results == nil || in.BaseServer != nil || in.HeadServer != nil,
		contents: sync.OnceValue(func() [2]string { return [2]string{in.Base.ContentsSHA256(), in.Head.ContentsSHA256()} }),
		types:    sync.OnceValue(func() [2]string { return [2]string{in.Base.TypesSHA256(), in.Head.TypesSHA256()} }),
		ruled:    map[ruleKey]string{},
	}
}

// of returns a function that digests the inputs of the tasks of an integration. The
// inputs are the command and everything that a task sees of the two bundles: where
// the desired state can be told, that state, the files for which paths rules select
// the integration, its definition and all types; where it cannot, but is enforced what the task
// may ask for, all of that in place of the state; otherwise all contents.
func (d *inputDigester) of(ctx context.Context, o schemafilter.Outcome, s affected.Subject) func(plan.Task) string {
	if d.exact {
		return d.bundles
	}
	state, ok := d.comparison.VisibleState(ctx, s)
	if !ok {
		return d.withoutState(o, s)
	}
	definitions, ruled := d.rulesOf(o)
	return func(t plan.Task) string {
		return digestInputs(t, map[string]any{"states": state.Digest(t.Shard), "types": d.types(), "definition": definitions,
			"ruled": ruled})
	}
}

// withoutState is of for an integration whose desired state cannot be told: it sees all that it may ask for, where that
// is enforced, and else everything.
func (d *inputDigester) withoutState(o schemafilter.Outcome, s affected.Subject) func(plan.Task) string {
	asks, isEnforced := d.enforced(o, s)
	if !isEnforced {
		return func(t plan.Task) string { return digestInputs(t, map[string]any{"contents": d.contents()}) }
	}
	definitions, ruled := d.rulesOf(o)
	return func(t plan.Task) string {
		return digestInputs(t, map[string]any{"asks": asks, "types": d.types(), "definition": definitions, "ruled": ruled})
	}
}

// rulesOf returns the definition of an integration and the files for which paths rules select it, on both sides.
func (d *inputDigester) rulesOf(o schemafilter.Outcome) (definitions, ruled [2]string) {
	for i, b := range d.sides {
		for _, p := range o.Conclusion.Evidence.Definition {
			if f, ok := b.Datafile(bundle.Path(p)); ok {
				definitions[i] += digestFile(f)
			}
		}
		ruled[i] = d.filesOfRules(o.Name, b)
	}
	return definitions, ruled
}

// bundles returns the digest of a task's inputs when it sees both bundles as they
// are, to the byte.
func (d *inputDigester) bundles(t plan.Task) string {
	return digestInputs(t, map[string]any{"bundles": [2]string{d.sides[0].SHA256(), d.sides[1].SHA256()}})
}

// filesOfRules digests the files of a bundle for which paths rules select an
// integration; "" when there are no such rules. There may be many files, so each
// rule is looked at once.
func (d *inputDigester) filesOfRules(name string, b *bundle.Bundle) string {
	out := ""
	for i, rule := range d.settings.Rules {
		if !rule.Runs(name) {
			continue
		}
		key := ruleKey{i, b}
		digest, known := d.ruled[key]
		if !known {
			digest = filesOfRule(rule, b)
			d.ruled[key] = digest
		}
		out += digest
	}
	return out
}

// A ruleKey is a paths rule by its index, and a bundle.
type ruleKey struct {
	rule int
	in   *bundle.Bundle
}

// filesOfRule digests the files of a bundle that a paths rule covers.
func filesOfRule(rule settings.Rule, b *bundle.Bundle) string {
	all := sha256.New()
	add := func(folder string, files []*bundle.File) {
		for _, f := range files {
			if _, ok := rule.Match(folder + string(f.Path)); ok {
				_, _ = fmt.Fprintln(all, folder, digestFile(f)) // a hash never fails
			}
		}
	}
	add("data", b.Datafiles())
	add("resources", b.Resources())
	return fmt.Sprintf("%x", all.Sum(nil))
}

// digestFile digests a file with its path.
func digestFile(f *bundle.File) string {
	return fmt.Sprintf("%q %x", f.Path, sha256.Sum256(f.Raw()))
}

// digestInputs digests everything that decides what a task does: its command, the
// part of the bundles that it sees, and the version of the engine that answers it.
func digestInputs(t plan.Task, sees any) string {
	raw, err := json.Marshal(map[string]any{"engine": trace.Version, "command": t.Command, "integration": t.Integration,
		"shard": t.Shard, "sees": sees})
	if err != nil { // strings and lists of strings always encode
		raw = []byte(err.Error())
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(raw))
}
