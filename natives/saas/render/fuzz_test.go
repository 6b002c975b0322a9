package render

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/internal/pyjson"
	"github.com/app-sre/prcheck/natives/saas"
)

// secretValue stands in no input of a fuzz test but as the value of the secret A.
const secretValue = "s3cr3t/v~lue"

// Whatever a template and parameters are, rendering ends, gives the same twice, and shows the
// secret at no other place than those that it names.
func FuzzRender(f *testing.F) {
	for _, parameters := range []string{`{"B": "x${A}"}`, `{"B": [1.0, {"é": null}], "IMAGE_TAG": 0}`, bomb(30)} {
		for _, data := range []string{"{x: '${A} ${B}'}", "{'${A}': '${{B}}'}", "{a/b: &a ['${{A}}'], c: *a}", "x"} {
			f.Add([]byte(configMap(data)[""]), parameters, false)
		}
	}
	f.Add([]byte(head+
		"objects: [{apiVersion: '${A}', kind: '${A}', metadata: {name: '${A}', namespace: '${A}'}}]\nparameters: [{name: A}]"), "{}", false)
	f.Add([]byte(head+
		"objects: [{apiVersion: v1, kind: Pod, metadata: {name: '${A}'}, spec: {containers: [{image: '${A}'}]}}]\nparameters: [{name: A}, {name: IMAGE_DIGEST}]"), `{"REGISTRY_IMG": "${A}"}`, false)
	f.Add([]byte("apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n---\na: [1]\n---\n"), "", true)
	f.Fuzz(func(t *testing.T, raw []byte, parameters string, isFolder bool) {
		if strings.Contains(string(raw)+parameters, "s3c") {
			t.Skip("it may make up the secret")
		}
		to := target()
		to.Template.File.ManagedTypes = append(to.Template.File.ManagedTypes, secretValue)
		to.Parameters = &parameters
		to.SecretParameters = []saas.SecretParameter{{Name: "A", Secret: integration.SecretRef{Path: "p", Field: "f"}}}
		name := ""
		if isFolder {
			to.Template.Kind, name = saas.Directory, "a.yaml"
		}
		in := Input{Target: to, Commit: "0123456789abcdef", HashLength: 7}
		in.Files = func(context.Context, string, string, string, bool) (map[string][]byte, error) {
			return map[string][]byte{name: raw}, nil
		}
		in.Secret = func(context.Context, integration.SecretRef) (string, error) { return secretValue, nil }
		out, err := Render(t.Context(), in)
		again, errAgain := Render(t.Context(), in)
		if a, b := fmt.Sprint(asJSON(t, out), err), fmt.Sprint(asJSON(t, again), errAgain); a != b {
			t.Errorf("got %s and then %s", a, b)
		}
		if told := fmt.Sprint(err, out.Skipped, out.Images, out.Unchecked, out.Masked); strings.Contains(told, "s3c") {
			t.Errorf("the secret is told: %s", told)
		}
		for i, object := range out.Objects {
			if place, ok := findSecret(object, "", out.Masked[i]); ok {
				t.Errorf("the secret is at %q of %s, masked are %q", place, asJSON(t, object), out.Masked[i])
			}
		}
		if changes := Compare(Output{}, out); strings.Contains(asJSON(t, changes), "s3c") {
			t.Errorf("the secret is in %s", asJSON(t, changes))
		}
	})
}

func asJSON(t *testing.T, value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// findSecret returns a place with the secret that is not masked.
func findSecret(value any, at string, masked []string) (string, bool) {
	if isBelow(at, masked) {
		return "", false
	}
	switch v := value.(type) {
	case string:
		return at, strings.Contains(v, secretValue)
	case []any:
		for i, item := range v {
			if place, ok := findSecret(item, at+"/"+strconv.Itoa(i), masked); ok {
				return place, true
			}
		}
	case map[string]any:
		for key, item := range v {
			if strings.Contains(key, secretValue) {
				return at, true
			}
			if place, ok := findSecret(item, jsonpointer.Append(at, key), masked); ok {
				return place, true
			}
		}
	}
	return "", false
}

// Parameters end within their bound, whatever they are, and in the order of their names.
func FuzzParameters(f *testing.F) {
	f.Add(`{"A": "${B}", "B": "${A}${A}"}`, `{"A": true}`, "x")
	f.Add(bomb(40), `{"P39": null}`, "${P1}")
	f.Add(`{"": "${}", "é": 1e999, "\ud800": [1, {"b": -0.0, "a": "😀"}]}`, `[]`, "")
	f.Add(`{"A":1}{"B":2}`, `null`, "\x00")
	f.Fuzz(func(t *testing.T, first, second, secret string) {
		of := []layer{{of: "x", parameters: &first, secrets: []saas.SecretParameter{{Name: "S"}}},
			{of: "y", parameters: &second}}
		for _, areTexts := range []bool{true, false} {
			got, err := collect(of, func(saas.SecretParameter) string { return secret }, areTexts)
			if err != nil {
				continue
			}
			if len(got.names) != len(got.values) || len(got.names) > maxParameters {
				t.Errorf("%d names for %d values", len(got.names), len(got.values))
			}
			size := 0
			for name, text := range got.texts() {
				size += len(name) + len(text)
			}
			if areTexts && size > 4*maxParameterBytes {
				t.Errorf("%d bytes", size)
			}
			for _, value := range got.values {
				if text := string(pyjson.Sorted(value)); !json.Valid([]byte(strings.ReplaceAll(text, "Infinity", "0"))) {
					t.Errorf("%v becomes %s", value, text)
				}
			}
		}
	})
}
