package realkube

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/generic/rest"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/threeway"
	"github.com/app-sre/prcheck/natives/openapi/classes"
)

// What the server refuses to change is known before, or the refusal has overrides with which
// the next plan knows it.
func TestImmutableFieldsTeachOverrides(t *testing.T) {
	c := start(t, "ours")
	for _, k := range kinds {
		u := c.us(t, k)
		r := rand.New(rand.NewPCG(*seed, 3))
		for i, text := range k.edits {
			h := history{name: "im-" + string(rune('a'+i)), applied: k.body.any(r).(map[string]any)}
			if o := u.apply(t, "ours", h.name, h.applied); o.err != nil {
				t.Fatalf("%s: %v", k.name, o.err)
			}
			desired := merged(h.applied, value(text)).(map[string]any)
			o := u.apply(t, "ours", h.name, desired)
			var refusal *rest.Error
			switch {
			case o.plan.Action == threeway.Blocked && strings.HasPrefix(o.plan.Violations[0].Code, threeway.CreateOnly):
				t.Logf("%s %s: known before: %s %s", k.name, text, o.plan.Violations[0].Path, o.plan.Violations[0].Ground)
				continue
			case !errors.As(o.err, &refusal) || len(refusal.Overrides) == 0:
				t.Errorf("%s %s: no override: %v; %s", k.name, text, o.err, encode(o.plan.Changes))
				continue
			}
			raw, err := json.Marshal(map[string]any{"overrides": refusal.Overrides})
			if err != nil {
				t.Fatal(err)
			}
			file, err := classes.ReadOverrides("learned.json", raw)
			if err != nil {
				t.Fatal(err)
			}
			before := u.rules
			u.rules = rules.Of(c.classifier(t, k.typeName, file), nil)
			p := u.plan(t, "ours", h.name, desired)
			u.rules = before
			if p.Action != threeway.Blocked || !strings.HasPrefix(p.Violations[0].Code, threeway.CreateOnly) {
				t.Errorf("%s %s: the override %s does not work: %s %s", k.name, text, raw, p.Action, encode(p.Changes))
				continue
			}
			t.Logf("%s %s: learned %s", k.name, text, raw)
		}
	}
}
