package native_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
)

// fixed is an integration that wants the same whatever the data are.
func fixed(d native.Desired) integration.Native {
	return native.Make(native.Recipe{Name: "x", Desired: func(context.Context, integration.QueryFunc,
		settings.Integration) (native.Desired, error) {
		return d, nil
	}})
}

// Everything that changes what a run does is in the desired state. What changes nothing is not.
func TestDesiredState(t *testing.T) {
	stateOf := func(d native.Desired) string {
		v, err := fixed(d).(integration.Stater).DesiredState(t.Context(), nil, settings.Integration{})
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	finding := func(s plan.Severity, m string) plan.Finding {
		return plan.Finding{Severity: s, Message: m}
	}
	part := func(items ...reconcile.Item) native.Desired {
		return native.Desired{Parts: []native.Part{{Items: items}}}
	}
	for name, c := range map[string]struct {
		a, b native.Desired
		same bool
	}{
		"callers that are not known": {native.Desired{}, native.Desired{Callers: []string{}}, false},
		"order of callers": {native.Desired{Callers: []string{"a", "b"}},
			native.Desired{Callers: []string{"b", "a"}}, true},
		"severity": {native.Desired{Findings: []plan.Finding{finding("note", "x")}},
			native.Desired{Findings: []plan.Finding{finding("error", "x")}}, false},
		"order of findings": {native.Desired{Findings: []plan.Finding{finding("note", "x"), finding("note", "y")}},
			native.Desired{Findings: []plan.Finding{finding("note", "y"), finding("note", "x")}}, true},
		"order of items": {part(reconcile.Item{Key: "a"}, reconcile.Item{Key: "b"}),
			part(reconcile.Item{Key: "b"}, reconcile.Item{Key: "a"}), true},
		"place": {part(reconcile.Item{Key: "a"}), part(reconcile.Item{Key: "a", Place: plan.Place{File: "/a.yml"}}),
			true},
		"delete":    {part(reconcile.Item{Key: "a"}), part(reconcile.Item{Key: "a", Delete: true}), false},
		"protected": {part(reconcile.Item{Key: "a"}), part(reconcile.Item{Key: "a", Protected: true}), false},
		"recover":   {part(reconcile.Item{Key: "a"}), part(reconcile.Item{Key: "a", Recover: true}), false},
		"needs":     {part(reconcile.Item{Key: "a"}), part(reconcile.Item{Key: "a", Needs: []reconcile.Key{"b"}}), false},
		"policy":    {part(reconcile.Item{Key: "a"}), part(reconcile.Item{Key: "a", Policy: reconcile.Observe}), false},
		"claim":     {part(reconcile.Item{Key: "a"}), part(reconcile.Item{Key: "a", Claim: reconcile.Adopt}), false},
		"mistake": {part(reconcile.Item{Key: "a"}),
			part(reconcile.Item{Key: "a", Mistake: reconcile.Mistake{Message: "x"}}), false},
		"approval": {native.Desired{}, native.Desired{Approvals: []reconcile.Approval{{Key: "a", Until: "2026-12-31"}}},
			false},
		"skipped part": {native.Desired{Parts: []native.Part{{}}}, native.Desired{Parts: []native.Part{{Skip: "off"}}},
			false},
		"caller": {native.Desired{Parts: []native.Part{{}}}, native.Desired{Parts: []native.Part{{Caller: "a"}}}, false},
	} {
		if same := stateOf(c.a) == stateOf(c.b); same != c.same {
			t.Errorf("%s: same is %v, want %v:\n%s\n%s", name, same, c.same, stateOf(c.a), stateOf(c.b))
		}
	}
}

// A target that JSON shows only in part is refused before anybody is asked: a change of the
// hidden part could send a secret to another address.
func TestHiddenTarget(t *testing.T) {
	type address struct{ host string }
	for name, target := range map[string]any{"hidden": address{"https://evil"}, "no JSON": func() {}} {
		err := fixed(native.Desired{Parts: []native.Part{{Shard: "a", Target: target}}}).DryRun(t.Context(),
			integration.Environment{})
		if err == nil || !strings.Contains(err.Error(), `the target of part "a"`) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
