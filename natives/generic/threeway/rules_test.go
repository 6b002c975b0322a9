package threeway_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/threeway"
)

// Each rule of the plan on one small resource. An applied body of "" was never applied.
func TestRules(t *testing.T) {
	for name, test := range map[string]struct {
		rules, applied, desired, live string
		allow                         []string
		want, put                     string
	}{
		"adopted: nothing is removed": {"", "", `{"a": 1}`, `{"a": 2, "b": 3}`, nil, "update; replace /a (adopt)",
			`{"a":1,"b":3}`},
		"adopted and equal": {"", "", `{"a": 1}`, `{"a": 1, "b": 3}`, nil, "none", ""},
		"cleared, whoever set it": {"", `{}`, `{"a": null, "l": null, "o": null}`, `{"a": 1, "l": [1], "o": {"x": 1}}`, nil,
			"update; remove /a (cleared); remove /l (cleared); remove /o (cleared)", `{"l":[],"o":{}}`},
		"cleared, but only the service's is left": {`[{"at": "/o/state", "readOnly": true}]`, `{}`, `{"o": null}`,
			`{"o": {"state": 1}}`, nil, "none", ""},
		"cleared create-only": {`[{"at": "/a", "createOnly": "declared"}]`, `{}`, `{"a": null}`, `{"a": 1}`, nil,
			"blocked; remove /a (cleared); CREATE_ONLY /a", ""},
		"an empty object has no opinion": {"", `{"o": {"a": 1}}`, `{"o": {}}`, `{"o": {"a": 1, "b": 2}}`, nil,
			"update; remove /o/a (removed)", `{"o":{"b":2}}`},

		"another variant": {`[{"at": "/s", "discriminator": "kind"}]`, `{"s": {"kind": "a", "x": 1}}`,
			`{"s": {"kind": "b", "y": 2}}`,
			`{"s": {"kind": "a", "x": 1, "z": 3}}`, nil,
			"update; replace /s/kind (desired); remove /s/x (variant); add /s/y (desired); remove /s/z (variant)",
			`{"s":{"kind":"b","y":2}}`},
		"another variant, members known": {
			`[{"at": "/s", "discriminator": "kind", "variants": {"a": ["kind", "x", "all"], "b": ["kind", "y", "all"]}}]`,
			`{"s": {"kind": "a"}}`, `{"s": {"kind": "b", "y": 2}}`, `{"s": {"kind": "a", "x": 1, "all": 3, "other": 4}}`, nil,
			"update; replace /s/kind (desired); remove /s/x (variant); add /s/y (desired)",
			`{"s":{"all":3,"kind":"b","other":4,"y":2}}`},
		"the same variant": {`[{"at": "/s", "discriminator": "kind"}, {"at": "/s/kind", "format": "enum-fold"}]`,
			`{"s": {"kind": "a"}}`, `{"s": {"kind": "A"}}`,
			`{"s": {"kind": "a", "x": 1}}`, nil, "none", ""},

		"inferred create-only": {`[{"at": "/a", "createOnly": "inferred"}]`, `{"a": 1}`, `{"a": 2}`, `{"a": 1}`, nil,
			"blocked; replace /a (desired); CREATE_ONLY_INFERRED /a", ""},
		"inferred create-only, update allowed": {`[{"at": "/o", "createOnly": "inferred"}]`, `{"o": {"a": 1}}`,
			`{"o": {"a": 2}}`, `{"o": {"a": 1}}`, []string{"/o"},
			"update; replace /o/a (desired)", `{"o":{"a":2}}`},
		"declared create-only, update allowed": {`[{"at": "/a", "createOnly": "declared"}]`, `{"a": 1}`, `{"a": 2}`,
			`{"a": 1}`, []string{"/a"},
			"blocked; replace /a (desired); CREATE_ONLY /a", ""},
		"update allowed of one item": {
			`[{"at": "/l", "list": "map", "keys": ["n"]}, {"at": "/l/*/v", "createOnly": "inferred"}]`,
			`{"l": [{"n": "a", "v": 1}, {"n": "b", "v": 1}]}`, `{"l": [{"n": "a", "v": 2}, {"n": "b", "v": 2}]}`,
			`{"l": [{"n": "a", "v": 1}, {"n": "b", "v": 1}]}`,
			[]string{"/l/n=a"}, "blocked; replace /l/n=a/v (desired); replace /l/n=b/v (desired); CREATE_ONLY_INFERRED /l/n=b/v",
			""},
		"items of a create-only list": {`[{"at": "/l", "list": "map", "keys": ["n"], "createOnly": "declared"}]`,
			`{"l": [{"n": "a"}]}`, `{"l": [{"n": "b"}]}`,
			`{"l": [{"n": "a"}]}`, nil, "blocked; add /l/n=b (desired); CREATE_ONLY /l/n=b; KEPT_CREATE_ONLY /l/n=a", ""},
		"a create-only object that the data no longer have": {`[{"at": "/o", "createOnly": "declared"}]`,
			`{"o": {"a": 1, "b": 2}}`, `{}`, `{"o": {"a": 1}}`, nil,
			"none; KEPT_CREATE_ONLY /o", ""},

		"free to set, and new": {`[{"at": "/a", "createOnly": "declared", "freeToSet": true}]`, `{}`, `{"a": 1}`, `{}`, nil,
			"update; add /a (desired)", `{"a":1}`},
		"free to set, and there": {`[{"at": "/a", "createOnly": "declared", "freeToSet": true}]`, `{}`, `{"a": 1}`,
			`{"a": 2}`, nil,
			"blocked; replace /a (desired); CREATE_ONLY /a", ""},
		"free to set, and there without content": {`[{"at": "/l", "createOnly": "declared", "freeToSet": true}]`, `{}`,
			`{"l": [1]}`, `{"l": []}`, nil,
			"blocked; add /l (desired); CREATE_ONLY /l", ""},
		"not free to set": {`[{"at": "/a", "createOnly": "declared", "freeToUnset": true}]`, `{}`, `{"a": 1}`, `{}`, nil,
			"blocked; add /a (desired); CREATE_ONLY /a", ""},
		"inside of what is free to set, and new": {`[{"at": "/o", "createOnly": "declared", "freeToSet": true}]`, `{}`,
			`{"o": {"p": {"x": 1}}}`, `{}`, nil,
			"update; add /o/p/x (desired)", `{"o":{"p":{"x":1}}}`},
		"inside of what is free to set, and there": {`[{"at": "/o", "createOnly": "declared", "freeToSet": true}]`, `{}`,
			`{"o": {"p": {"x": 1}}}`, `{"o": {"y": 1}}`, nil,
			"blocked; add /o/p/x (desired); CREATE_ONLY /o/p/x", ""},
		"items of a list that is free to set, and new": {
			`[{"at": "/l", "list": "map", "keys": ["n"], "createOnly": "declared", "freeToSet": true}]`, `{}`,
			`{"l": [{"n": "a"}]}`, `{}`, nil,
			"update; add /l/n=a (desired)", `{"l":[{"n":"a"}]}`},
		"free to set and write-only: nobody knows what is there": {
			`[{"at": "/a", "createOnly": "declared", "freeToSet": true, "writeOnly": true, "changed": true}]`,
			`{}`, `{"a": 1}`, `{}`, nil, "blocked; add /a (secret); CREATE_ONLY /a", ""},
		"free to unset": {`[{"at": "/a", "createOnly": "declared", "freeToUnset": true}]`, `{"a": 1}`,
			`{}`, `{"a": 1}`, nil, "update; remove /a (removed)", `{}`},
		"free to unset, cleared": {`[{"at": "/a", "createOnly": "declared", "freeToUnset": true}]`, `{}`,
			`{"a": null}`, `{"a": 1}`, nil, "update; remove /a (cleared)", `{}`},
		"free to unset, but somebody else's": {`[{"at": "/a", "createOnly": "declared", "freeToUnset": true}]`, `{"a": 1}`,
			`{}`, `{"a": 2}`, nil, "none; KEPT_CONTESTED /a", ""},
		"free to unset, changed": {`[{"at": "/a", "createOnly": "declared", "freeToUnset": true}]`, `{"a": 1}`, `{"a": 2}`,
			`{"a": 1}`, nil,
			"blocked; replace /a (desired); CREATE_ONLY /a", ""},
		"an object does not go as a whole": {`[{"at": "/o", "createOnly": "declared", "freeToUnset": true}]`,
			`{"o": {"x": 1}}`, `{}`, `{"o": {"x": 1}}`, nil, "none; KEPT_CREATE_ONLY /o", ""},
		"inside of what is free to unset": {`[{"at": "/o", "createOnly": "declared", "freeToUnset": true}]`,
			`{"o": {"x": 1}}`, `{"o": {}}`, `{"o": {"x": 1}}`, nil,
			"none; KEPT_CREATE_ONLY /o/x", ""},
		"a write-only value that the data no longer have": {`[{"at": "/w", "writeOnly": true}]`, `{"w": {"$hmac": "x"}}`,
			`{}`, `{}`, nil, "none; KEPT_CONTESTED /w", ""},
		"a secret of which the data no longer say so": {"", `{"w": {"$version": "3"}}`, `{}`, `{}`, nil,
			"none; KEPT_CONTESTED /w", ""},

		"two items with one key": {`[{"at": "/l", "list": "map", "keys": ["n"]}]`, `{}`,
			`{"l": [{"n": "a"}, {"n": "a"}, {"n": "a"}]}`, `{}`, nil,
			"blocked; add /l/n=a (desired); DUPLICATE /l/n=a", ""},
		"an item without its key": {`[{"at": "/l", "list": "map", "keys": ["n"]}]`, `{}`, `{"l": [{"v": 1}]}`, `{}`, nil,
			"update; add /l (desired)", `{"l":[{"v":1}]}`},
		"a key with a default": {
			`[{"at": "/l", "list": "map", "keys": ["port", "protocol"]}, {"at": "/l/*/protocol", "default": "TCP"}]`,
			`{"l": [{"port": 80}]}`, `{"l": [{"port": 80}, {"port": 80, "protocol": "UDP"}]}`,
			`{"l": [{"port": 80, "protocol": "TCP"}]}`, nil,
			"update; add /l/port=80,protocol=UDP (desired)",
			`{"l":[{"port":80,"protocol":"TCP"},{"port":80,"protocol":"UDP"}]}`},
		"a key that is an object": {`[{"at": "/l", "list": "map", "keys": ["p"]}]`,
			`{"l": [{"p": {"b": 1, "a": 2}, "v": 1}]}`, `{"l": [{"p": {"a": 2.0, "b": 1}, "v": 2}]}`,
			`{"l": [{"p": {"a": 2, "b": 1}, "v": 1}]}`, nil, `update; replace /l/p={"a":2,"b":1}/v (desired)`,
			`{"l":[{"p":{"a":2,"b":1},"v":2}]}`},
		"a key with a format and a slash": {
			`[{"at": "/l", "list": "map", "keys": ["id"]}, {"at": "/l/*/id", "format": "arm-id"}]`,
			`{"l": [{"id": "/A", "v": 1}]}`, `{"l": [{"id": "/a/", "v": 2}]}`, `{"l": [{"id": "/A", "v": 1}]}`, nil,
			"update; replace /l/id=~1A/v (desired)", `{"l":[{"id":"/A","v":2}]}`},
		"foreign items that are broken stay": {`[{"at": "/l", "list": "map", "keys": ["n"]}]`, `{}`, `{"l": [{"n": "a"}]}`,
			`{"l": [1, {"x": 1}, {"n": "b"}, {"n": "b"}]}`, nil,
			"update; replace /l (desired)", `{"l":[{"n":"a"}]}`},
		"foreign items with one key": {`[{"at": "/l", "list": "map", "keys": ["n"]}]`, `{"l": [{"n": "b"}]}`,
			`{"l": [{"n": "b"}]}`, `{"l": [{"n": "b", "id": 1}, {"n": "b"}]}`, nil,
			"update; replace /l (drift)", `{"l":[{"n":"b"}]}`},
		"a key that nobody has": {`[{"at": "/l", "list": "map", "keys": ["name", "lun"]}]`,
			`{"l": [{"lun": 0, "v": 1}, {"lun": 1, "v": 1}]}`, `{"l": [{"lun": 1, "v": 2}, {"lun": 0, "v": 1}]}`,
			`{"l": [{"lun": 0, "v": 1, "id": 5}, {"lun": 1, "v": 1}, {"lun": 7}]}`, nil,
			"update; replace /l/lun=1/v (desired)", `{"l":[{"id":5,"lun":0,"v":1},{"lun":1,"v":2},{"lun":7}]}`},
		"a key that the service fills in": {`[{"at": "/l", "list": "map", "keys": ["name", "lun"]}]`,
			`{"l": [{"lun": 0}, {"lun": 1}]}`, `{"l": [{"lun": 1}]}`,
			`{"l": [{"lun": 0, "name": "x"}, {"lun": 1, "name": "y"}]}`, nil, "update; remove /l/lun=0 (removed)",
			`{"l":[{"lun":1,"name":"y"}]}`},
		"no key is left": {`[{"at": "/l", "list": "map", "keys": ["name"]}]`, `{"l": [{"v": 1}, {"v": 2}]}`,
			`{"l": [{"v": 1}, {"v": 2}]}`,
			`{"l": [{"v": 1, "id": 1}, {"v": 2, "name": "x"}]}`, nil, "none", ""},
		"no key is left, and they differ": {`[{"at": "/l", "list": "map", "keys": ["name"]}]`, `{"l": [{"v": 1}]}`,
			`{"l": [{"v": 2}]}`, `{"l": [{"v": 1, "id": 1}]}`, nil,
			"update; replace /l (desired)", `{"l":[{"v":2}]}`},
		"a list with keys in a list without, and an id that the service gives": {
			`[{"at": "/l/*/a", "list": "map", "keys": ["b"]}]`, `{"l": [{"a": [{"b": 1}, {"b": 2}]}]}`,
			`{"l": [{"a": [{"b": 1}, {"b": 2}]}]}`,
			`{"l": [{"a": [{"b": 2, "id": 1}, {"b": 1}, {"b": 3}]}]}`, nil, "none", ""},
		"an item of ours that left a list with keys in a list without": {`[{"at": "/l/*/a", "list": "map", "keys": ["b"]}]`,
			`{"l": [{"a": [{"b": 1}, {"b": 2}]}]}`, `{"l": [{"a": [{"b": 1}]}]}`,
			`{"l": [{"a": [{"b": 1}, {"b": 2}]}]}`, nil, "update; replace /l (desired)", `{"l":[{"a":[{"b":1}]}]}`},
		"a set in a list without keys": {`[{"at": "/l/*/a", "list": "set"}]`, `{"l": [{"a": [1, 2]}]}`,
			`{"l": [{"a": [1, 2]}]}`, `{"l": [{"a": [3, 2, 1]}]}`, nil, "none", ""},
		"a value of a set in a list without keys is gone": {`[{"at": "/l/*/a", "list": "set"}]`, `{"l": [{"a": [1, 2]}]}`,
			`{"l": [{"a": [1, 2]}]}`, `{"l": [{"a": [1]}]}`, nil,
			"update; replace /l (drift)", `{"l":[{"a":[1,2]}]}`},
		"an empty list of a map clears ours": {`[{"at": "/l", "list": "map", "keys": ["n"]}]`, `{"l": [{"n": "a"}]}`,
			`{"l": []}`, `{"l": [{"n": "a"}, {"n": "z"}]}`, nil,
			"update; remove /l/n=a (removed)", `{"l":[{"n":"z"}]}`},
		"an exclusive set": {`[{"at": "/s", "list": "set", "exclusive": true}]`, `{}`, `{"s": ["a"]}`,
			`{"s": ["z", "a", "a"]}`, nil,
			`update; remove /s/"a" (removed); remove /s/"z" (removed)`, `{"s":["a"]}`},
		"exclusive, and no opinion": {`[{"at": "/s", "list": "set", "exclusive": true}]`, `{"s": ["a"]}`, `{}`,
			`{"s": ["z", "a"]}`, nil, `update; remove /s/"a" (removed)`, `{"s":["z"]}`},
		"how often counts in a set": {`[{"at": "/s", "list": "set"}]`, `{"s": ["a", "a"]}`, `{"s": ["a"]}`,
			`{"s": ["a", "b", "a"]}`, nil,
			`update; remove /s/"a" (removed)`, `{"s":["a","b"]}`},
		"numbers in a set": {`[{"at": "/s", "list": "set"}]`, `{"s": [1]}`, `{"s": [1.0, 2]}`,
			`{"s": [1e0]}`, nil, `update; add /s/2 (desired)`, `{"s":[1,2]}`},
		"a list that became something else": {`[{"at": "/s", "list": "set"}]`, `{"s": ["a"]}`, `{"s": ["a"]}`, `{"s": "a"}`,
			nil, "update; replace /s (drift)", `{"s":["a"]}`},

		"an applied default is no difference": {`[{"at": "/p", "default": 1}]`, `{}`, `{"p": 1.0}`, `{}`, nil, "none", ""},
		"a default that the data no longer have": {`[{"at": "/p", "default": 1}]`, `{"p": 1}`, `{}`, `{"p": 1}`, nil, "none",
			""},
		"what the service fills in, in a list that is one value": {
			`[{"at": "/l/*/etag", "readOnly": true}, {"at": "/l/*/m", "default": 1}]`, `{"l": [{"a": 1}]}`, `{"l": [{"a": 1}]}`,
			`{"l": [{"a": 1, "etag": "x", "m": 1}]}`, nil, "none", ""},
		"an extra member in a list without keys": {"", `{"l": [{"a": 1}]}`, `{"l": [{"a": 1}]}`,
			`{"l": [{"a": 1, "x": 2}]}`, nil, "none", ""},
		"an extra member in a list that is one value": {`[{"at": "/l", "atomic": true}]`,
			`{"l": [{"a": 1}]}`, `{"l": [{"a": 1}]}`, `{"l": [{"a": 1, "x": 2}]}`, nil, "update; replace /l (drift)",
			`{"l":[{"a":1}]}`},
		"a text where the data have an object, in a list without keys": {"", `{"l": [{}]}`, `{"l": [{}]}`, `{"l": ["x"]}`,
			nil, "update; replace /l (drift)", `{"l":[{}]}`},
		"an extra item in a list without keys": {"", `{"l": [{"a": 1}]}`, `{"l": [{"a": 1}]}`, `{"l": [{"a": 1}, {"a": 2}]}`,
			nil, "update; replace /l (drift)", `{"l":[{"a":1}]}`},
		"a list in a list without keys": {"", `{"l": [{"a": [{"b": 1}]}]}`, `{"l": [{"a": [{"b": 1}]}]}`,
			`{"l": [{"a": [{"b": 1, "id": 2}], "id": 1}]}`, nil, "none", ""},
		"a list with keys in a list without": {`[{"at": "/l/*/a", "list": "map", "keys": ["b"]}]`,
			`{"l": [{"a": [{"b": 1}, {"b": 2}]}]}`, `{"l": [{"a": [{"b": 1}, {"b": 2}]}]}`,
			`{"l": [{"a": [{"b": 2}, {"b": 1}], "id": 1}]}`, nil, "none", ""},
		"a write-only value that must go again, in a list without keys": {
			`[{"at": "/l/*/s", "writeOnly": true, "changed": true}]`, `{"l": [{"a": 1, "s": "x"}]}`,
			`{"l": [{"a": 1, "s": "x"}]}`,
			`{"l": [{"a": 1}]}`, nil, "update; replace /l (desired)", `{"l":[{"a":1,"s":"x"}]}`},

		"volatile, the data as before": {`[{"at": "/v", "volatile": true}]`, `{"v": 1, "a": 1}`, `{"v": 1, "a": 2}`,
			`{"v": 5, "a": 1}`, nil, "update; replace /a (desired)", `{"a":2}`},
		"volatile, the data changed": {`[{"at": "/v", "volatile": true}]`, `{"v": 1}`, `{"v": 2}`, `{"v": 5}`, nil,
			"update; replace /v (desired)", `{"v":2}`},
		"write-only, as before": {`[{"at": "/w", "writeOnly": true}]`, `{}`, `{"w": "x", "a": 1}`, `{"w": "***"}`, nil,
			"update; add /a (desired)", `{"a":1,"w":"x"}`},
		"read-only, set as it is live": {`[{"at": "/r", "readOnly": true}]`, `{"r": 1}`, `{"r": 1}`, `{"r": 1}`, nil,
			"blocked; RO_SET /r", ""},
		"read-only, without opinion": {`[{"at": "/r", "readOnly": true}]`, `{}`, `{"r": {}}`, `{"r": {"a": 1}}`, nil, "none",
			""},
		"ignored, not there": {`[{"at": "/i", "ignore": true}]`, `{}`, `{"i": 1, "a": 1}`, `{}`, nil,
			"update; add /a (desired)", `{"a":1}`},

		"null in live becomes a value": {"", `{}`, `{"a": 1}`, `{"a": null}`, nil, "update; add /a (desired)",
			`{"a":1}`},
		"an object becomes a scalar": {"", `{}`, `{"a": 1}`, `{"a": {"b": 1}}`, nil, "update; replace /a (desired)",
			`{"a":1}`},
		"an applied object that is now a text": {"", `{"a": {"b": 1}}`, `{}`, `{"a": "x"}`, nil, "none; KEPT_CONTESTED /a",
			""},
		"the gone comes back": {"", `{"a": 1}`, `{"a": 1}`, "", nil, "create; add  (drift)", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var table rules.Table
			if test.rules != "" {
				if err := json.Unmarshal([]byte(test.rules), &table); err != nil {
					t.Fatal(err)
				}
			}
			p := threeway.Make(threeway.Input{
				Applied: parse(t, []byte(test.applied)), Desired: parse(t, []byte(test.desired)), Live: parse(t, []byte(test.live)),
				WasApplied: test.applied != "", IsThere: test.live != "", Rules: table, AllowUpdate: test.allow,
			})
			if got := describe(p); got != test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
			if test.put != "" && body.Canonical(p.PutBody) != test.put {
				t.Errorf("PUT\n got %s\nwant %s", body.Canonical(p.PutBody), test.put)
			}
			if test.put == "" && p.PutBody != nil {
				t.Errorf("got a body of PUT: %s", body.Canonical(p.PutBody))
			}
		})
	}
}

