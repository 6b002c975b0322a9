package decision_test

import (
	"encoding/json"
	"os"
	"testing"
)

// Random worlds are decided about as change-owners of qontract-reconcile decided about them.
func TestRecordedWorlds(t *testing.T) {
	raw, err := os.ReadFile("testdata/worlds.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct{ Worlds []json.RawMessage }
	if err := json.Unmarshal(raw, &recorded); err != nil {
		t.Fatal(err)
	}
	for _, raw := range recorded.Worlds {
		var of struct{ Name string }
		var c worldCase
		if err := json.Unmarshal(raw, &of); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &c); err != nil {
			t.Fatal(err)
		}
		t.Run(of.Name, func(t *testing.T) { holdWorld(t, c) })
	}
	if len(recorded.Worlds) < 50 {
		t.Errorf("only %d worlds", len(recorded.Worlds))
	}
}
