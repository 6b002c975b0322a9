package plan_test

import (
	"encoding/json"
	"testing"

	"github.com/app-sre/prcheck/plan"
)

// Documents of an older prcheck say in their own fields how effects were compared, and by whom they are known.
func TestOldEffects(t *testing.T) {
	for raw, want := range map[string]plan.Comparison{
		`{"items": [], "compared": true}`:                                      {How: plan.ComparedByRun},
		`{"items": [], "uncompared": "no time"}`:                               {How: plan.ComparedWithNone, Why: "no time"},
		`{"items": []}`:                                                        {How: plan.ComparedWithNone, Why: "the results do not say it"},
		`{"items": [], "comparison": {"how": "data"}}`:                         {How: plan.ComparedByData},
		`{"items": [], "compared": true, "comparison": {"how": "remembered"}}`: {How: plan.ComparedWithState},
	} {
		var e plan.Effects
		if err := json.Unmarshal([]byte(raw), &e); err != nil || e.HowCompared() != want {
			t.Errorf("%s: got %+v, %v", raw, e.HowCompared(), err)
		}
	}
	var old plan.Effect
	if err := json.Unmarshal([]byte(`{"kind": "delete", "subject": "x"}`), &old); err != nil || !old.Known.IsSaid() {
		t.Errorf("got %+v, %v", old, err)
	}
	now := plan.Effect{Kind: plan.EffectDelete, Subject: "x", Known: plan.Known{How: plan.KnownSaid}, Target: "t",
		Text: "y"}
	if old.Identity() != now.Identity() {
		t.Error("an effect that a program says is another one than in an old document")
	}
}

// A value that is null is another one than no value, also after it was read again.
func TestNoValueIsNotNull(t *testing.T) {
	const raw = `{"path":"/a","new":null}`
	var c plan.FieldChange
	if err := json.Unmarshal([]byte(raw), &c); err != nil || c.Old != nil || string(c.New) != "null" {
		t.Fatalf("got %+v, %v", c, err)
	}
	if out, err := json.Marshal(c); err != nil || string(out) != raw {
		t.Errorf("got %s, %v", out, err)
	}
}