func TestReplaceIsRefusedWithChildren(t *testing.T) {
	in := threeway.Input{
		Applied: object{"a": "1"}, Desired: object{"a": "2", "n": nil}, Live: object{"a": "1"}, WasApplied: true,
		IsThere: true, AllowReplace: true,
		Rules: rules.Table{{At: "/a", Rule: rules.Rule{CreateOnly: rules.Declared}}},
	}
	if p := threeway.Make(in); p.Action != threeway.Replace || body.Canonical(p.Body) != `{"a":"2"}` {
		t.Errorf("got %s with %v", p, p.Body)
	}
	in.Children = []string{"x", "y"}
	p := threeway.Make(in)
	if p.Action != threeway.Blocked || p.Body != nil || p.Violations[0].Code != threeway.Orphan ||
		!strings.Contains(p.String(), "x, y") {
		t.Errorf("got %s", p)
	}
}

// A specification that cannot be read proves nothing: nothing is changed, and no value shown.
func TestDoubtBlocks(t *testing.T) {
	p := threeway.Make(threeway.Input{
		Desired: object{"a": canary}, Live: object{"a": "1"}, IsThere: true,
		Rules: rules.Table{{At: "/a", Rule: rules.Rule{Doubt: "a.json#/x: there is nothing"}}},
	})
	if got := describe(p); got != "blocked; SPEC_REF /a" {
		t.Errorf("got %s", got)
	}
	if strings.Contains(p.String(), canary) || !strings.Contains(p.String(), "a.json#/x") {
		t.Errorf("got %s", p)
	}
}

