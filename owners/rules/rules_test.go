package rules

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/owners/content"
)

// one returns rules with one type and one role that binds it, changed by an edit.
func one(edit func(t *ChangeType, r *Role)) Input {
	t := ChangeType{File: "/t.yml", Name: "t", ContextSchema: "/s.yml", Changes: []ChangeRule{{Selectors: []string{"a"}}}}
	r := Role{File: "/r.yml", Name: "r", People: []Person{{Name: "ann"}}, Binds: []Bind{{Type: "t"}}}
	if edit != nil {
		edit(&t, &r)
	}
	return Input{Types: []ChangeType{t}, Roles: []Role{r}, Today: "2026-11-28"}
}

// Each mistake in a rule is a fault with its kind, its file and its JSON pointer.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(t *ChangeType, r *Role)
		kind FaultKind
		at   string
	}{
		{"no mistake", nil, "", ""},
		{"a selector", func(t *ChangeType, _ *Role) { t.Changes[0].Selectors = []string{"a", "b["} }, BadSelector,
			"/t.yml/changes/0/jsonPathSelectors/1"},
		{"an open template", func(t *ChangeType, _ *Role) { t.Changes[0].Selectors[0] = "{{ ctx_file_path" }, BadTemplate,
			"/t.yml/changes/0/jsonPathSelectors/0"},
		{"a statement in a template", func(t *ChangeType, _ *Role) {
			t.Changes[0].Selectors[0] = "{{ ctx_file_path }}{% if x %}"
		}, BadTemplate, "/t.yml/changes/0/jsonPathSelectors/0"},
		{"another variable", func(t *ChangeType, _ *Role) { t.Changes[0].Selectors[0] = "{{ path }}" }, BadVariable,
			"/t.yml/changes/0/jsonPathSelectors/0"},
		{"the selector of a context", func(t *ChangeType, _ *Role) { t.Changes[0].Context = &ContextRule{Selector: "["} },
			BadSelector, "/t.yml/changes/0/context/selector"},
		{"when", func(t *ChangeType, _ *Role) { t.Changes[0].Context = &ContextRule{Selector: "a", When: "moved"} }, BadWord,
			"/t.yml/changes/0/context"},
		{"an owner's selector", func(t *ChangeType, _ *Role) { t.Implicit = []string{"owner["} }, BadSelector,
			"/t.yml/implicitOwnership/0/jsonPathSelector"},
		{"a priority", func(t *ChangeType, _ *Role) { t.Priority = "soon" }, BadWord, "/t.yml/priority"},
		{"a kind of context", func(t *ChangeType, _ *Role) { t.ContextType = "folder" }, BadWord, "/t.yml/contextType"},
		{"an unknown parent", func(t *ChangeType, _ *Role) { t.Inherit = []string{"u"} }, BadReference, "/t.yml/inherit"},
		{"a parent of itself", func(t *ChangeType, _ *Role) { t.Inherit = []string{"t"} }, Circle, "/t.yml/inherit"},
		{"an unknown type", func(t *ChangeType, _ *Role) {
			t.Changes[0] = ChangeRule{Types: []string{"u"}, Context: &ContextRule{Selector: "a"}}
		}, BadReference, "/t.yml/changes/0/changeTypes/0"},
		{"a type over a type without a context", func(t *ChangeType, _ *Role) {
			t.Changes[0] = ChangeRule{Types: []string{"t"}}
		}, BadReference, "/t.yml/changes/0"},
		{"a role without people", func(_ *ChangeType, r *Role) { r.People = nil }, NoPeople, "/r.yml/self_service"},
		{"a role of bots without names", func(_ *ChangeType, r *Role) { r.People, r.HasBots = nil, true }, "", ""},
		{"a role without people that ended", func(_ *ChangeType, r *Role) { r.People, r.Expires = nil, "2026-11-28" }, "",
			""},
		{"a date", func(_ *ChangeType, r *Role) { r.Expires = "tomorrow" }, BadDate, "/r.yml/expirationDate"},
		{"a bound type", func(_ *ChangeType, r *Role) {
			r.Binds[0].Type = "u"
		}, BadReference, "/r.yml/self_service/0/change_type"},
		{"a bound file", func(_ *ChangeType, r *Role) {
			r.Binds[0].Datafiles = []content.Ref{{Path: "/f.yml", Schema: "/u.yml"}}
		}, WrongSchema, "/r.yml/self_service/0/datafiles/0"},
	} {
		_, faults := Compile(one(c.edit))
		if c.kind == "" {
			if len(faults) > 0 {
				t.Errorf("%s: %v", c.name, faults)
			}
			continue
		}
		if len(faults) != 1 || faults[0].Kind != c.kind || faults[0].File+faults[0].Pointer != c.at {
			t.Errorf("%s: %v, want %s at %s", c.name, faults, c.kind, c.at)
		}
	}
}

