package rounds

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/plan"
)

// The fields that differ stand in the text and in the JSON of a report, of a dry run and of a run, with old and new
// values, and without secrets.
func TestFields(t *testing.T) {
	raw := func(text string) json.RawMessage { return json.RawMessage(text) }
	changes := []plan.FieldChange{
		{Path: "/spec/containers/name=web/image", Old: raw(`"a:1"`), New: raw(`"a:2"`)},
		{Path: "/spec/env", Old: raw(`{"a":["x\nsesame"]}`), Reason: "drift"},
		{Path: "/data/key", Old: raw(`"hidden"`), Secret: true},
		{Path: "/long", New: raw(`"` + strings.Repeat("x", 1000) + `"`)},
	}
	native := fake{dry: func(_ context.Context, env integration.Environment) error {
		env.Report(integration.Remark{Finding: plan.Finding{Message: "it differs"}, Action: "update",
			Effect: &plan.Effect{Kind: plan.EffectChange, Subject: "shop", Changes: changes}})
		return nil
	}, run: func(_ context.Context, _ integration.Environment, act integration.Actors) error {
		act.Did(integration.Deed{Key: "shop", Action: "update", Status: "done", Changes: changes})
		return nil
	}}
	for _, writes := range []bool{false, true} {
		in, _ := input(native)
		in.Masker = mask.New([]string{"sesame"})
		r := once(t, in, Orders{Writes: writes})
		var text, asJSON strings.Builder
		if err := r.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		if err := r.WriteJSON(&asJSON); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"    /spec/containers/name=web/image: \"a:1\" -> \"a:2\"\n", "/spec/env: {\"a\":",
			"-> none (drift)\n", "    /data/key: a secret, not shown\n"} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("the text does not say %q:\n%s", want, text.String())
			}
		}
		if !strings.Contains(asJSON.String(),
			`{"path":"/spec/containers/name=web/image","old":"a:1","new":"a:2"}`) {
			t.Errorf("the JSON is %s", asJSON.String())
		}
		if all := text.String() + asJSON.String(); strings.Contains(all, "sesame") || strings.Contains(all, "hidden") ||
			strings.Contains(all, strings.Repeat("x", 300)) {
			t.Errorf("a value is shown that must not be:\n%s", all)
		}
	}
}
