package threeway_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/threeway"
)

// A create-only value that the data did not change never makes a replacement, whatever is allowed, and no remedy that is
// told would make one.
func TestDriftNeverDestroys(t *testing.T) {
	type object = map[string]any
	for name, c := range map[string]struct {
		applied, desired, live object
		isNew                  bool // it was never applied
		want                   threeway.Action
	}{
		"the data changed it": {object{"a": "1"}, object{"a": "2"}, object{"a": "1"}, false,
			threeway.Replace},
		"the data changed it, and live too": {object{"a": "1"}, object{"a": "2"}, object{"a": "3"}, false,
			threeway.Replace},
		"the data cleared it": {object{"a": "1"}, object{"a": nil}, object{"a": "1"}, false,
			threeway.Replace},
		"drift": {object{"a": "1"}, object{"a": "1"}, object{"a": "2"}, false,
			threeway.Blocked},
		"it vanished": {object{"a": "1"}, object{"a": "1"}, object{"n": "1"}, false,
			threeway.Blocked},
		"drift beside a change of another one": {object{"a": "1", "n": "1"}, object{"a": "1", "n": "2"},
			object{"a": "2", "n": "1"}, false, threeway.Blocked},
		"drift beside a replacement": {object{"a": "1", "b": "1"}, object{"a": "1", "b": "2"}, object{"a": "2", "b": "1"},
			false, threeway.Replace},
		"it is taken": {nil, object{"a": "1"}, object{"a": "2"}, true, threeway.Blocked},
	} {
		t.Run(name, func(t *testing.T) {
			for _, kind := range []string{rules.Declared, rules.Inferred} {
				of := rules.Table{{At: "/a", Rule: rules.Rule{CreateOnly: kind}}, {At: "/b", Rule: rules.Rule{CreateOnly: kind}}}
				p := threeway.Make(threeway.Input{Applied: c.applied, WasApplied: !c.isNew, Desired: c.desired, Live: c.live,
					IsThere: true, Rules: of, AllowReplace: true})
				if p.Action != c.want {
					t.Fatalf("%s: the plan is %s, want %s: %+v", kind, p.Action, c.want, p.Changes)
				}
				for _, v := range p.Violations {
					if c.want == threeway.Blocked && (strings.Contains(v.Message, "allowReplace") ||
						!strings.Contains(v.Message, `ignore: ["/a"]`)) {
						t.Errorf("%s: the message is %q", kind, v.Message)
					}
				}
			}
		})
	}
}

// What others do to a create-only place never makes a replacement, also where the plan removes what they added.
func TestOthersNeverDestroy(t *testing.T) {
	for name, c := range map[string]struct{ rules, applied, desired, live string }{
		"a foreign item of an exclusive set": {`[{"at": "/z", "list": "set", "exclusive": true, "createOnly": "declared"}]`,
			`{"z": ["1"]}`, `{"z": ["1"]}`, `{"z": ["1", "2"]}`},
		"another item of an exclusive set": {`[{"at": "/z", "list": "set", "exclusive": true, "createOnly": "declared"}]`,
			`{"z": ["1"]}`, `{"z": ["1"]}`, `{"z": ["2"]}`},
		"a foreign item of an exclusive list": {
			`[{"at": "/z", "list": "map", "keys": ["n"], "exclusive": true, "createOnly": "inferred"}]`, `{"z": [{"n": 1}]}`,
			`{"z": [{"n": 1}]}`, `{"z": [{"n": 1}, {"n": 2}]}`},
		"what the data cleared before": {`[{"at": "/a", "createOnly": "declared"}]`, `{"a": null}`, `{"a": null}`,
			`{"a": "x"}`},
		"what the data of a new entry clear": {`[{"at": "/a", "createOnly": "declared"}]`, ``, `{"a": null}`, `{"a": "x"}`},
		"another variant": {`[{"at": "", "discriminator": "k"}, {"at": "/a", "createOnly": "declared"}]`,
			`{"k": "x"}`, `{"k": "x"}`, `{"k": "y", "a": 1}`},
		"a secret of which the rules said so": {`[{"at": "/a", "createOnly": "declared"}]`,
			`{"a": {"$hmac": "` + hmacOfOne + `"}}`, `{"a": "1"}`, `{"a": "2"}`},
	} {
		t.Run(name, func(t *testing.T) {
			var of rules.Table
			if err := json.Unmarshal([]byte(c.rules), &of); err != nil {
				t.Fatal(err)
			}
			p := threeway.Make(threeway.Input{Applied: parse(t, []byte(c.applied)), WasApplied: c.applied != "",
				Desired: parse(t, []byte(c.desired)),
				Live:    parse(t, []byte(c.live)), IsThere: true, Rules: of, AllowReplace: true, Key: key})
			if p.Action != threeway.Blocked {
				t.Errorf("the plan is %s", p)
			}
		})
	}
}

