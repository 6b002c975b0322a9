package threeway_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/threeway"
)

// Whatever the bodies and the rules are: a plan is made, it is always the same, and once it is
// carried out by a service that just stores what it gets, nothing is left to do.
func FuzzMake(f *testing.F) {
	for _, seed := range [][4]string{
		{`{"a": 1}`, `{"a": 2, "l": [{"n": "a"}]}`, `{"a": 1, "l": [{"n": "b"}]}`,
			`[{"at": "/l", "list": "map", "keys": ["n"]}]`},
		{`{"s": ["a"]}`, `{"s": []}`, `{"s": ["a", "b"]}`, `[{"at": "/s", "list": "set", "exclusive": true}]`},
		{`{}`, `{"o": null, "d": 1}`, `{"o": {"x": {"y": []}}}`,
			`[{"at": "/d", "default": 1}, {"at": "/o", "atomic": true}]`},
		{`{"k": {"t": "a"}}`, `{"k": {"t": "b"}}`, `{"k": {"t": "a", "z": 1}}`, `[{"at": "/k", "discriminator": "t"}]`},
		{`{"p": {"$hmac": "x"}}`, `{"p": "y"}`, `{}`,
			`[{"at": "/p", "writeOnly": true}, {"at": "/*", "secret": true, "volatile": true}]`},
		{`null`, `{"l": [[{"a": 1}]]}`, `{"l": [[{"a": 1, "b": 2}]]}`, `[{"at": "/l/*", "list": "map", "keys": ["a"]}]`},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	f.Fuzz(func(t *testing.T, applied, desired, live, table string) {
		var values [3]any
		for i, text := range []string{applied, desired, live} {
			var err error
			if values[i], err = body.Parse([]byte(text)); err != nil {
				return
			}
		}
		var r rules.Table
		if json.Unmarshal([]byte(table), &r) != nil {
			return
		}
		in := threeway.Input{Applied: values[0], Desired: values[1], Live: values[2], WasApplied: values[0] != nil,
			IsThere: true, Rules: rules.Cached(r), Key: key}
		if wrong := holds(in, isOdd(r), threeway.Make); wrong != "" {
			t.Error(wrong)
		}
	})
}

// holds returns what is wrong with the plan that a maker makes of an input.
func holds(in threeway.Input, isOdd bool, make maker) string {
	bodies := []any{in.Applied, in.Desired, in.Live}
	before := body.Canonical(bodies)
	p := make(in)
	if body.Canonical(bodies) != before {
		return "the input changed"
	}
	if again := make(in); describe(again) != describe(p) {
		return fmt.Sprintf("first %s, then %s", p, again)
	}
	_, isObject := in.Desired.(object)
	_, isOther := in.Live.(object)
	if p.Action != threeway.Update || isOdd || !isObject || !isOther {
		return ""
	}
	after := next(in, p.PutBody)
	if again := make(after); len(again.Changes) > 0 {
		return fmt.Sprintf("%s; then %s", p, again)
	}
	after.Live = body.Merge(in.Live, p.MergePatch)
	if again := make(after); len(again.Changes) > 0 {
		return fmt.Sprintf("%s; then, with a merge patch, %s", p, again)
	}
	return ""
}

// The same on random rules and bodies of few names, in which everything meets everything.
func TestAnyRules(t *testing.T) {
	for i := range *steps * 4 {
		in, r := newWorld(*seed + uint64(i)).odd()
		if wrong := holds(in, false, threeway.Make); wrong != "" {
			t.Fatalf("seed %d: %+v\n%s\n%s\n%s\n%s", *seed+uint64(i), r, body.Text(in.Applied), body.Text(in.Desired),
				body.Text(in.Live), wrong)
		}
	}
}

// Makers with a mistake are caught.
func TestAnyRulesCatchMutants(t *testing.T) {
	for name, mutant := range map[string]maker{
		"it forgets one value of PUT": func(in threeway.Input) *threeway.Plan {
			p := threeway.Make(in)
			if to, ok := p.PutBody.(object); ok {
				p.PutBody = body.Merge(to, object{"b": nil})
			}
			return p
		},
		"it forgets one value of the merge patch": func(in threeway.Input) *threeway.Plan {
			p := threeway.Make(in)
			delete(p.MergePatch, "a")
			return p
		},
		"it writes into the data": func(in threeway.Input) *threeway.Plan {
			p := threeway.Make(in)
			if desired, ok := in.Desired.(object); ok && p.Action == threeway.Update {
				desired["b"] = "written"
			}
			return p
		},
		"it does not see the service's lists": func(in threeway.Input) *threeway.Plan {
			if live, ok := in.Live.(object); ok {
				if _, isList := live["a"].([]any); isList {
					in.Live = body.Merge(live, object{"a": nil})
				}
			}
			return threeway.Make(in)
		},
	} {
		isCaught := false
		for i := 0; i < 2000 && !isCaught; i++ {
			in, _ := newWorld(uint64(i)).odd()
			isCaught = holds(in, false, mutant) != ""
		}
		if !isCaught {
			t.Errorf("%s, and nothing tells", name)
		}
	}
}

// odd returns random bodies, and rules that need not fit them.
func (w world) odd() (threeway.Input, rules.Table) {
	var r rules.Table
	for range w.IntN(5) {
		r = append(r, w.rule())
	}
	applied, desired, live := w.any(3), w.any(3), w.any(3)
	in := threeway.Input{Applied: applied, Desired: desired, Live: live, WasApplied: w.is(80), IsThere: true,
		Rules: rules.Cached(r), Key: key}
	if w.is(50) {
		in.Live = w.mix(in.Applied, in.Live, 30)
	}
	return in, r
}

// rule returns a rule of a random place.
func (w world) rule() rules.Entry {
	e := rules.Entry{}
	for range 1 + w.IntN(3) {
		e.At += "/" + pick(w, "a", "b", "*")
	}
	e.Rule = pick(w, rules.Rule{List: "map", Keys: []string{"a"}}, rules.Rule{List: "map", Keys: []string{"a", "b"},
		Exclusive: true},
		rules.Rule{List: "set"}, rules.Rule{List: "set", Exclusive: true}, rules.Rule{Atomic: true}, rules.Rule{Ignore: true},
		rules.Rule{ReadOnly: true}, rules.Rule{WriteOnly: true}, rules.Rule{Secret: true}, rules.Rule{Masked: true},
		rules.Rule{Volatile: true},
		rules.Rule{CreateOnly: rules.Inferred}, rules.Rule{CreateOnly: rules.Declared, FreeToSet: true, FreeToUnset: true},
		rules.Rule{Default: "x", Applies: true}, rules.Rule{Default: object{"a": "x"}, Applies: true},
		rules.Rule{Format: body.EnumFold}, rules.Rule{Discriminator: "a"},
		rules.Rule{Discriminator: "a", Variants: map[string][]string{"x": {"a"}, "X": {"a", "b"}}})
	return e
}

// any returns a random value of few names.
func (w world) any(depth int) any {
	kind := w.IntN(10)
	if depth == 3 {
		kind = 0
	}
	switch {
	case kind < 3 && depth > 0:
		return w.some(60, map[string]func() any{"a": func() any {
			return w.any(depth - 1)
		}, "b": func() any { return w.any(depth - 1) }})
	case kind < 5 && depth > 0:
		out := []any{}
		for range w.IntN(3) {
			out = append(out, w.any(depth-1))
		}
		return out
	case kind == 5:
		return nil
	}
	return pick[any](w, "x", "X", "", json.Number("1"), json.Number("1.0"), true, false)
}

// isOdd reports whether rules say that a plan never settles: a secret that always changes.
func isOdd(r rules.Table) bool {
	for _, e := range r {
		if e.Rule.Changed {
			return true
		}
	}
	return false
}
