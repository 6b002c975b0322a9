package plan_test

import (
	"testing"

	"github.com/app-sre/prcheck/plan"
)

// Effects with a part at which nobody looked are not remembered for another run.
func TestUnlookedIsNotWhole(t *testing.T) {
	e := &plan.Effects{Items: []plan.Effect{{Kind: plan.EffectCreate, Subject: "x"}}}
	if !e.IsWhole() {
		t.Fatal("effects that are known are not whole")
	}
	e.Unlooked = []plan.Unlooked{{What: plan.UnlookedDrift, Why: "nobody answers"}}
	if e.IsWhole() {
		t.Error("effects are whole although nobody looked at a part")
	}
}
