package check_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/check"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/threeway"
	"github.com/app-sre/prcheck/natives/generic/validate"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// boundsTable has a property of each class that a change may break.
var boundsTable = rules.Table{
	{At: "/kept", Rule: rules.Rule{CreateOnly: rules.Declared}},
	{At: "/probably", Rule: rules.Rule{CreateOnly: rules.Inferred}},
	{At: "/filled/*", Rule: rules.Rule{ReadOnly: true}}, {At: "/secret/*", Rule: rules.Rule{Secret: true}},
	{At: "/items", Rule: rules.Rule{List: "map", Keys: []string{"name"}}},
	{At: "/items/*/filled", Rule: rules.Rule{ReadOnly: true}},
}

// randomBody returns a body with up to 600 members, which are wrong or not.
func randomBody(r *rand.Rand) map[string]any {
	group := func(most int) map[string]any {
		out := map[string]any{}
		for range r.IntN(most) {
			out[fmt.Sprint("m", r.IntN(2*most))] = json.Number(fmt.Sprint(r.IntN(2)))
		}
		return out
	}
	out := map[string]any{"tags": group(100)}
	for _, name := range []string{"kept", "probably", "filled", "secret"} {
		switch r.IntN(4) {
		case 0:
			out[name] = group(3)
		case 1:
			out[name] = group(300)
		}
	}
	var items []any
	for i := range r.IntN(300) {
		item := map[string]any{"name": fmt.Sprint("i", max(0, i-r.IntN(3)))}
		if r.IntN(3) == 0 {
			item["filled"] = json.Number("1")
		}
		items = append(items, item)
	}
	out["items"] = items
	return out
}

// changedBody returns a body that differs in little from another one.
func changedBody(r *rand.Rand, from map[string]any) map[string]any {
	other, out := randomBody(r), map[string]any{}
	for name, v := range from {
		if out[name] = v; r.IntN(5) == 0 {
			out[name] = other[name]
		}
	}
	return out
}

// isRefused is the verdict of a check without bounds, for the bodies of the same type. Inferred
// classes may be believed or not.
func isRefused(t *validate.Checker, base, head any, believesInferred bool) bool {
	type at struct{ place, what string }
	keys := func(f validate.Violation) (exactly, anywhere at) {
		what := string(f.Code) + " " + string(f.Severity) + " " + body.Canonical(f.Value)
		return at{"at " + f.Pointer, what}, at{"in " + f.Pattern, what}
	}
	old := map[at]int{}
	t.Walk(validate.Body{Value: base}, func(f validate.Violation) bool {
		exactly, anywhere := keys(f)
		old[exactly]++
		old[anywhere]++
		return true
	})
	fails := false
	var told []validate.Violation
	t.Walk(validate.Body{Value: head}, func(f validate.Violation) bool {
		exactly, anywhere := keys(f)
		switch {
		case old[exactly] > 0:
			old[exactly]--
			old[anywhere]--
		case f.Pointer != f.Pattern && old[anywhere] > 0:
			old[anywhere]--
		default:
			fails = fails || f.Severity == plan.SeverityError
		}
		told = append(told, f)
		return true
	})
	violations := func(desired any) []threeway.Objection {
		return threeway.Make(threeway.Input{Applied: base, Desired: desired, Live: base, WasApplied: true, IsThere: true,
			Rules: t.Rules, Key: []byte("k")}).Violations
	}
	before := violations(base)
	for _, v := range violations(head) {
		isCreateOnly := v.Code == threeway.CreateOnly || v.Code == threeway.CreateOnlyInferred
		isOld := !isCreateOnly && slices.ContainsFunc(before, func(b threeway.Objection) bool {
			return b.Code == v.Code && b.Path == v.Path
		})
		isTold := !isCreateOnly && slices.ContainsFunc(told, func(f validate.Violation) bool {
			return string(f.Code) == v.Code && (f.Pointer == v.Path || strings.HasPrefix(f.Pointer, v.Path+"/"))
		})
		fails = fails || !isOld && !isTold && (believesInferred || v.Code != threeway.CreateOnlyInferred)
	}
	return fails
}

// A check with bounds says the same of random bodies as one without, whether inferred classes are
// believed or not.
func TestBoundsLaw(t *testing.T) {
	typ := &validate.Checker{Rules: rules.Cached(boundsTable)}
	r := rand.New(rand.NewPCG(3, 4))
	verdicts := map[[2]bool]int{}
	for range 100 {
		base := randomBody(r)
		head := changedBody(r, base)
		resource := func(body any) *cloud.Resource { return &cloud.Resource{Body: body, Policy: reconcile.Manage} }
		found := check.Pair{Base: resource(base), Head: resource(head), Types: []*validate.Checker{typ}}.Check().Findings
		var got [2]bool
		for _, f := range found {
			got[0] = got[0] || f.Fails()
			got[1] = got[1] || f.Fails() && f.Code != check.CodeCreateOnlyInferred
		}
		want := [2]bool{isRefused(typ, base, head, true), isRefused(typ, base, head, false)}
		if got != want {
			t.Fatalf("got %v, want %v\nbase %s\nhead %s", got, want, body.Text(base), body.Text(head))
		}
		if len(found) > 402 {
			t.Errorf("got %d findings", len(found))
		}
		verdicts[want]++
	}
	if len(verdicts) < 3 {
		t.Errorf("the bodies are too much alike: %v", verdicts)
	}
}

// One create-only change is found behind many of which it is only inferred.
func TestSureMistakeIsKept(t *testing.T) {
	group := func(value string) map[string]any {
		out := map[string]any{}
		for i := range 500 {
			out[fmt.Sprintf("m%03d", i)] = value
		}
		return out
	}
	table := rules.Table{{At: "/a", Rule: rules.Rule{CreateOnly: rules.Inferred}},
		{At: "/z", Rule: rules.Rule{CreateOnly: rules.Declared}}}
	side := func(value string) *cloud.Resource {
		return &cloud.Resource{Policy: reconcile.Manage, Body: map[string]any{"a": group(value), "z": value}}
	}
	found := check.Pair{Base: side("1"), Head: side("2"), Types: []*validate.Checker{{Rules: table}}}.Check().Findings
	if !slices.ContainsFunc(found, func(f check.Finding) bool {
		return f.Code == check.CodeCreateOnly && f.Property == "/z" && f.Fails()
	}) || len(found) != 200 {
		t.Errorf("got %d findings, the last of them %+v", len(found), found[len(found)-1])
	}
}

// Once there is no time the pair fails, whatever it is.
func TestPairWithoutTime(t *testing.T) {
	body := map[string]any{"tags": map[string]any{"a": "1"}}
	p := check.Pair{Base: &cloud.Resource{Policy: reconcile.Manage, Body: body},
		Head:  &cloud.Resource{Policy: reconcile.Manage, Body: body},
		Types: []*validate.Checker{{Rules: rules.None}}, Stop: func() bool { return true }}
	if got := p.Check().Findings; len(got) != 1 || got[0].Code != validate.CodeTime || !got[0].Fails() {
		t.Errorf("got %+v", got)
	}
}
