package promotions

import (
	"encoding/json"
	"testing"

	"github.com/app-sre/prcheck/natives/saas/saastest"
	"github.com/app-sre/prcheck/settings"
)

// A merge request plans the promotions only if it changes a target that is promoted or one of its
// publishers.
func TestWhatPlansPromotions(t *testing.T) {
	desired := func(w *saastest.World) string {
		s, err := settings.Read("prcheck.yaml", []byte("version: 1\n"))
		if err != nil {
			t.Fatal(err)
		}
		is, err := native{}.DesiredState(t.Context(), w.Query(t), s.For(Name))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(is)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	before := desired(saastest.New())
	for name, c := range map[string]struct {
		change func(w *saastest.World)
		plans  bool
	}{
		"nothing": {func(*saastest.World) {}, false},
		"a parameter of a publisher": {func(w *saastest.World) {
			w.Target(saastest.File, 0, 0)["parameters"] = map[string]any{"REPLICAS": 7}
		}, false},
		"the names of owners": {func(w *saastest.World) { w.Set(saastest.App, "Other", "serviceOwners", 0, "name") }, false},
		"another channel of a publisher": {func(w *saastest.World) {
			w.Target(saastest.File, 0, 0)["promotion"] = map[string]any{"publish": []any{"shop-stage", "more"}}
		}, false},
		"the ref of a publisher": {func(w *saastest.World) { w.Target(saastest.File, 0, 0)["ref"] = "stable" }, true},
		"the ref of a subscriber": {func(w *saastest.World) { w.Target(saastest.File, 0, 1)["ref"] = saastest.Shas(1)[0] },
			true},
		"the soak time": {func(w *saastest.World) {
			w.Target(saastest.File, 0, 1)["promotion"].(map[string]any)["soakDays"] = 3
		}, true},
		"a blocked version": {func(w *saastest.World) {
			w.Set(saastest.App, []any{saastest.Shas(1)[0]}, "codeComponents", 0, "blockedVersions")
		}, true},
	} {
		w := saastest.New()
		c.change(w)
		if got := desired(w) != before; got != c.plans {
			t.Errorf("%s: plans %v, want %v", name, got, c.plans)
		}
	}
}
