package shared

import (
	"bytes"
	"encoding/json"
	"testing"
)

// Words decodes the words of a part of a case, such as its input. A word that the test does not know
// fails the test, with its name: a case that is not understood proves nothing.
func Words(t testing.TB, part json.RawMessage, into any) {
	t.Helper()
	if len(part) == 0 {
		return
	}
	known := json.NewDecoder(bytes.NewReader(part))
	known.DisallowUnknownFields()
	if err := known.Decode(into); err != nil {
		t.Fatalf("the words of %.300s are not understood: %v", part, err)
	}
}