var hmacOfOne = body.HMAC(key, "1")

// What nobody knows is told: what a service answers as stars, and what may be in items and resources of others.
func TestUnknownValues(t *testing.T) {
	of := rules.Table{{At: "/s", Rule: rules.Rule{WriteOnly: true}},
		{At: "/l", Rule: rules.Rule{List: "map", Keys: []string{"n"}}},
		{At: "/l/*/s", Rule: rules.Rule{WriteOnly: true}}, {At: "/o/s", Rule: rules.Rule{WriteOnly: true}}}
	for name, c := range map[string]struct{ applied, desired, live, want string }{
		"nothing": {`{"v": 1}`, `{"v": 2}`, `{"v": 1}`, "update; replace /v (desired)"},
		"all is known": {`{"v": 1, "s": "x", "l": [{"n": 1, "s": "y"}]}`,
			`{"v": 2, "s": "x", "l": [{"n": 1, "s": "y"}]}`, `{"v": 1, "s": "*", "l": [{"n": 1}]}`,
			"update; replace /v (desired)"},
		"stars": {`{"v": 1}`, `{"v": 2}`, `{"v": 1, "s": "***"}`,
			"update; replace /v (desired); UNKNOWN_VALUE /s"},
		"a foreign item": {`{"v": 1, "l": [{"n": 1, "s": "y"}]}`, `{"v": 2, "l": [{"n": 1, "s": "y"}]}`,
			`{"v": 1, "l": [{"n": 2}, {"n": 1}]}`, "update; replace /v (desired); UNKNOWN_VALUE /l/n=2/s"},
		"an object of others": {`{"v": 1}`, `{"v": 2}`, `{"v": 1, "o": {"x": 1}}`,
			"update; replace /v (desired); UNKNOWN_VALUE /o/s"},
		"a resource of others": {``, `{"v": 2}`, `{"v": 1}`, "update; replace /v (adopt); UNKNOWN_VALUE /s"},
		"nothing to write":     {`{"v": 1}`, `{"v": 1}`, `{"v": 1, "s": "***"}`, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			p := threeway.Make(threeway.Input{Applied: parse(t, []byte(c.applied)), WasApplied: c.applied != "",
				Desired: parse(t, []byte(c.desired)),
				Live:    parse(t, []byte(c.live)), IsThere: true, Rules: of})
			if got := describe(p); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// A merge patch replaces lists as a whole, so it has the values of all their items.
func TestPatchCarriesIntoLists(t *testing.T) {
	of := rules.Table{{At: "/l", Rule: rules.Rule{List: "map", Keys: []string{"n"}}},
		{At: "/l/*/s", Rule: rules.Rule{WriteOnly: true}}}
	p := threeway.Make(threeway.Input{Applied: parse(t, []byte(`{"l": [{"n": 1, "s": "x"}]}`)), WasApplied: true,
		Desired: parse(t, []byte(`{"l": [{"n": 1, "s": "x"}, {"n": 2}]}`)),
		Live:    parse(t, []byte(`{"l": [{"n": 1}]}`)), IsThere: true, Rules: of})
	if got, want := body.Canonical(p.MergePatch), `{"l":[{"n":1,"s":"x"},{"n":2}]}`; got != want {
		t.Errorf("the patch is %s, want %s", got, want)
	}
}

// The state has no value of a variable whose name looks like that of a secret, and its changes are seen nevertheless.
func TestSecretPairsAreRemembered(t *testing.T) {
	for _, list := range []string{`{"list": "map", "keys": ["name"], "at": "/l"}`, `{"at": "/l"}`} {
		var of rules.Table
		if err := json.Unmarshal([]byte("["+list+"]"), &of); err != nil {
			t.Fatal(err)
		}
		body1, body2 := parse(t, []byte(`{"l": [{"name": "DB_PASSWORD", "value": "canary"}]}`)),
			parse(t, []byte(`{"l": [{"name": "DB_PASSWORD", "value": "other"}]}`))
		kept := threeway.Remember(body1, of, key)
		if text := body.Text(kept); strings.Contains(text, "canary") || !strings.Contains(text, "DB_PASSWORD") {
			t.Errorf("%s: the state has %s", list, text)
		}
		for _, c := range []struct {
			desired, live any
			want          string
		}{{body1, body1, "none"}, {body2, body1, "desired"}, {body1, body2, "drift"}} {
			p := threeway.Make(threeway.Input{Applied: kept, WasApplied: true, Desired: c.desired, Live: c.live, IsThere: true,
				Rules: of, Key: key})
			if got := p.String(); !strings.Contains(got, c.want) || strings.Contains(got, "canary") ||
				strings.Contains(got, "other") {
				t.Errorf("%s: want %s, got %s", list, c.want, got)
			}
		}
	}
}

// A set that belongs to the data loses what left the data: at a create-only place that is a change of the data.
func TestExclusiveSetIsOfTheData(t *testing.T) {
	of := rules.Table{{At: "/z", Rule: rules.Rule{List: "set", Exclusive: true, CreateOnly: rules.Declared}}}
	in := threeway.Input{Applied: parse(t, []byte(`{"z": ["1", "2"]}`)), WasApplied: true,
		Desired: parse(t, []byte(`{"z": ["2"]}`)), Live: parse(t, []byte(`{"z": ["2", "1"]}`)), IsThere: true, Rules: of}
	if got := describe(threeway.Make(in)); got != `blocked; remove /z/"1" (removed); CREATE_ONLY /z/"1"` {
		t.Errorf("got %s", got)
	}
	if in.AllowReplace = true; threeway.Make(in).Action != threeway.Replace {
		t.Error("what the data changed may be replaced")
	}
}

// A value is create-only while the resource says that it is immutable, also for what makes it so.
func TestFixedIf(t *testing.T) {
	locked := rules.Rule{FixedIf: "/immutable"}
	of := rules.Table{{At: "/data", Rule: locked}, {At: "/immutable", Rule: locked}}
	for name, c := range map[string]struct{ live, desired, want string }{
		"locked": {`{"immutable": true, "data": {"a": "1"}}`, `{"immutable": true, "data": {"a": "2"}}`,
			"blocked; replace /data/a (desired); CREATE_ONLY /data/a"},
		"a new value": {`{"immutable": true, "data": {"a": "1"}}`, `{"immutable": true, "data": {"a": "1", "b": "2"}}`,
			"blocked; add /data/b (desired); CREATE_ONLY /data/b"},
		"to be unlocked": {`{"immutable": true, "data": {}}`, `{"immutable": false}`,
			"blocked; replace /immutable (desired); CREATE_ONLY /immutable"},
		"not locked": {`{"data": {"a": "1"}}`, `{"data": {"a": "2"}}`, "update; replace /data/a (desired)"},
		"to be locked": {`{"data": {"a": "1"}}`, `{"immutable": true, "data": {"a": "2"}}`,
			"update; replace /data/a (desired); add /immutable (desired)"},
		"something beside": {`{"immutable": true, "x": 1}`, `{"immutable": true, "x": 2}`, "update; replace /x (desired)"},
	} {
		p := threeway.Make(threeway.Input{Applied: parse(t, []byte(c.live)), WasApplied: true,
			Desired: parse(t, []byte(c.desired)), Live: parse(t, []byte(c.live)), IsThere: true, Rules: of})
		if got := describe(p); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}
