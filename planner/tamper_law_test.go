package planner_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
)

// harmless are the parts of a plan that decide nothing and prove nothing, and those that only
// the state of that moment could confirm.
var harmless = regexp.MustCompile(
	`^(version|digest|(base|head)\.(ref|commit)|warnings.*|tasks\.\d+\.(inputs|estimate.*)` +
		`|integrations\.\d+\.(believed|evidence\.(traces|passed|reused).*))$`)

// TestTampering changes every single value of honest plans of all kinds: the plan is refuted,
// or it is no plan, whatever is changed.
func TestTampering(t *testing.T) {
	seen, kinds := map[string]bool{}, map[string]bool{}
	tried := 0
	for _, m := range mutants() {
		in := m.input(t, m.settings)
		honest := made(t, in)
		d, _ := honest.Decision("it")
		kind := fmt.Sprint(d.Decision, d.Rung, d.Code, len(d.Evidence.Doubts) > 0, len(honest.Tasks))
		if kinds[kind] {
			continue
		}
		kinds[kind] = true
		var doc any
		if err := json.Unmarshal([]byte(text(t, honest)), &doc); err != nil {
			t.Fatal(err)
		}
		eachEdit(doc, "", func(path string) {
			if harmless.MatchString(path) ||
				strings.HasPrefix(path, "integrations.") &&
					!strings.HasPrefix(path, fmt.Sprintf("integrations.%d.", indexOf(honest, "it"))) {
				return
			}
			tried++
			if why := accepted(t, in, doc); why != "" && !seen[m.name+path] {
				seen[m.name+path] = true
				t.Errorf("%s (%s): edited %s, and it holds: %s", m.name, kind, path, why)
			}
		})
	}
	_, _ = fmt.Fprintf(t.Output(), "%d edits of %d kinds of plans\n", tried, len(kinds))
	if len(kinds) < 25 || tried < 1000 {
		t.Errorf("only %d edits of %d kinds of plans were tried", tried, len(kinds))
	}
}

func indexOf(p *plan.Plan, name string) int {
	return slices.IndexFunc(p.Integrations, func(d plan.Decision) bool { return d.Name == name })
}

// accepted returns "" if an edited plan is refuted, or is no plan.
func accepted(t *testing.T, in planner.Input, doc any) string {
	t.Helper()
	raw, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	var p plan.Plan
	if json.Unmarshal(raw, &p) != nil || p.Seal() != nil {
		return ""
	}
	r, err := planner.Verify(t.Context(), in, &p)
	if err != nil || len(r.Refuted) > 0 {
		return ""
	}
	return "nothing is refuted"
}

// eachEdit edits each value of a document in turn, calls check, and takes the edit back.
func eachEdit(doc any, at string, check func(path string)) {
	join := func(key string) string { return strings.TrimPrefix(at+"."+key, ".") }
	switch v := doc.(type) {
	case map[string]any:
		for key, old := range v {
			eachEdit(old, join(key), check)
			for _, other := range others(old) {
				v[key] = other
				check(join(key))
			}
			v[key] = old
		}
	case []any:
		for i, old := range v {
			eachEdit(old, join(fmt.Sprint(i)), check)
			for _, other := range others(old) {
				v[i] = other
				check(join(fmt.Sprint(i)))
			}
			v[i] = old
		}
	}
}

// others returns other values than one.
func others(v any) []any {
	switch v := v.(type) {
	case string:
		return []any{v + "x", ""}
	case float64:
		return []any{v + 1}
	case bool:
		return []any{!v}
	case []any:
		if len(v) == 0 {
			return nil
		}
		return []any{v[1:], append(slices.Clone(v), v[0])}
	}
	return nil
}
