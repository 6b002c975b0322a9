package render

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration/manifests"
	"github.com/app-sre/prcheck/internal/shared"
)

// A manifestCase is a case of the area manifest.
type manifestCase struct {
	Name  string
	Input struct {
		Spec, Change map[string]any
	}
	Expected struct {
		Objects []any
		Base    string
		Patch   []patchStep
		Fluent  []any
		Params  map[string]string `json:"params_beyond_basic"`
	}
}

func TestManifestCases(t *testing.T) {
	bases := map[string]manifestCase{}
	for _, c := range shared.Cases[manifestCase](t, "manifest") {
		bases[c.Name] = c
	}
	shared.Each(t, "manifest", func(t *testing.T, c manifestCase) {
		in, hasService := readCase(t, c.Input.Spec, c.Input.Change)
		rendered, mistakes := Objects(in, nil, Options{Parity: true})
		for _, m := range mistakes {
			if !m.Warning {
				t.Error(m)
			}
		}
		if hasService {
			rendered = append(rendered, Service())
		}
		got := decoded(t, rendered).([]any)
		fluent := takeFluent(t, got)
		want := c.Expected.Objects
		if c.Expected.Base != "" {
			want = applyPatch(t, bases[c.Expected.Base].Expected.Objects, c.Expected.Patch)
		}
		diff(t, "objects", got, want)
		wantFluent := c.Expected.Fluent
		if wantFluent == nil && in.Spec.Cron == "" {
			wantFluent = bases["basic"].Expected.Fluent
		}
		diff(t, "fluent", fluent, wantFluent)
		basic, _ := readCase(t, bases["basic"].Input.Spec, nil)
		beyond := parametersBeyond(in, basic)
		if len(beyond) > 0 || len(c.Expected.Params) > 0 {
			diff(t, "parameters", decoded(t, beyond), decoded(t, c.Expected.Params))
		}
	})
}

// parametersBeyond returns the parameters of an integration that another one lacks.
func parametersBeyond(of, basic Integration) map[string]string {
	out := map[string]string{}
	for _, p := range Parameters(of) {
		out[p.Name] = *p.Value
	}
	for _, p := range Parameters(basic) {
		delete(out, p.Name)
	}
	return out
}

// diff shows the first place at which two values differ.
func diff(t *testing.T, what string, got, want any) {
	t.Helper()
	if reflect.DeepEqual(got, want) {
		return
	}
	t.Errorf("%s differ at %s", what, firstDifference("", got, want))
}

func firstDifference(at string, got, want any) string {
	switch g := got.(type) {
	case map[string]any:
		w, ok := want.(map[string]any)
		if !ok {
			break
		}
		for key := range g {
			if !reflect.DeepEqual(g[key], w[key]) {
				return firstDifference(at+"/"+key, g[key], w[key])
			}
		}
		for key := range w {
			if _, ok := g[key]; !ok {
				return fmt.Sprintf("%s/%s: want %v, got nothing", at, key, w[key])
			}
		}
	case []any:
		w, ok := want.([]any)
		if !ok || len(w) != len(g) {
			break
		}
		for i := range g {
			if !reflect.DeepEqual(g[i], w[i]) {
				return firstDifference(at+"/"+strconv.Itoa(i), g[i], w[i])
			}
		}
	}
	return fmt.Sprintf("%s: got %v, want %v", at, got, want)
}

// takeFluent replaces the text with the configuration of the log shipper by "(fluent.conf)", as
// the cases do, and returns the configuration as a tree, that of the first object.
func takeFluent(t *testing.T, objects []any) any {
	t.Helper()
	var tree any = []any(nil)
	for _, object := range objects {
		for _, c := range containers(object.(map[string]any)) {
			if c["name"] != "config" {
				continue
			}
			args := c["args"].([]any)
			_, rest, _ := strings.Cut(args[0].(string), "<<EOF\n")
			text, _, ok := strings.Cut(rest, "EOF\n")
			if !ok {
				t.Fatalf("no configuration in %s", args[0])
			}
			if children, ok := parseSection(t, strings.Split(text, "\n"))["children"]; ok && tree.([]any) == nil {
				tree = children
			}
			args[0] = "(fluent.conf)"
		}
	}
	return tree
}

