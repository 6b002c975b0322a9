package peers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/qontract/jsonpath"
)

// Paths choose the values that jsonpath_ng chooses.
func TestJSONPath(t *testing.T) { shared.Judge(t, "jsonpath", choosesSame) }

// choosesSame compares what a path chooses.
func choosesSame(t *testing.T, l shared.Answer) (bool, string) {
	t.Helper()
	var input struct {
		Path     string
		Document json.RawMessage
	}
	if err := json.Unmarshal(l.Input, &input); err != nil {
		t.Fatal(err)
	}
	var document any
	decode := json.NewDecoder(bytes.NewReader(input.Document))
	decode.UseNumber()
	if err := decode.Decode(&document); err != nil {
		t.Fatal(err)
	}
	values := []any{}
	path, err := jsonpath.Parse(input.Path)
	if err == nil {
		values, err = path.Find(document)
	}
	if err != nil || l.IsRefused() {
		return err != nil && l.IsRefused(), fmt.Sprint(values, err)
	}
	got, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(decoded(t, got), decoded(t, l.Answer)), string(got)
}
