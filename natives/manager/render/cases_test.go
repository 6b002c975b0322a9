package render

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/manifests"
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
		in, values := readCase(t, c.Input.Spec, c.Input.Change)
		rendered, mistakes := Objects(in, nil, Options{Parity: true, GovSlack: asText(values["govslack"]) == "true"})
		for _, m := range mistakes {
			if !m.Warning {
				t.Error(m)
			}
		}
		if values["excludeservice"] != true {
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
	Input    map[string]any
	Expected map[string]any
}

func TestImageCases(t *testing.T) {
	shared.Each(t, "image", func(t *testing.T, c imageCase) {
		_, isRef := c.Input["tag_from_ref"]
		if _, ok := c.Input["IMAGE"]; !ok || isRef {
			t.Skip("about what the data say, not about rendering")
		}
		knowWords(t, c.Input, "kind", "spec.imageRef", "shard.imageRef", "IMAGE", "IMAGE_TAG", "IMAGE_DIGEST")
		knowWords(t, c.Expected, "image", "error")
		in := Integration{Name: "integ", Shards: []Shard{{Shards: "1", ID: "0", ImageRef: asText(c.Input["shard.imageRef"])}}}
		in.Spec.ImageRef = asText(c.Input["spec.imageRef"])
		if c.Input["kind"] == manifests.CronJob.Name {
			in.Spec.Cron = "* * * * *"
		}
		values := map[string]string{}
		for name, value := range c.Input {
			values[name] = asText(value)
		}
		objects, mistakes := Objects(in, values, Options{})
		if wantsError := c.Expected["error"] == true; wantsError != (len(objects) == 0) || wantsError != (len(mistakes) > 0) {
			t.Fatalf("got %d objects and %v, want %v", len(objects), mistakes, c.Expected)
		} else if wantsError {
			return
		}
		if got := workOf(objects[0])["image"]; got != c.Expected["image"] {
			t.Errorf("got %v, want %v", got, c.Expected["image"])
		}
	})
}

// knowWords fails the test if a part of a case has a word that it does not know.
func knowWords(t *testing.T, part map[string]any, known ...string) {
	t.Helper()
	for word := range part {
		if !slices.Contains(known, word) {
			t.Fatalf("the word %q is not known", word)
		}
	}
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
	shared.Each(t, "object_name", func(t *testing.T, raw struct {
		Input    map[string]any
		Expected json.RawMessage
	}) {
		if _, ok := raw.Input["keys"]; ok {
			t.Skip("about several shards, not about rendering")
		}
		knowWords(t, raw.Input, "integration", "suffix", "suffixes", "kind")
		c := struct {
			Input    map[string]any
			Expected struct {
				Name  string
				Error any
			}
		}{Input: raw.Input}
		shared.Words(t, raw.Expected, &c.Expected)
		in := Integration{Name: asText(c.Input["integration"]), Shards: []Shard{{Suffix: asText(c.Input["suffix"])}}}
		for _, suffix := range asList(c.Input["suffixes"]) {
			in.Shards = append(in.Shards, Shard{Suffix: asText(suffix)})
		}
		switch c.Input["kind"] {
		case manifests.CronJob.Name:
			in.Spec.Cron = "* * * * *"
		case manifests.StatefulSet.Name:
			in.Spec.Cache = true
		}
		objects, mistakes := Objects(in, nil, Options{})
		wantsError := c.Expected.Error != nil && c.Expected.Error != false
		if wantsError != (len(objects) == 0) || wantsError != (len(mistakes) > 0) {
			t.Fatalf("got %d objects and %v, want %+v", len(objects), mistakes, c.Expected)
		} else if wantsError {
			return
		}
		if got := objects[0]["metadata"].(fields)["name"]; got != c.Expected.Name {
			t.Errorf("got %q, want %q", got, c.Expected.Name)
		}
	})
}

func TestManifestRuleCases(t *testing.T) {
	type rule struct {
		Kind     string
		Objects  []string
		EnvHas   []string `json:"env_has"`
		EnvLacks []string `json:"env_lacks"`
	}
	shared.Each(t, "manifest_rule", func(t *testing.T, raw struct {
		Input    map[string]any
		Expected json.RawMessage
	}) {
		c := struct {
			Input    map[string]any
			Expected rule
		}{Input: raw.Input}
		shared.Words(t, raw.Expected, &c.Expected)
		spec := map[string]any{"name": "integ"}
		if shard, ok := c.Input["shard"]; ok {
			spec["shard_specs"] = []any{shard}
			delete(c.Input, "shard")
		}
		in, _ := readCase(t, spec, c.Input)
		objects, mistakes := Objects(in, nil, Options{Parity: true})
		if len(mistakes) > 0 {
			t.Fatal(mistakes)
		}
		var got []string
		for _, object := range objects {
			got = append(got, fmt.Sprint(object["kind"], "/", object["metadata"].(fields)["name"]))
		}
		if c.Expected.Objects == nil && c.Expected.Kind == "" && c.Expected.EnvHas == nil && c.Expected.EnvLacks == nil {
			t.Fatal("the case expects nothing that this test knows")
		}
		for word, names := range map[bool][]string{true: c.Expected.EnvHas, false: c.Expected.EnvLacks} {
			for _, name := range names {
				if has := slices.ContainsFunc(asList(decoded(t, workOf(objects[0])["env"])), func(v any) bool {
					return v.(map[string]any)["name"] == name
				}); has != word {
					t.Errorf("the variable %s is there: %t", name, has)
				}
			}
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
		Input    struct{ Integration, Upstream string }
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