// A secret is sent again when its version changes, or else its keyed hash.
func TestSecretsAreRemembered(t *testing.T) {
	table := rules.Table{
		{At: "/p", Rule: rules.Rule{WriteOnly: true, Secret: true}}, {At: "/shown", Rule: rules.Rule{Secret: true}},
		{At: "/users", Rule: rules.Rule{List: "map", Keys: []string{"name"}}},
		{At: "/users/*/key", Rule: rules.Rule{Secret: true}},
		{At: "/admin", Rule: rules.Rule{WriteOnly: true, CreateOnly: rules.Declared}},
	}
	sent := object{"p": canary, "shown": canary, "admin": "root", "users": []any{object{"name": "a", "key": canary}},
		"plain": "x"}
	live := object{"shown": canary, "plain": "x", "users": []any{object{"name": "a", "key": canary}}}
	plan := func(desired any, applied any, version string) string {
		return describe(threeway.Make(threeway.Input{
			Applied: applied, Desired: desired, Live: live, WasApplied: applied != nil, IsThere: true, Key: key,
			Rules: rules.With(table, rules.Overlay{Secrets: []rules.SecretPlace{{At: "/p", Version: version}}}),
		}))
	}
	kept := threeway.Remember(sent, table, key)
	if text := body.Text(kept); strings.Contains(text, canary) || !strings.Contains(text, `"name":"a"`) ||
		!strings.Contains(text, `"plain":"x"`) {
		t.Errorf("what is kept: %s", text)
	}
	versioned := threeway.Remember(sent,
		rules.With(table, rules.Overlay{Secrets: []rules.SecretPlace{{At: "/p", Version: "3"}}}), key)
	changed := body.Merge(sent, object{"p": "other", "shown": "other"})
	for name, test := range map[string]struct{ got, want string }{
		"unchanged": {plan(sent, kept, ""), "none"},
		"changed":   {plan(changed, kept, ""), "update; replace /shown (desired); add /p (secret)"},
		"drift is told apart": {plan(body.Merge(sent, object{"users": []any{object{"name": "a", "key": "b"}}}), kept, ""),
			"update; replace /users/name=a/key (desired)"},
		"removed": {plan(object{"plain": "x", "users": []any{}}, kept, ""),
			"update; remove /shown (removed); remove /users/name=a (removed); KEPT_CREATE_ONLY /admin; KEPT_CONTESTED /p"},
		"a version is removed": {plan(object{"shown": canary, "admin": "root", "users": sent["users"], "plain": "x"},
			versioned, ""), "none; KEPT_CONTESTED /p"},
		"a secret is cleared": {plan(body.Merge(sent, object{"p": nil}), kept, ""), "none; KEPT_CONTESTED /p"},
		"the same version":    {plan(body.Merge(sent, object{"p": "(not read)"}), versioned, "3"), "none"},
		"another version": {plan(body.Merge(sent, object{"p": "(not read)"}), versioned, "4"),
			"update; add /p (secret)"},
		"from value to version": {plan(sent, kept, "1"), "update; add /p (secret)"},
		"adopted":               {plan(sent, nil, ""), "update; add /p (secret); UNKNOWN_VALUE /admin"},
		"create-only, new": {plan(sent, threeway.Remember(body.Merge(sent, object{"admin": nil}), table, key), ""),
			"blocked; add /admin (secret); CREATE_ONLY /admin"},
		"create-only, changed": {plan(body.Merge(sent, object{"admin": "toor"}), kept, ""),
			"blocked; add /admin (secret); CREATE_ONLY /admin"},
	} {
		if !slices.Equal(sorted(test.got), sorted(test.want)) {
			t.Errorf("%s: got %s, want %s", name, test.got, test.want)
		}
	}
	if raw := threeway.Remember(sent, table, nil); strings.Contains(body.Text(raw), canary) {
		t.Errorf("without a key: %s", body.Text(raw))
	}
}

func sorted(plan string) []string {
	parts := strings.Split(plan, "; ")
	slices.Sort(parts)
	return parts
}
