package resources_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

func TestHierarchyCases(t *testing.T) {
	type hierarchyCase struct {
		Input struct {
			Paths []json.RawMessage
		}
		Expected map[string]*string
	}
	shared.Each(t, "hierarchy", func(t *testing.T, c hierarchyCase) {
		var templates []resources.Template
		for _, raw := range c.Input.Paths {
			var one struct {
				Path  string
				Enums map[string][]string
			}
			if raw[0] == '"' {
				raw = json.RawMessage(`{"path":` + string(raw) + `}`)
			}
			if err := json.Unmarshal(raw, &one); err != nil {
				t.Fatal(err)
			}
			templates = append(templates, resources.Template{Path: one.Path, Choices: one.Enums})
		}
		got := resources.Parents(templates)
		for name, want := range c.Expected {
			parent, ok := got[name]
			if !ok {
				t.Errorf("there is no type %q in %q", name, got)
			}
			if want == nil {
				want = new(string)
			}
			if parent != *want {
				t.Errorf("%s: got the parent %q, want %q", name, parent, *want)
			}
		}
	})
}

func TestResourceIDCases(t *testing.T) {
	type idCase struct {
		Input    struct{ ID string }
		Expected struct {
			Type, Name, Root, Parent *string
			Error                    string
		}
	}
	shared.Each(t, "resource_id", func(t *testing.T, c idCase) {
		got, err := resources.ParseID(c.Input.ID)
		if c.Expected.Error != "" {
			if err == nil || !strings.Contains(err.Error(), c.Expected.Error) {
				t.Errorf("got %+v, %v, want the error %q", got, err, c.Expected.Error)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []struct {
			name, got string
			want      *string
		}{
			{"type", got.Type, c.Expected.Type}, {"name", got.Name, c.Expected.Name},
			{"root", got.Root, c.Expected.Root}, {"parent", got.Parent, c.Expected.Parent},
		} {
			if f.want != nil && f.got != *f.want {
				t.Errorf("%s: got %q, want %q", f.name, f.got, *f.want)
			}
		}
	})
}
