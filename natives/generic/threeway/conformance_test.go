package threeway_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/threeway"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// A planCase is a case of the area three_way.
type planCase struct {
	Input struct {
		Applied, Desired, Live json.RawMessage
		Rules                  rules.Table
		AllowReplace           bool
		AllowUpdate            []string
		Adopt                  string // what a resource is that was never applied
	}
	Expected map[string]json.RawMessage
}

// claims are the words of the cases for taking a resource.
var claims = map[string]reconcile.Claim{"never": reconcile.NoClaim, "if-exists": reconcile.Adopt,
	"required": reconcile.Adopt}

// taken returns what becomes of the plan for a resource without a mark that was never applied: who it belongs to
// decides before the plan does.
func (c planCase) taken(t *testing.T, p *threeway.Plan) *threeway.Plan {
	claim, isKnown := claims[c.Input.Adopt]
	if !isKnown {
		t.Fatalf("the word %q is not known", c.Input.Adopt)
	}
	changed := make([]reconcile.Change, len(p.Changes))
	made := reconcile.Make(reconcile.Input{Owner: reconcile.Owner{Integration: "generic", Caller: "c",
		Callers: []string{"c"}}, Class: reconcile.Knowing,
		Desired: []reconcile.Item{{Key: "k", Claim: claim}}, Current: []reconcile.Thing{{Key: "k"}},
		Compare: func(reconcile.Item, reconcile.Thing, reconcile.Record) (reconcile.Difference, error) {
			return reconcile.Difference{Changes: changed}, nil
		}})
	switch s := made.Steps[0]; s.Action {
	case reconcile.Blocked:
		return &threeway.Plan{Action: threeway.Blocked, Violations: []threeway.Objection{{Code: string(s.Code)}}}
	case reconcile.AdoptIt:
		return &threeway.Plan{Action: "adopt", Changes: p.Changes}
	}
	return p
}

func (c planCase) input(t testing.TB) threeway.Input {
	in := threeway.Input{
		Rules: c.Input.Rules, AllowReplace: c.Input.AllowReplace, AllowUpdate: c.Input.AllowUpdate,
		Applied: parse(t, c.Input.Applied), Desired: parse(t, c.Input.Desired), Live: parse(t, c.Input.Live),
	}
	in.WasApplied, in.IsThere = in.Applied != nil, in.Live != nil
	return in
}

