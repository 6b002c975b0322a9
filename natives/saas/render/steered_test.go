package render

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/saas"
)

// Without a source of secrets placeholders stand for them. A target in which a secret decides what is
// asked of services, or which objects there are, is a mistake.
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
		{"in a namespace", object("{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: '${A}'}}"),
			"the namespace of an object"},
		{"in a kind", object("{apiVersion: v1, kind: '${A}', metadata: {name: c}}"), "kind of an object"},
		{"in a version", object("{apiVersion: '${A}', kind: ConfigMap, metadata: {name: c}}"), "apiVersion of an object"},
		{"as a field of an object", object("{apiVersion: v1, kind: ConfigMap, metadata: {'${A}': c}}"), "needs a name"},
		{"as metadata", object("{apiVersion: v1, kind: ConfigMap, metadata: '${{A}}'}"), "needs a name"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := scene{secrets: map[string]string{"A": "unread"}, files: tt.files}.input()
			in.Secret = nil
			var asked []string
			in.Digest = func(_ context.Context, image string) (string, error) {
				asked = append(asked, image)
				return "sha256:1", nil
			}
			out, err := Render(t.Context(), in)
			switch {
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) ||
				strings.Contains(err.Error(), "PLACEHOLDER")):
				t.Errorf("got %v, want %q", err, tt.want)
			case tt.want == "" && err != nil:
				t.Error(err)
			case err != nil && len(asked) > 0:
				t.Errorf("the registry was asked for %q", asked)
			case err == nil && strings.Contains(fmt.Sprint(out.Hidden), "PLACEHOLDER"):
				t.Errorf("a placeholder has no name: %v", out.Hidden)
			}
		})
	}
}

// A chart is rendered with two placeholders for each secret. What they decide is found, and a chart that
// only fails with one of them is one of which nobody knows more.
func TestSteeredChart(t *testing.T) {
	const secret = `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"c"},"data":{"x":%q}}`
	for _, tt := range []struct {
		name string
		helm func(value string) (string, error)
		want string // a part of the error, "" if it renders
	}{
		{"in base64", func(v string) (string, error) {
			return fmt.Sprintf(secret, base64.StdEncoding.EncodeToString([]byte(v))), nil
		}, ""},
		{"how many", func(v string) (string, error) {
			return fmt.Sprintf(secret, "y") +
				strings.Repeat("\n---\n"+strings.Replace(fmt.Sprintf(secret, "z"), `"c"`, `"d"`, 1), len(v)/20), nil
		}, "how many objects"},
		{"a digest in a name", func(v string) (string, error) {
			return strings.Replace(fmt.Sprintf(secret, "y"), `"c"`, fmt.Sprintf(`"c%x"`, sha256.Sum256([]byte(v))), 1), nil
		}, "the name of an object"},
		{"a number", func(v string) (string, error) {
			if _, err := strconv.Atoi(v); err != nil {
				return "", fmt.Errorf("%q is no number", v)
			}
			return fmt.Sprintf(secret, "y"), nil
		}, ErrOpaque.Error()},
		{"a length", func(v string) (string, error) {
			if len(v) < 9 {
				return "", errors.New("too short")
			}
			return fmt.Sprintf(secret, "y"), nil
		}, ErrOpaque.Error()},
		{"a mistake", func(v string) (string, error) {
			return "", fmt.Errorf("no template for %q", v)
		}, `no template for "***"`},
		{"no helm", func(string) (string, error) {
			return "", integration.Failure(integration.FailureTransient, errors.New("killed"))
		}, "killed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := scene{kind: saas.Helm, secrets: map[string]string{"A": "unread"},
				files: map[string]string{"Chart.yaml": "name: c"}}.input()
			in.Secret = nil
			in.Target.Template.File.ManagedTypes = []string{"Secret"}
			in.Helm = func(_ context.Context, _ map[string][]byte, values map[string]any, _, _ string) ([]byte, error) {
				out, err := tt.helm(fmt.Sprint(values["A"]))
				return []byte(out), err
			}
			out, err := Render(t.Context(), in)
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want %q", err, tt.want)
				}
				return
			}
			name := `(secret "shop/A" "value" "")`
			if err != nil || !reflect.DeepEqual(out.Masked, [][]string{{"/data/x"}}) ||
				!reflect.DeepEqual(out.Secrets, [][]string{{name}}) ||
				!strings.Contains(fmt.Sprint(out.Hidden), "(base64 "+name+")") {
				t.Errorf("got %v: %+v", err, out)
			}
		})
	}
}

// What a target becomes with names of secrets is the same before the merge as in a run, which has the values.
func TestNamesWithoutValues(t *testing.T) {
	of := scene{secrets: map[string]string{"A": "pw", "B": "y"},
		files: configMap("{x: 'postgres://u:${A}@db', y: '${B}', z: 'w'}")}
	run, err := Render(t.Context(), of.input())
	if err != nil {
		t.Fatal(err)
	}
	in := of.input()
	in.Secret = nil
	before, err := Render(t.Context(), in)
	if err != nil || !reflect.DeepEqual(run.Hidden, before.Hidden) || !reflect.DeepEqual(run.Secrets, before.Secrets) ||
		!reflect.DeepEqual(run.Masked, before.Masked) {
		t.Errorf("got %v, a run\n%+v\nand before the merge\n%+v", err, run, before)
	}
	if want := [][]string{{`(secret "shop/A" "value" "")`, `(secret "shop/B" "value" "")`}}; !reflect.DeepEqual(
		run.Secrets, want) {
		t.Errorf("got %v", run.Secrets)
	}
}

// The digest of an image of which a parameter is a secret is not asked for either.
func TestSteeredDigest(t *testing.T) {
	in := scene{secrets: map[string]string{"A": "Alfa7Kilo2Zulu"},
		parameters: `{"REGISTRY_IMG": "quay.io/shop", "IMAGE_TAG": "${A}"}`,
		files:      configMap("{x: '${IMAGE_DIGEST}'}", "REGISTRY_IMG", "IMAGE_TAG", "IMAGE_DIGEST")}.input()
	in.Secret = nil
	in.Digest = func(_ context.Context, image string) (string, error) {
		t.Errorf("the registry was asked for %q", image)
		return "sha256:1", nil
	}
	_, err := Render(t.Context(), in)
	if err == nil || !strings.Contains(err.Error(), "an image") {
		t.Errorf("got %v", err)
	}
}

// Texts of a template that look like names become no names, and different texts stay different.
func TestNamesAreOfSecretsAlone(t *testing.T) {
	texts := []string{"${A}", "(${A}", `\(${A}`, "((${A}", `(secret "shop/A" "value" "")`, `((secret "shop/A" "value" "")`,
		`\(secret "shop/A" "value" "")`,
		`\\(secret "shop/A" "value" "")`, `(base64 (secret "shop/A" "value" ""))`, `x`, `(x`, `\(x`}
	seen := map[string]string{}
	for _, text := range texts {
		raw, err := json.Marshal(map[string]string{"x": text, "y": "${A}"})
		if err != nil {
			t.Fatal(err)
		}
		in := scene{secrets: map[string]string{"A": "pw"}, files: configMap(string(raw))}.input()
		in.Secret = nil
		out, err := Render(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		data, _ := out.Hidden[0]["data"].(map[string]any)
		name := fmt.Sprint(data["x"])
		if other, isThere := seen[name]; isThere {
			t.Errorf("%s and %s become %s", text, other, name)
		}
		seen[name] = text
	}
}
