package render

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// If somebody steers a target who must learn no secret, two values of a secret ask the registry for the
// same images, give the same objects in the same order, and the same error.
func TestSteered(t *testing.T) {
	const pod = "objects:\n- {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: 'quay.io/%s', env: [{name: X, value: '%s'}]}]}}\n" +
		"parameters:\n- {name: A}\n"
	object := func(text string) map[string]string {
		return map[string]string{"": head + "objects:\n- " + text + "\nparameters:\n- {name: A}\n"}
	}
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  string // a part of the error, "" if it renders
	}{
		{"in a value", configMap("{x: '${A}'}"), ""},
		{"in a variable", map[string]string{"": head + fmt.Sprintf(pod, "shop:1", "${A}")}, ""},
		{"nowhere", configMap("{x: y}"), ""},
		{"in a tag", map[string]string{"": head + fmt.Sprintf(pod, "shop:${A}", "")}, "an image"},
		{"in a repository", map[string]string{"": head + fmt.Sprintf(pod, "${A}/shop:1", "")}, "an image"},
		{"in a name", object("{apiVersion: v1, kind: ConfigMap, metadata: {name: 'c-${A}'}}"), "the name of an object"},
		{"in a namespace", object("{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: '${A}'}}"), "the namespace of an object"},
		{"in a kind", object("{apiVersion: v1, kind: '${A}', metadata: {name: c}}"), "kind of an object"},
		{"in a version", object("{apiVersion: '${A}', kind: ConfigMap, metadata: {name: c}}"), "apiVersion of an object"},
		{"as a field of an object", object("{apiVersion: v1, kind: ConfigMap, metadata: {'${A}': c}}"), "needs a name"},
		{"as metadata", object("{apiVersion: v1, kind: ConfigMap, metadata: '${{A}}'}"), "needs a name"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var seen []string
			for _, value := range []string{"Alfa7Kilo2Zulu", "x", "{\"name\": \"c\"}"} {
				in := scene{secrets: map[string]string{"A": value}, files: tt.files}.input()
				in.IsSteered = true
				var asked []string
				in.Digest = func(_ context.Context, image string) (string, error) {
					asked = append(asked, image)
					return "sha256:1", nil
				}
				out, err := Render(t.Context(), in)
				if tt.want == "" && err != nil || tt.want != "" && (err == nil || strings.Contains(err.Error(), value) && value != "x") {
					t.Fatalf("got %v", err)
				}
				var names []string
				for _, o := range out.Objects {
					names = append(names, fmt.Sprint(identityOf(o)))
				}
				said := fmt.Sprint(asked, names, out.Masked, out.Skipped, out.Images, out.Unchecked)
				if err == nil {
					seen = append(seen, said)
					continue
				}
				if len(asked) > 0 {
					t.Errorf("the registry was asked for %q", asked)
				}
				if value != "{\"name\": \"c\"}" && !strings.Contains(err.Error(), tt.want) && err.Error() != errOpaque.Error() {
					t.Errorf("got %v, want %q", err, tt.want)
				}
			}
			for _, said := range seen {
				if !reflect.DeepEqual(said, seen[0]) {
					t.Errorf("one value gives\n%s\nand another\n%s", seen[0], said)
				}
			}
		})
	}
}

// The digest of an image of which a parameter is a secret is not asked for either.
func TestSteeredDigest(t *testing.T) {
	in := scene{secrets: map[string]string{"A": "Alfa7Kilo2Zulu"}, parameters: `{"REGISTRY_IMG": "quay.io/shop", "IMAGE_TAG": "${A}"}`,
		files: configMap("{x: '${IMAGE_DIGEST}'}", "REGISTRY_IMG", "IMAGE_TAG", "IMAGE_DIGEST")}.input()
	in.IsSteered = true
	in.Digest = func(_ context.Context, image string) (string, error) {
		t.Errorf("the registry was asked for %q", image)
		return "sha256:1", nil
	}
	_, err := Render(t.Context(), in)
	if err == nil || strings.Contains(err.Error(), "Alfa7") {
		t.Errorf("got %v", err)
	}
}
