package bundler

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
)

// Documents are read as PyYAML reads them.
func TestYAMLAnswers(t *testing.T) {
	shared.Judge(t, "yaml", func(t *testing.T, a shared.Answer) (bool, string) {
		var input string
		if err := json.Unmarshal(a.Input, &input); err != nil {
			t.Fatal(err)
		}
		got, problem := toJSON(readYAML, input)
		if full, other := toJSON(readFullYAML, input); full != got || (problem == nil) != (other == nil) {
			return false, "quickly " + got + " and in full " + full
		}
		if problem != nil {
			return a.IsRefused(), problem.Msg
		}
		if a.IsRefused() {
			return false, got
		}
		want := []byte(a.Text)
		if a.Text == "" {
			want = a.Answer
		}
		return reflect.DeepEqual(exact(t, []byte(got)), exact(t, want)), got
	})
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
