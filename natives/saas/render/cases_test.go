package render

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/saas"
)

// text returns JSON as the text of parameters, nil for none.
func text(raw json.RawMessage) *string {
	if raw == nil {
		return nil
	}
	out := string(raw)
	return &out
}

// target returns a target of a template of OpenShift that manages some kinds and allows images
// of quay.io.
func target() *saas.Target {
	file := &saas.File{Name: "shop", ManagedTypes: []string{"Deployment", "ConfigMap", "Secret", "Pod", "PrometheusRule"},
		ImagePatterns: []string{"quay.io/"}}
	of := &saas.Template{File: file, Name: "web", URL: "https://git.example.com/shop/web",
		Path: "/openshift/template.yaml"}
	return &saas.Target{Template: of, Ref: "main", Namespace: saas.Namespace{Name: "shop-stage",
		Environment: &saas.Environment{Name: "stage"}}}
}

func TestParametersCases(t *testing.T) {
	type of struct {
		Input struct {
			Env, Saas, Rt, Target     json.RawMessage
			Envs, Saass, Rts, Targets map[string]string // the values of secrets of the level, by name
		}
		Expected struct{ Parameters map[string]any }
	}
	shared.Each(t, "parameters", func(t *testing.T, c of) {
		to := target()
		to.Namespace.Environment.Parameters, to.Template.File.Parameters = text(c.Input.Env), text(c.Input.Saas)
		to.Template.Parameters, to.Parameters = text(c.Input.Rt), text(c.Input.Target)
		values := map[integration.SecretRef]string{}
		secrets := func(level string, of map[string]string) (out []saas.SecretParameter) {
			for _, name := range slices.Sorted(maps.Keys(of)) {
				ref := integration.SecretRef{Path: level, Field: name}
				values[ref], out = of[name], append(out, saas.SecretParameter{Name: name, Secret: ref})
			}
			return out
		}
		to.Namespace.Environment.SecretParameters, to.Template.File.SecretParameters = secrets("env", c.Input.Envs),
			secrets("saas", c.Input.Saass)
		to.Template.SecretParameters, to.SecretParameters = secrets("rt", c.Input.Rts), secrets("target", c.Input.Targets)
		got, err := collect(layersOf(to), func(p saas.SecretParameter) string { return values[p.Secret] }, true)
		if err != nil {
			t.Fatal(err)
		}
		if want := c.Expected.Parameters; !reflect.DeepEqual(throughJSON(t, got.values), throughJSON(t, want)) {
			t.Errorf("got %v, want %v", got.values, want)
		}
	})
}

