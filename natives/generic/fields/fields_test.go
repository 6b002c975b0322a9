package fields

import (
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/threeway"
	"github.com/app-sre/prcheck/natives/openapi/classes"
)

func parsed(t *testing.T, text string) any {
	t.Helper()
	v, err := body.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// live returns an object with managers: ours and bob.
func live(ours, bobs, spec string) string {
	entry := func(name, operation, fields string) string {
		return `{"manager":"` + name + `","operation":"` + operation + `","fieldsV1":{"f:spec":` + fields + `}}`
	}
	return `{"metadata":{"managedFields":[` + entry("us", "Apply", ours) + "," + entry("bob", "Update", bobs) +
		`]},"spec":` + spec + `}`
}

var table = rules.Table{
	{At: "/spec/ports", Rule: rules.Rule{List: classes.Map, Keys: []string{"port", "protocol"}}},
	{At: "/spec/ports/*/protocol", Rule: rules.Rule{Default: "TCP"}},
	{At: "/spec/map", Rule: rules.Rule{Atomic: true}},
}

func TestMake(t *testing.T) {
	for _, c := range []struct {
		name, applied, desired, ours, bobs, live string
		changes, warnings, leftOut               string
		force                                    bool
	}{
		{name: "what is ours and as applied was changed by nobody", applied: `{"list":[{"a":1}],"cpu":"0.5","empty":""}`,
			desired: `{"list":[{"a":1}],"cpu":"0.5","empty":""}`,
			ours:    `{"f:list":{},"f:cpu":{},"f:empty":{}}`, bobs: `{}`,
			live: `{"list":[{"a":1,"default":true}],"cpu":"500m"}`},
		{name: "what somebody took is drift, and taken back", applied: `{"n":1}`, desired: `{"n":1}`, ours: `{}`,
			bobs: `{"f:n":{}}`, live: `{"n":2}`,
			changes: "/spec/n drift", force: true},
		{name: "new data are set", applied: `{"n":1}`, desired: `{"n":2}`, ours: `{"f:n":{}}`, bobs: `{}`, live: `{"n":1}`,
			changes: "/spec/n desired"},
		{name: "what others have and we never applied is left out", applied: `{}`, desired: `{"n":1,"m":1}`, ours: `{}`,
			bobs: `{"f:n":{}}`, live: `{"n":2}`,
			changes: "/spec/m desired", warnings: "/spec/n KEPT_CONTESTED", leftOut: "/spec/n"},
		{name: "without a warning if it means the same", applied: `{}`, desired: `{"list":[]}`, ours: `{}`,
			bobs: `{"f:list":{}}`, live: `{}`, leftOut: "/spec/list"},
		{name: "an item by its keys, one of them the default", applied: `{}`, desired: `{"ports":[{"port":80,"x":1}]}`,
			ours:     `{}`,
			bobs:     `{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{},"f:x":{}}}}`,
			live:     `{"ports":[{"port":80,"protocol":"TCP","x":2}]}`,
			warnings: "/spec/ports/port=80,protocol=TCP/x KEPT_CONTESTED", leftOut: "/spec/ports/port=80,protocol=TCP/x"},
		{name: "what others have too is not removed", applied: `{"n":1,"m":1}`, desired: `{}`, ours: `{"f:n":{},"f:m":{}}`,
			bobs: `{"f:n":{}}`, live: `{"n":1,"m":1}`,
			changes: "/spec/m removed", warnings: "/spec/n KEPT_CONTESTED"},
		{name: "what is ours is removed, however it is spelled", applied: `{"list":[{"a":1}],"cpu":"0.5"}`, desired: `{}`,
			ours: `{"f:list":{},"f:cpu":{}}`, bobs: `{}`,
			live: `{"list":[{"a":1,"default":true}],"cpu":"500m"}`, changes: "/spec/cpu removed, /spec/list removed"},
		{name: "what somebody changed is not removed", applied: `{"list":[{"a":1}]}`, desired: `{}`, ours: `{"f:x":{}}`,
			bobs: `{"f:list":{}}`,
			live: `{"list":[{"a":2}]}`, warnings: "/spec/list KEPT_CONTESTED"},
		{name: "a map that is one value", applied: `{}`, desired: `{"map":{"a":1}}`, ours: `{}`, bobs: `{"f:map":{}}`,
			live:     `{"map":{"b":1}}`,
			warnings: "/spec/map KEPT_CONTESTED", leftOut: "/spec/map"},
		{name: "an empty object of others holds nothing", applied: `{}`, desired: `{"o":{"a":1}}`, ours: `{}`,
			bobs: `{"f:o":{}}`, live: `{"o":{"b":1}}`, changes: "/spec/o/a desired"},
		{name: "a part of others in a value that becomes a scalar", applied: `{}`, desired: `{"o":1}`, ours: `{}`,
			bobs: `{"f:o":{"f:a":{}}}`, live: `{"o":{"a":1}}`,
			warnings: "/spec/o KEPT_CONTESTED", leftOut: "/spec/o"},
	} {
		in := threeway.Input{Applied: parsed(t, `{"spec":`+c.applied+`}`), WasApplied: true,
			Desired: parsed(t, `{"spec":`+c.desired+`}`),
			Live:    parsed(t, live(c.ours, c.bobs, c.live)), IsThere: true, Rules: table}
		before := body.Canonical(in.Live)
		p := Make(in, "us")
		var changes, warnings []string
		for _, one := range p.Changes {
			changes = append(changes, one.Path+" "+string(one.Reason))
		}
		for _, w := range p.Warnings {
			warnings = append(warnings, w.Path+" "+w.Code)
			if !strings.Contains(w.Message, `"bob"`) && !strings.Contains(w.Message, "somebody else") {
				t.Errorf("%s: the warning does not name the manager: %s", c.name, w.Message)
			}
		}
		if got := strings.Join(changes, ", "); got != c.changes {
			t.Errorf("%s: changes %q, want %q", c.name, got, c.changes)
		}
		if got := strings.Join(warnings, ", "); got != c.warnings {
			t.Errorf("%s: warnings %q, want %q", c.name, got, c.warnings)
		}
		if got := strings.Join(p.LeftOut, ", "); got != c.leftOut || p.Force != c.force {
			t.Errorf("%s: left out %q, force %v, want %q, %v", c.name, got, p.Force, c.leftOut, c.force)
		}
		if len(p.LeftOut) > 0 && !strings.Contains(c.leftOut, "=") {
			if _, isThere := body.Get(p.Apply, c.leftOut); isThere {
				t.Errorf("%s: %s is applied: %v", c.name, c.leftOut, p.Apply)
			}
		}
		if body.Canonical(in.Live) != before {
			t.Errorf("%s: the live object was changed", c.name)
		}
	}
}

// What the server says of managers may be anything.
func FuzzRead(f *testing.F) {
	f.Add(
		`[{"manager":"bob","operation":"Apply","fieldsV1":{"f:spec":{"k:{\"a\":1}":{".":{}},"v:1":{},"i:0":{},"f:":{}}}}]`,
		`{"spec":[{"a":1}]}`)
	f.Add(`[{"manager":"us","operation":"Apply","fieldsV1":{"f:spec":{"v:[":{},"k:[]":{}}}},1,null]`, `{"spec":{"":null}}`)
	f.Fuzz(func(t *testing.T, managers, desired string) {
		m, err := body.Parse([]byte(managers))
		d, wrong := body.Parse([]byte(desired))
		if err != nil || wrong != nil {
			t.Skip()
		}
		object := map[string]any{"metadata": map[string]any{"managedFields": m}, "spec": d}
		p := Make(threeway.Input{Applied: d, WasApplied: true, Desired: d, Live: object, IsThere: true, Rules: table}, "us")
		if p.Plan == nil {
			t.Fatal("no plan")
		}
	})
}
