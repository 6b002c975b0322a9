package threeway_test

import (
	"encoding/json"
	"testing"

	"github.com/app-sre/prcheck/integrations/generic/body"
	"github.com/app-sre/prcheck/integrations/generic/rules"
	"github.com/app-sre/prcheck/integrations/generic/threeway"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/openapi/classes"
)

// A planCase is a case of the area three_way.
type planCase struct {
	Input struct {
		Applied, Desired, Live json.RawMessage
		Rules                  rules.Table
		AllowReplace           bool
		AllowUpdate            []string
	}
	Expected map[string]json.RawMessage
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
			p := threeway.Make(threeway.Input{Applied: way[0], WasApplied: true, Desired: way[0], Live: way[1], IsThere: true, Rules: of})
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
		for field, none := range map[string]int{"violations": len(p.Violations), "warnings": len(p.Warnings)} {
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

func codes(findings []threeway.Finding) []any {
	out := []any{}
	for _, f := range findings {
		out = append(out, map[string]any{"code": f.Code, "path": f.Path})
	}
	return out
}
