package generic

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/generic/cloudtest"
)

// An edit is a change of the data or of a resource of the bundle.
type edit struct {
	name string
	do   func(w *cloudtest.World)
}

// edits returns changes at each place of the data about clouds, fields that are added to each
// entry, and changes at random places of the specifications.
func (s *scene) edits(t *testing.T) []edit {
	t.Helper()
	var out []edit
	add := func(name string, do func(w *cloudtest.World)) { out = append(out, edit{name, do}) }
	for _, file := range sortedKeys(s.Data) {
		if !strings.HasPrefix(file, "/cloud/") {
			continue
		}
		add(file+" goes", func(w *cloudtest.World) { delete(w.Data, file) })
		for _, at := range places(s.Data[file], "") {
			if at == "/$schema" {
				continue
			}
			for kind, change := range changes {
				add(fmt.Sprintf("%s%s %s", file, at, kind), func(w *cloudtest.World) {
					w.Data[file] = changed(w.Data[file], at, change).(object)
				})
			}
		}
		for field, values := range additions {
			for _, v := range values {
				add(fmt.Sprintf("%s has %s: %v", file, field, v), func(w *cloudtest.World) { w.Data[file][field] = v })
			}
		}
	}
	random := rand.New(rand.NewPCG(3, 5)) //nolint:gosec // a test wants the same edits again
	for _, path := range sortedKeys(s.Resources) {
		var spec any
		if json.Unmarshal([]byte(s.Resources[path]), &spec) != nil {
			t.Fatalf("%s is no JSON", path)
		}
		all := places(spec, "")
		for range min(40, len(all)) {
			at, kind := all[random.IntN(len(all))], []string{"goes", "is another"}[random.IntN(2)]
			add(fmt.Sprintf("%s%s %s", path, at, kind), func(w *cloudtest.World) {
				raw, err := json.Marshal(changed(spec, at, changes[kind]))
				if err != nil {
					t.Fatal(err)
				}
				w.Resources[path] = string(raw)
			})
		}
		add(path+" goes", func(w *cloudtest.World) { delete(w.Resources, path) })
	}
	return out
}

// changes are the ways to change a value; nil means that the value goes.
var changes = map[string]func(any) any{
	"goes": func(any) any { return nil },
	"is another": func(v any) any {
		switch v := v.(type) {
		case string:
			return v + "2"
		case bool:
			return !v
		case float64:
			return v + 1
		case int:
			return v + 1
		case []any:
			return append(slices.Clone(v), v...)
		}
		return "other"
	},
}

// additions are fields of entries with values that they may have.
var additions = map[string][]any{
	"policy": {"observe", "detach"}, "adopt": {"never", "required"}, "delete": {true}, "protected": {true},
	"allowReplace": {true},
	"allowUpdate":  {[]any{"/location"}}, "ignore": {[]any{"/tags"}, []any{"/properties"}},
	"exclusive": {[]any{"/properties/list"}},
	"hooks":     {[]any{"azure-autoscaled-capacity"}}, "onSoftDeleted": {"purge"}, "needs": {[]any{object{"$ref": rule}}},
	"secrets": {[]any{object{"at": "/properties/adminPassword",
		"secret": object{"path": "cloud/sessions", "field": "password", "version": 9}}}},
	"insecure": {true}, "readActions": {[]any{"Example.Cache/caches/listKeys"}}, "overrides": {"/cloud/none.yml"},
	"bodyText": {"{}"},
}

// places returns the pointers to all values in a value.
func places(v any, at string) []string {
	var out []string
	step := func(name string, v any) {
		next := at + "/" + jsonpointer.Escape(name)
		out = append(append(out, next), places(v, next)...)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			step(k, v[k])
		}
	case []any:
		for i := range v {
			step(fmt.Sprint(i), v[i])
		}
	}
	return out
}

// changed returns a copy of a value with a change at a place.
func changed(v any, at string, change func(any) any) any {
	name, rest, isDeeper := strings.Cut(at[1:], "/")
	name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
	next := func(v any) any {
		if isDeeper {
			return changed(v, "/"+rest, change)
		}
		return change(v)
	}
	switch v := v.(type) {
	case map[string]any:
		out := maps.Clone(v)
		if out[name] = next(v[name]); out[name] == nil {
			delete(out, name)
		}
		return out
	case []any:
		var out []any
		for i := range v {
			item := v[i]
			if fmt.Sprint(i) == name {
				item = next(item)
			}
			if item != nil {
				out = append(out, item)
			}
		}
		return out
	}
	return v
}

// For every change of the data, of a specification or of overrides: if the desired states are
// equal, a run would do the same and say the same. This is what a skip relies on.
func TestEqualDesiredStatesDoTheSame(t *testing.T) {
	s := newScene(t)
	s.must()
	s.Add("/cloud/new.yml", object{"type": "Example.Cache/caches", "name": "new", "parent": group,
		"body": object{"location": "westus", "properties": object{"sku": object{"name": "Standard", "capacity": 1}}}})
	s.body(cache)["tags"] = object{"team": "other"}
	base := s.Clone()
	before, state := s.says(), s.stateText(t)
	equal, edits := 0, s.edits(t)
	for _, e := range edits {
		s.World = base.Clone()
		for file := range s.Data {
			s.Data[file] = copyOf(base.Data[file]).(object)
		}
		e.do(s.World)
		if s.stateText(t) != state {
			continue
		}
		equal++
		if after := s.says(); after != before {
			t.Errorf("%s: equal states, but the run says\n%s\ninstead of\n%s", e.name, after, before)
		}
	}
	t.Logf("%d of %d edits keep the desired state", equal, len(edits))
	if equal < 20 || equal > len(edits)*9/10 {
		t.Errorf("%d of %d edits keep the desired state", equal, len(edits))
	}
}

// says returns what a dry run reports.
func (s *scene) says() string {
	err := s.check(nil)
	var out []string
	for _, f := range s.findings {
		out = append(out, fmt.Sprintf("%s %s %s %v", f.Severity, f.Code, f.Message, f.Effect != nil))
	}
	slices.Sort(out)
	return fmt.Sprintf("%v\n%s\n%s", err, strings.Join(out, "\n"), &s.log)
}

// stateText returns the desired state as JSON.
func (s *scene) stateText(t *testing.T) string {
	t.Helper()
	env := s.environment(nil)
	v, err := s.native.(integration.Stater).DesiredState(t.Context(), env.Query, env.Settings)
	if err != nil {
		return "error " + err.Error()
	}
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
