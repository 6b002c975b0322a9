package bundler

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
)

// Documents are read as PyYAML reads them.
func TestYAMLAnswers(t *testing.T) { shared.Judge(t, "yaml", readsSame) }

// readsSame compares the value of a document.
func readsSame(t *testing.T, a shared.Answer) (bool, string) {
	t.Helper()
	var input string
	if err := json.Unmarshal(a.Input, &input); err != nil {
		t.Fatal(err)
	}
	got, problem := toJSON(readYAML, input)
	full, other := toJSON(readFullYAML, input)
	if other != nil && problem == nil && strings.Contains(other.Msg, inBrackets) {
		full, other = got, nil // a common form, which only the quick reader knows
	}
	if full != got || (problem == nil) != (other == nil) {
		return false, "quickly " + got + " and in full " + full
	}
	if problem != nil {
		_, all := readYAML([]byte(input))
		return a.IsRefused(), fmt.Sprint(all)
	}
	if a.IsRefused() {
		return false, got
	}
	want := []byte(a.Text)
	if a.Text == "" {
		want = a.Answer
	}
	return reflect.DeepEqual(exact(t, []byte(got)), exact(t, want)), got
}

// exact decodes JSON with numbers as they are written.
func exact(t *testing.T, raw []byte) (out any) {
	t.Helper()
	decode := json.NewDecoder(bytes.NewReader(raw))
	decode.UseNumber()
	if err := decode.Decode(&out); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return out
}
