package peers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/template"
)

// Templates are filled in as OpenShift's library does.
func TestTemplates(t *testing.T) { shared.Judge(t, "templates", fillsSame) }

// Objects with items get what the library gives them: its answers stand in the file.
func TestTemplateLists(t *testing.T) {
	raw, err := os.ReadFile("testdata/template-lists.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(raw) {
		var l shared.Answer
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		if isSame, ours := fillsSame(t, l); !isSame {
			t.Errorf("%s: got %s, want %s %s\n%s", l.ID, ours, l.Answer, l.Error, l.Input)
		}
	}
}

// fillsSame compares the objects of a template.
func fillsSame(t *testing.T, l shared.Answer) (bool, string) {
	t.Helper()
	var input struct {
		Template json.RawMessage
		Values   map[string]string
	}
	if err := json.Unmarshal(l.Input, &input); err != nil {
		t.Fatal(err)
	}
	objects := []map[string]any{}
	read, err := template.Read("template", input.Template)
	if err == nil {
		var made []map[string]any
		made, err = template.Process(read, input.Values)
		objects = append(objects, made...)
	}
	if err != nil || l.IsRefused() {
		return err != nil && l.IsRefused(), fmt.Sprint(objects, err)
	}
	got, err := json.Marshal(objects)
	if err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(decoded(t, got), decoded(t, l.Answer)), string(got)
}

// decoded returns a value of JSON.
func decoded(t *testing.T, raw []byte) (out any) {
	t.Helper()
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