// parseSection returns the lines of a section as the cases write it.
func parseSection(t *testing.T, lines []string) map[string]any {
	t.Helper()
	top := map[string]any{}
	stack := []map[string]any{top}
	for _, line := range lines {
		line = strings.TrimSpace(line)
		in := stack[len(stack)-1]
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "</"):
			stack = stack[:len(stack)-1]
		case strings.HasPrefix(line, "<"):
			name, of, hasOf := strings.Cut(strings.Trim(line, "<>"), " ")
			child := map[string]any{"section": name}
			if hasOf {
				child["match"] = of
			}
			children, _ := in["children"].([]any)
			in["children"] = append(children, child)
			stack = append(stack, child)
		default:
			key, value, _ := strings.Cut(line, " ")
			set, _ := in["set"].(map[string]any)
			if set == nil {
				set = map[string]any{}
				in["set"] = set
			}
			set[key] = value
		}
	}
	if len(stack) != 1 {
		t.Fatalf("a section does not end in %q", lines)
	}
	return top
}

// decoded returns a value as JSON decodes it.
func decoded(t *testing.T, value any) any {
	t.Helper()
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

// An imageCase is a case of the area image.
type imageCase struct {
	Input    map[string]string
	Expected map[string]any
}

func TestImageCases(t *testing.T) {
	shared.Each(t, "image", func(t *testing.T, c imageCase) {
		if _, ok := c.Input["IMAGE"]; !ok {
			t.Skip("about what the data say, not about rendering")
		}
		in := Integration{Name: "integ", Shards: []Shard{{Shards: "1", ID: "0", ImageRef: c.Input["shard.imageRef"]}}}
		in.Spec.ImageRef = c.Input["spec.imageRef"]
		if c.Input["kind"] == string(manifests.CronJob) {
			in.Spec.Cron = "* * * * *"
		}
		objects, mistakes := Objects(in, c.Input, Options{})
		if len(objects) != 1 || len(mistakes) > 0 {
			t.Fatalf("got %d objects and %v", len(objects), mistakes)
		}
		if got := workOf(objects[0])["image"]; got != c.Expected["image"] {
			t.Errorf("got %v, want %v", got, c.Expected["image"])
		}
	})
}

// workOf returns the container of the integration.
func workOf(object manifests.Object) fields {
	for _, c := range containers(object) {
		if c["name"] == "int" {
			return c
		}
	}
	return nil
}

func TestObjectNameCases(t *testing.T) {
	shared.Each(t, "object_name", func(t *testing.T, c struct {
		Input    struct{ Integration, Suffix, Kind string }
		Expected struct {
			Name  string
			Error any
		}
	}) {
		kind := manifests.Kind(orDefault(c.Input.Kind, string(manifests.Deployment)))
		if got := ObjectName(kind, c.Input.Integration, c.Input.Suffix); got != c.Expected.Name {
			t.Errorf("got %q, want %q", got, c.Expected.Name)
		}
	})
}

func TestManifestRuleCases(t *testing.T) {
	shared.Each(t, "manifest_rule", func(t *testing.T, c struct {
		Input    map[string]any
		Expected struct {
			Kind    string
			Objects []string
		}
	}) {
		in, _ := readCase(t, map[string]any{"name": "integ"}, c.Input)
		objects, mistakes := Objects(in, nil, Options{Parity: true})
		if len(mistakes) > 0 {
			t.Fatal(mistakes)
		}
		var got []string
		for _, object := range objects {
			got = append(got, fmt.Sprint(object["kind"], "/", object["metadata"].(fields)["name"]))
		}
		if c.Expected.Objects != nil && !reflect.DeepEqual(got, c.Expected.Objects) {
			t.Errorf("got %v, want %v", got, c.Expected.Objects)
		}
		if c.Expected.Kind != "" && (len(got) != 1 || objects[0]["kind"] != c.Expected.Kind) {
			t.Errorf("got %v, want the kind %s", got, c.Expected.Kind)
		}
	})
}

func TestResourcesCases(t *testing.T) {
	shared.Each(t, "resources", func(t *testing.T, c struct {
		Input    struct{ Integration string }
		Expected map[string]any
	}) {
		in, _ := readCase(t, map[string]any{"name": c.Input.Integration}, nil)
		objects, mistakes := Objects(in, nil, Options{})
		if len(mistakes) > 0 {
			t.Fatal(mistakes)
		}
		got := map[string]any{"caller": c.Expected["caller"]} // the caller is not rendered
		for _, object := range append(objects, Service()) {
			kind := object["kind"].(string)
			names, _ := got[kind].([]any)
			got[kind] = append(names, object["metadata"].(fields)["name"])
		}
		diff(t, "objects", got, c.Expected)
	})
}
