package jsonpath

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
)

// A selectorCase is an expression, and what it chooses in the data.
type selectorCase struct {
	Input struct {
		Expression string
		Data       json.RawMessage
	}
	Expected struct {
		Matches []found
		Error   any
		Why     string
	}
}

// Selectors of change types choose what the recorded cases say, at the same places. Members come in the order of their
// names.
func TestSelectorCases(t *testing.T) {
	shared.Each(t, "owners_jsonpath", func(t *testing.T, c selectorCase) {
		path, err := ParseSelector(c.Input.Expression)
		if isRefused := c.Expected.Error != nil; (err != nil) != isRefused {
			t.Fatalf("error %v, want one: %v", err, isRefused)
		}
		if err != nil {
			return
		}
		var data any
		decode(t, c.Input.Data, &data)
		matches, err := path.Places(data)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := inOrder(foundOf(matches)), inOrder(c.Expected.Matches); !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}