func parse(t testing.TB, raw []byte) any {
	t.Helper()
	if len(raw) == 0 {
		return nil
	}
	v, err := body.Parse(raw)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

// A body for PUT has all that the data know and the service does not answer; a merge patch has it only if it changed.
func TestPutCarries(t *testing.T) {
	of := rules.Table{{At: "/s", Rule: rules.Rule{WriteOnly: true, Secret: true}},
		{At: "/o/s", Rule: rules.Rule{WriteOnly: true}},
		{At: "/l", Rule: rules.Rule{List: classes.Map, Keys: []string{"name"}}},
		{At: "/l/*/s", Rule: rules.Rule{WriteOnly: true}},
		{At: "/q/*/s", Rule: rules.Rule{WriteOnly: true}}, {At: "/i", Rule: rules.Rule{Ignore: true}},
		{At: "/i/s", Rule: rules.Rule{WriteOnly: true}}}
	for name, c := range map[string]struct{ data, live, put string }{
		"a text":                         {`{"s": "x"}`, `{}`, `{"s": "x"}`},
		"stars of the service":           {`{"s": "x"}`, `{"s": "***"}`, `{"s": "x"}`},
		"in an object that is not there": {`{"o": {"s": "x"}}`, `{}`, `{"o": {"s": "x"}}`},
		"in an object with others":       {`{"o": {"s": "x"}}`, `{"o": {"y": 1}}`, `{"o": {"s": "x", "y": 1}}`},
		"in items by their keys": {`{"l": [{"name": "a", "s": "x"}, {"name": "b"}]}`,
			`{"l": [{"name": "b"}, {"name": "c"}, {"name": "a"}]}`,
			`{"l": [{"name": "b"}, {"name": "c"}, {"name": "a", "s": "x"}]}`},
		"in items by their position": {`{"q": [{"v": 1, "s": "x"}, {"v": 2, "s": "y"}]}`, `{"q": [{"v": 1}, {"v": 2}]}`,
			`{"q": [{"v": 1, "s": "x"}, {"v": 2, "s": "y"}]}`},
		"not what is ignored":           {`{"i": {"s": "x"}}`, `{"i": {"y": 1}}`, `{"i": {"y": 1}}`},
		"not what the data do not have": {`{"o": {}}`, `{"o": {"y": 1}, "s": "***"}`, `{"o": {"y": 1}}`},
	} {
		t.Run(name, func(t *testing.T) {
			with := func(text, n string) any {
				v := parse(t, []byte(text)).(map[string]any)
				v["n"] = n
				return v
			}
			p := threeway.Make(threeway.Input{Applied: with(c.data, "1"), WasApplied: true, Desired: with(c.data, "2"),
				Live: with(c.live, "1"), IsThere: true, Rules: of})
			if got, want := body.Canonical(p.PutBody), body.Canonical(with(c.put, "2")); got != want {
				t.Errorf("PUT has %s, want %s", got, want)
			}
			if got := body.Canonical(p.MergePatch); got != `{"n":"2"}` {
				t.Errorf("the patch is %s", got)
			}
		})
	}
}

// What cannot be changed is not carried to a resource that somebody else made.
func TestPutCarriesNoCreateOnlyOfOthers(t *testing.T) {
	of := rules.Table{{At: "/s", Rule: rules.Rule{WriteOnly: true, CreateOnly: rules.Declared}}}
	for _, wasApplied := range []bool{true, false} {
		in := threeway.Input{Desired: map[string]any{"s": "x", "n": "2"}, Live: map[string]any{"n": "1"}, IsThere: true,
			Rules: of, WasApplied: wasApplied}
		if wasApplied {
			in.Applied = map[string]any{"s": "x", "n": "1"}
		}
		put, _ := threeway.Make(in).PutBody.(map[string]any)
		if _, isCarried := put["s"]; isCarried != wasApplied || put["n"] != "2" {
			t.Errorf("applied %v: PUT has %v", wasApplied, put)
		}
	}
}

// The cases about lists that are sets: two of them are equal if nothing is planned that makes one of the other. Those
// about values are held by package body.
func TestSetCases(t *testing.T) {
	shared.Each(t, "equal", func(t *testing.T, c struct {
		Input struct {
			A, B   json.RawMessage
			Format string
		}
		Expected json.RawMessage
	}) {
		if c.Input.Format != "set" {
			t.Skip("about values; package body has it")
		}
		a, b := map[string]any{"l": parse(t, c.Input.A)}, map[string]any{"l": parse(t, c.Input.B)}
		of := rules.Table{{At: "/l", Rule: rules.Rule{List: classes.Set}}}
		for _, way := range [][2]any{{a, b}, {b, a}} {
			p := threeway.Make(threeway.Input{Applied: way[0], WasApplied: true, Desired: way[0], Live: way[1], IsThere: true,
				Rules: of})
			if got := p.Action == threeway.None; got != (string(c.Expected) == "true") {
				t.Errorf("%s and %s: the plan is %s, want them equal: %s", c.Input.A, c.Input.B, p.Action, c.Expected)
			}
		}
	})
}

func TestThreeWayCases(t *testing.T) {
	shared.Each(t, "three_way", func(t *testing.T, c planCase) {
		in := c.input(t)
		p := threeway.Make(in)
		if c.Input.Adopt != "" {
			p = c.taken(t, p)
		}
		raw, err := json.Marshal(map[string]any{
			"action": p.Action, "changes": short(p.Changes), "violations": codes(p.Violations), "warnings": codes(p.Warnings),
			"merge_patch": p.MergePatch, "put_body": p.PutBody, "body": p.Body,
		})
		if err != nil {
			t.Fatal(err)
		}
		got := parse(t, raw).(map[string]any)
		for field, want := range c.Expected {
			if g, w := body.Canonical(got[field]), body.Canonical(parse(t, want)); g != w {
				t.Errorf("%s\n got %s\nwant %s", field, g, w)
			}
		}
		isUnknown := func(f threeway.Objection) bool { return f.Code == threeway.UnknownValue }
		told := slices.DeleteFunc(slices.Clone(p.Warnings), isUnknown) // they may be told in any case
		for field, none := range map[string]int{"violations": len(p.Violations), "warnings": len(told)} {
			if c.Expected[field] == nil && none > 0 {
				t.Errorf("%s: got %s, want none", field, body.Canonical(got[field]))
			}
		}
	})
}

// short returns changes with the fields of the cases.
func short(changes []threeway.Change) []any {
	out := []any{}
	for _, c := range changes {
		one := map[string]any{"op": c.Op, "path": c.Path, "reason": c.Reason}
		if c.From != nil {
			one["from"] = c.From
		}
		if c.To != nil {
			one["to"] = c.To
		}
		out = append(out, one)
	}
	return out
}

func codes(findings []threeway.Objection) []any {
	out := []any{}
	for _, f := range findings {
		out = append(out, map[string]any{"code": f.Code, "path": f.Path})
	}
	return out
}