// A role counts up to the day before it ends.
func TestRoleEnds(t *testing.T) {
	for ends, want := range map[string]int{"2026-11-28": 0, "2026-11-29": 1, "2026-1-1": 0, "2026-12-1": 1} {
		r, faults := Compile(one(func(_ *ChangeType, r *Role) { r.Expires = ends }))
		if len(faults) > 0 || len(r.Roles) != want {
			t.Errorf("%s: %d roles, %v", ends, len(r.Roles), faults)
		}
	}
}

// web is a world in which every file names all others, and each is of the same schema.
type web []string

func (w web) Sides(content.Ref) (base, head any) {
	var refs []any
	for _, path := range w {
		refs = append(refs, map[string]any{"$ref": path})
	}
	of := map[string]any{"refs": refs, "a": "1"}
	return of, of
}

// Types over types that lead from every file to every other one end: within a bound, as an error.
func TestManyHops(t *testing.T) {
	in := one(func(t *ChangeType, _ *Role) {
		t.Changes = append(t.Changes, ChangeRule{Types: []string{"t"}, Context: &ContextRule{Selector: "refs[*].'$ref'"}})
	})
	r, faults := Compile(in)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	var w web
	for i := range 12 {
		w = append(w, fmt.Sprintf("/%d.yml", i))
	}
	start := time.Now()
	for n, wantsError := range map[int]bool{3: false, 12: true} {
		base, head := w[:n].Sides(content.Ref{})
		c := &content.Change{Ref: content.Ref{Kind: content.Datafile, Path: "/0.yml", Schema: "/s.yml"}, Old: base, New: head}
		contexts, err := r.Contexts(c, w[:n], nil)
		if (err != nil) != wantsError || !wantsError && len(contexts) == 0 {
			t.Errorf("%d files: %d contexts, %v", n, len(contexts), err)
		}
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}

// A selector that matches too many places is an error, in little time.
func TestManyPlaces(t *testing.T) {
	r, _ := Compile(one(func(t *ChangeType, _ *Role) { t.Changes[0].Selectors = []string{"$..*"} }))
	list := make([]any, 200_000)
	for i := range list {
		list[i] = map[string]any{"v": json.Number("1")}
	}
	ref := content.Ref{Kind: content.Datafile, Path: "/f.yml", Schema: "/s.yml"}
	c := &Context{Type: r.Types[0], Origin: r.Types[0], File: ref}
	start := time.Now()
	_, err := c.Allows(ref, map[string]any{"l": list})
	if took := time.Since(start); err == nil || took > 20*time.Second {
		t.Errorf("error %v in %s", err, took)
	} else {
		t.Log(err, took)
	}
}

// The path of a context file is put into a selector as text.
func TestTemplate(t *testing.T) {
	s, fault := compileSelector("roles[?(@.'$ref'=='{{- ctx_file_path -}}')]")
	if fault != nil {
		t.Fatal(fault)
	}
	path, err := s.of("/r.yml")
	if err != nil {
		t.Fatal(err)
	}
	matches, err := path.Places(map[string]any{"roles": []any{map[string]any{"$ref": "/q.yml"},
		map[string]any{"$ref": "/r.yml"}}})
	if err != nil || len(matches) != 1 || matches[0].String() != "roles.[1]" {
		t.Errorf("got %v, %v", matches, err)
	}
	if _, err := s.of("it's"); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("a path with a quote: %v", err)
	}
}

// An owner whom a file names counts if base knows them; one whom only head knows is told, and approves nothing.
func TestImplicitOwners(t *testing.T) {
	in := one(func(t *ChangeType, r *Role) { t.Implicit = []string{"owners[*].'$ref'"}; r.Binds = nil })
	in.People = map[string]Person{"/ann.yml": {Name: "ann"}}
	r, faults := Compile(in)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	of := map[string]any{"owners": []any{map[string]any{"$ref": "/ann.yml"}, map[string]any{"$ref": "/new.yml"},
		map[string]any{"$ref": "/none.yml"}}}
	c := &content.Change{Ref: content.Ref{Kind: content.Datafile, Path: "/f.yml", Schema: "/s.yml"}, New: of}
	contexts, err := r.Contexts(c, web(nil), func(path string) bool { return path == "/new.yml" })
	if err != nil || len(contexts) != 1 {
		t.Fatal(contexts, err)
	}
	if got := contexts[0]; len(got.People) != 1 || got.People[0].Name != "ann" || len(got.Unknown) != 1 ||
		got.Unknown[0] != "/new.yml" {
		t.Errorf("people %v, unknown %v", got.People, got.Unknown)
	}
}