func throughJSON(t *testing.T, value any) (out any) {
	t.Helper()
	raw, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// registry returns a registry that has images, or one that answers a status.
func registry(t *testing.T, raw json.RawMessage) func(context.Context, string) (string, error) {
	var has map[string]string
	if err := json.Unmarshal(raw, &has); err != nil {
		var status string
		if err := json.Unmarshal(raw, &status); err != nil {
			t.Fatal(err)
		}
		return func(context.Context, string) (string, error) {
			return "", integration.Failure(integration.FailureTransient, errors.New("it answers "+status))
		}
	}
	return func(_ context.Context, image string) (string, error) {
		if digest, ok := has[image]; ok {
			return digest, nil
		}
		return "", services.ErrNotThere
	}
}

func TestImageTagCases(t *testing.T) {
	type of struct {
		Input struct {
			Commit             string
			HashLength         int             `json:"hash_length"`
			TemplateHashLength int             `json:"rt_hash_length"`
			UseChannel         bool            `json:"use_channel_in_image_tag"`
			TemplateParameters []string        `json:"template_parameters"`
			Parameters         json.RawMessage `json:"parameters"`
			Registry           json.RawMessage
		}
		Expected map[string]any
	}
	shared.Each(t, "image_tag", func(t *testing.T, c of) {
		names := c.Input.TemplateParameters
		for name := range c.Expected {
			if name != "error" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		lines := "apiVersion: v1\nkind: Template\nparameters:\n"
		data := "objects:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: c}\n  data:\n    x: y\n"
		for _, name := range names {
			lines += "- name: " + name + "\n"
			data += "    " + name + ": ${" + name + "}\n"
		}
		to := target()
		to.Parameters, to.Template.File.UseChannelInImageTag = text(c.Input.Parameters), c.Input.UseChannel
		to.Template.HashLength = c.Input.TemplateHashLength
		in := Input{Target: to, Commit: c.Input.Commit, HashLength: c.Input.HashLength, Files: oneFile(lines + data)}
		if c.Input.Registry != nil {
			in.Digest = registry(t, c.Input.Registry)
		}
		out, err := Render(t.Context(), in)
		if want, ok := c.Expected["error"].(string); ok {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Fatalf("got the error %v, want one with %q", err, want)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		got := out.Objects[0]["data"].(map[string]any)
		for name, want := range c.Expected {
			if got[name] != want {
				t.Errorf("%s: got %v, want %v", name, got[name], want)
			}
		}
	})
}

// oneFile returns a repository with one file at every path.
func oneFile(content string) FilesFunc {
	return func(context.Context, string, string, string, bool) (map[string][]byte, error) {
		return map[string][]byte{"": []byte(content)}, nil
	}
}

func TestImagesOfCases(t *testing.T) {
	type of struct {
		Input    struct{ Object map[string]any }
		Expected struct{ Images []string }
	}
	shared.Each(t, "images_of", func(t *testing.T, c of) {
		got := []string{}
		for _, image := range imagesOf(c.Input.Object) {
			got = append(got, image.name)
		}
		slices.Sort(got)
		if want := slices.Sorted(slices.Values(c.Expected.Images)); !slices.Equal(slices.Compact(got), want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestImageCheckCases(t *testing.T) {
	type of struct {
		Input struct {
			Images, Patterns []string
			Block            []saas.BlockRule
			EnvLabels        map[string]string `json:"env_labels"`
			Registry         json.RawMessage
		}
		Expected struct {
			Error bool
			Class string
		}
	}
	shared.Each(t, "image_check", func(t *testing.T, c of) {
		to := target()
		to.Template.File.ImagePatterns, to.Namespace.Environment.Labels = c.Input.Patterns, c.Input.EnvLabels
		pods := "apiVersion: v1\nkind: Template\nobjects:\n"
		for i, image := range c.Input.Images {
			pods += fmt.Sprintf("- {apiVersion: v1, kind: Pod, metadata: {name: p%d}, spec: {containers: [{image: %q}]}}\n", i,
				image)
		}
		in := Input{Target: to, Commit: "0123456789", Blocks: c.Input.Block, Files: oneFile(pods)}
		if c.Input.Registry != nil {
			in.Digest = registry(t, c.Input.Registry)
		}
		_, err := Render(t.Context(), in)
		if (err != nil) != c.Expected.Error {
			t.Fatalf("got the error %v, want one: %t", err, c.Expected.Error)
		}
		if c.Expected.Class != "" && string(integration.ClassOfFailure(err)) != c.Expected.Class {
			t.Errorf("got the class %q of %v, want %q", integration.ClassOfFailure(err), err, c.Expected.Class)
		}
	})
}

func TestManagedTypesCases(t *testing.T) {
	type of struct {
		Input struct {
			Managed          []string
			Kind, APIVersion string
		}
		Expected struct{ Deployed bool }
	}
	shared.Each(t, "managed_types", func(t *testing.T, c of) {
		to := target()
		to.Template.File.ManagedTypes = c.Input.Managed
		object := fmt.Sprintf("apiVersion: v1\nkind: Template\nobjects:\n- {apiVersion: %s, kind: %s, metadata: {name: x}}\n",
			c.Input.APIVersion, c.Input.Kind)
		out, err := Render(t.Context(), Input{Target: to, Files: oneFile(object)})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(out.Objects) == 1; got != c.Expected.Deployed || got == (len(out.Skipped) == 1) {
			t.Errorf("got %v and skipped %q, want deployed: %t", out.Objects, out.Skipped, c.Expected.Deployed)
		}
	})
}
