package promotions

import (
	"encoding/json"
	"testing"
)

// decode reads a value that was decoded without types.
func decode(t *testing.T, from, into any) {
	t.Helper()
	raw, err := json.Marshal(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}
