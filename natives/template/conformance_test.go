package template

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
)

// A processCase is a case of the area process.
type processCase struct {
	Input struct {
		APIVersion string `json:"apiVersion"`
		Kind       string
		Object     map[string]any
		Objects    []map[string]any
		Labels     map[string]string
		Parameters []struct {
			Name     string `json:"name"`
			Value    any    `json:"value,omitempty"`
			Required bool   `json:"required,omitempty"`
			Generate string `json:"generate,omitempty"`
		}
		Values map[string]any
	}
	Expected struct {
		Object  map[string]any
		Objects []map[string]any
		OK      *bool
		Error   any
	}
}

// document returns the Template of a case as JSON.
func (c processCase) document(t *testing.T) []byte {
	top := map[string]any{"apiVersion": "template.openshift.io/v1", "kind": "Template"}
	if c.Input.APIVersion != "" {
		top["apiVersion"] = c.Input.APIVersion
	}
	if c.Input.Kind != "" {
		top["kind"] = c.Input.Kind
	}
	objects := c.Input.Objects
	if c.Input.Object != nil {
		objects = append(objects, c.Input.Object)
	}
	top["objects"], top["labels"], top["parameters"] = objects, c.Input.Labels, c.Input.Parameters
	raw, err := json.Marshal(top)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestProcessCases(t *testing.T) {
	shared.Each(t, "process", func(t *testing.T, c processCase) {
		wantsError := c.Expected.Error != nil && c.Expected.Error != false || c.Expected.OK != nil && !*c.Expected.OK
		var got []map[string]any
		parsed, err := Read("case", c.document(t))
		if err == nil {
			got, err = processUntyped(parsed, texts(c.Input.Values))
		}
		if (err != nil) != wantsError {
			t.Fatalf("got the error %v, want one: %t", err, wantsError)
		}
		want := c.Expected.Objects
		if c.Expected.Object != nil {
			want = append(want, c.Expected.Object)
		}
		if want != nil && !reflect.DeepEqual(throughJSON(t, got), throughJSON(t, want)) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// processUntyped processes a template of which some objects have no type, which is no matter of the test: they
// have one meanwhile.
func processUntyped(t *Template, values map[string]string) ([]map[string]any, error) {
	typed := *t
	typed.Objects = make([]map[string]any, len(t.Objects))
	for i, object := range t.Objects {
		object = maps.Clone(object)
		if _, hasKind := object["kind"]; !hasKind {
			object["kind"] = "untyped"
		}
		typed.Objects[i] = object
	}
	out, err := Process(&typed, values)
	for i, object := range out {
		for _, field := range []string{"apiVersion", "kind"} {
			if _, has := t.Objects[i][field]; !has {
				delete(object, field)
			}
		}
	}
	return out, err
}

// texts returns values as texts.
func texts(of map[string]any) map[string]string {
	out := map[string]string{}
	for name, value := range of {
		out[name] = fmt.Sprint(value)
	}
	return out
}

// throughJSON returns a value as JSON decodes it, so that numbers compare.
func throughJSON(t *testing.T, value any) any {
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
