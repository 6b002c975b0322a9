package render

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/saas"
)

const head = "apiVersion: template.openshift.io/v1\nkind: Template\n"

// A scene is a target with files, secrets and what comes out.
type scene struct {
	name       string
	kind       saas.Kind
	parameters string
	secrets    map[string]string // of the target, by parameter
	files      map[string]string // "" is the file at the path
	change     func(*Input)
	want       string // JSON of the objects, or a part of the error
	masked     [][]string
	skipped    []string
}

func (s scene) input() Input {
	to := target()
	to.Template.Kind, to.Parameters = s.kind, &s.parameters
	for _, name := range []string{"A", "B", "C"} {
		if _, ok := s.secrets[name]; ok {
			to.SecretParameters = append(to.SecretParameters,
				saas.SecretParameter{Name: name, Secret: integration.SecretRef{Path: "shop/" + name, Field: "value"}})
		}
	}
	in := Input{Target: to, Commit: "0123456789abcdef0123456789abcdef01234567", HashLength: 7}
	in.Files = func(context.Context, string, string, string, bool) (map[string][]byte, error) {
		out := map[string][]byte{}
		for name, content := range s.files {
			out[name] = []byte(content)
		}
		return out, nil
	}
	in.Secret = func(_ context.Context, ref integration.SecretRef) (string, error) {
		return s.secrets[strings.TrimPrefix(ref.Path, "shop/")], nil
	}
	if s.change != nil {
		s.change(&in)
	}
	return in
}

// configMap returns a template with one ConfigMap that has this data, and its parameters.
func configMap(data string, parameters ...string) map[string]string {
	out := head + "objects:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: " + data + "}\nparameters:\n"
	for _, name := range append(parameters, "A", "B", "C") {
		out += "- {name: " + name + "}\n"
	}
	return map[string]string{"": out}
}

// dataOf is a ConfigMap as JSON.
func dataOf(data string) string {
	return `[{"apiVersion":"v1","data":` + data + `,"kind":"ConfigMap","metadata":{"name":"c"}}]`
}

func TestRender(t *testing.T) {
	hide := func(places ...string) [][]string { return [][]string{places} }
	none := [][]string{nil}
	secret := func(value string) map[string]string { return map[string]string{"A": value} }
	for _, s := range []scene{
		{name: "parameters", parameters: `{"A": true, "B": [1, "é"], "C": 1.50}`,
			files: configMap("{x: '${A} ${C}', y: '${B}'}"), want: dataOf(`{"x":"true 1.5","y":"[1, \"\\u00e9\"]"}`),
			masked: none},
		{name: "null is what Python prints", parameters: `{"A": null}`, files: configMap("{x: '${A}'}"),
			want: dataOf(`{"x":"None"}`), masked: none},
		{name: "a secret", secrets: secret("s3cret"), files: configMap("{x: '${A}', y: z}"),
			want: dataOf(`{"x":"s3cret","y":"z"}`), masked: hide("/data/x")},
		{name: "a secret of one letter", secrets: secret("z"), files: configMap("{x: '${A}', y: z}"),
			want: dataOf(`{"x":"z","y":"z"}`), masked: hide("/data/x")},
		{name: "an empty secret", secrets: secret(""), files: configMap("{x: 'a${A}b', y: ab}"),
			want: dataOf(`{"x":"ab","y":"ab"}`), masked: hide("/data/x")},
		{name: "a secret that is a name of the object", secrets: secret("c"), files: configMap("{x: '${A}'}"),
			want: dataOf(`{"x":"c"}`), masked: hide("/data/x")},
		{name: "a secret within a larger text", secrets: secret("pw"), files: configMap("{x: 'u:${A}@h'}"),
			want: dataOf(`{"x":"u:pw@h"}`), masked: hide("/data/x")},
		{name: "a secret through another parameter", parameters: `{"B": "u:${A}"}`, secrets: secret("pw"),
			files: configMap("{x: '${B}'}"), want: dataOf(`{"x":"u:pw"}`), masked: hide("/data/x")},
		{name: "a secret that is a number", secrets: secret("80"), files: configMap("{x: '${{A}}', y: 80}"),
			want: dataOf(`{"x":80,"y":80}`), masked: hide("/data/x")},
		{name: "a secret that is a map", secrets: secret(`{"k": [1]}`), files: configMap("{x: '${{A}}'}"),
			want: dataOf(`{"x":{"k":[1]}}`), masked: hide("/data/x")},
		{name: "a secret as a key hides its map", secrets: secret("k"), files: configMap("{'${A}': 1}"),
			want: dataOf(`{"k":1}`), masked: hide("/data")},
		{name: "a secret that looks like a reference", parameters: `{"B": "b"}`, secrets: secret("${B}"),
			files: configMap("{x: '${A}', y: '${B}'}"), want: dataOf(`{"x":"b","y":"b"}`), masked: hide("/data/x")},
		{name: "two secrets that make up a text", secrets: map[string]string{"A": "x", "B": "y"},
			files: configMap("{x: '${A}${B}', y: xy}"), want: dataOf(`{"x":"xy","y":"xy"}`), masked: hide("/data/x")},
		{name: "a secret with base64", secrets: secret("cHc="),
			files: map[string]string{"": head +
				"objects: [{apiVersion: v1, kind: Secret, metadata: {name: c}, data: {p: '${A}', q: cHc=}}]\nparameters: [{name: A}]"},
			want:   `[{"apiVersion":"v1","data":{"p":"cHc=","q":"cHc="},"kind":"Secret","metadata":{"name":"c"}}]`,
			masked: hide("/data/p")},
		{name: "a chart that encodes a secret", kind: saas.Helm, secrets: secret("pw"),
			files: map[string]string{"Chart.yaml": "name: x"}, change: encodeA,
			want: dataOf(`{"p":"cHc=","tag":"0123456"}`), masked: hide("/data/p")},
		{name: "a chart that works only with the secret hides whole objects", kind: saas.Helm, secrets: secret("pw"),
			files: map[string]string{"Chart.yaml": "name: x"}, change: onlyFor("pw"),
			want: dataOf(`{}`), masked: hide("")},
		{name: "a chart that has more objects with the secret hides whole objects", kind: saas.Helm, secrets: secret("pw"),
			files: map[string]string{"Chart.yaml": "name: x"}, change: moreFor("pw"),
			want: dataOf(`{}`), masked: hide("")},
		{name: "a chart that makes up values", kind: saas.Helm, files: map[string]string{"Chart.yaml": "name: x"},
			change: madeUp, want: "the chart makes up values"},
		{name: "no value for what is required",
			files: map[string]string{"": head + "parameters: [{name: X, required: true}]"},
			want:  "the parameter X has no value and is required"},
		{name: "a generated value", files: map[string]string{"": head + "parameters: [{name: X, generate: expression}]"},
			want: "values are not generated here"},
		{name: "an error that would show a secret", secrets: map[string]string{"A": "same", "B": "same"},
			files: configMap("{'${A}': 1, '${B}': 2}"), want: "why is not told here"},
		{name: "an error that has no secret", secrets: secret("pw"), files: configMap("{}", "X-Y"),
			want: "a parameter needs a name"},
		{name: "no template", files: map[string]string{"": "kind: List\napiVersion: v1\n"},
			want: `https://git.example.com/shop/web/blob/main/openshift/template.yaml: template.yaml: line 1: kind is "List"`},
		{name: "a folder for a template", files: map[string]string{"a.yaml": ""}, want: "this is a folder"},
		{name: "a folder", kind: saas.Directory,
			files: map[string]string{
				"b.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '${A}', namespace: shop-stage}\n---\n---\n5\n",
				"a.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n"},
			want: `[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${A}"}}]`, masked: none,
			skipped: []string{`Service "s": the saas file does not manage its kind`,
				"value 3 is no object of Kubernetes: it needs kind and apiVersion"}},
		{name: "an object for another namespace", kind: saas.Directory,
			files: map[string]string{"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: other}"},
			want:  `ConfigMap "c" names another namespace`},
		{name: "a template with a reference for a namespace", parameters: `{"A": "other"}`,
			files: map[string]string{"": head +
				"objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: '${A}'}}]\nparameters: [{name: A}]"},
			want: "names another namespace"},
		{name: "a template with a written namespace",
			files: map[string]string{"": head +
				"objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: other}}]"},
			want: `[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}]`, masked: none},
		{name: "an object twice", kind: saas.Directory,
			files: map[string]string{
				"a.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: c}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: c}"},
			want: `Pod "c" is there twice`},
		{name: "an object without a name", kind: saas.Directory,
			files: map[string]string{"a.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {generateName: c}\n"},
			want:  `Pod "" needs a name`},
		{name: "managed names", kind: saas.Directory,
			files: map[string]string{"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: d}"},
			change: func(in *Input) {
				in.Target.Template.File.ManagedNames = []saas.ManagedNames{{Resource: "ConfigMap", Names: []string{"d"}}}
			},
			want: `[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d"}}]`, masked: none,
			skipped: []string{`ConfigMap "c": the saas file does not manage its name`}},
		{name: "rules of Prometheus get their address", kind: saas.Directory,
			files: map[string]string{"a.yaml": "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: r}\nspec: {groups: [{rules: [{alert: a, annotations: {m: x}}, {alert: b}]}]}"},
			want:  `[{"apiVersion":"monitoring.coreos.com/v1","kind":"PrometheusRule","metadata":{"name":"r"},"spec":{"groups":[{"rules":[{"alert":"a","annotations":{"html_url":"https://git.example.com/shop/web/tree/main/openshift/template.yaml","m":"x"}},{"alert":"b"}]}]}}]`, masked: none},
		{name: "a provider that nobody knows", kind: "kustomize", want: `the provider "kustomize" is not known`},
		{name: "no program helm", kind: saas.Helm, want: "the program helm is not there"},
		{name: "a path out of the repository", change: func(in *Input) { in.Target.Template.Path = "/a/../../b" },
			want: "its path is no path of a repository"},
		{name: "a template that is not there", change: func(in *Input) {
			in.Files = noFiles
		}, want: "it is not there at commit 0123456789ab"},
		{name: "an image that holds a secret", secrets: secret("quay.io.example.com/x"),
			files: map[string]string{"": head +
				"objects: [{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{image: '${A}'}]}}]\nparameters: [{name: A}]"},
			want: `the image at /spec/containers/0/image of Pod "p", which holds a secret, begins with none`},
		{name: "parameters that are no JSON", parameters: `{"A"`,
			want: "the parameters of the target cannot be read: they are no JSON"},
		{name: "parameters that are a list", parameters: `[]`, want: "they are no object of JSON"},
		{name: "parameters that repeat each other", parameters: bomb(60), want: "the parameters have more than 1024 KiB"},
		{name: "a target to be deleted", change: func(in *Input) { in.Target.Delete, in.Files = true, noFiles },
			want: "null"},
	} {
		t.Run(s.name, func(t *testing.T) {
			if s.files == nil {
				s.files = configMap("{}")
			}
			out, err := Render(t.Context(), s.input())
			raw, _ := json.Marshal(out.Objects)
			if err != nil {
				if !strings.Contains(err.Error(), s.want) || strings.HasPrefix(s.want, "[") {
					t.Fatalf("got the error %v, want %s", err, s.want)
				}
				return
			}
			if string(raw) != s.want || !reflect.DeepEqual(out.Masked, s.masked) || !reflect.DeepEqual(out.Skipped, s.skipped) {
				t.Errorf("got %s, masked %q, skipped %q\nwant %s, %q, %q", raw, out.Masked, out.Skipped, s.want, s.masked,
					s.skipped)
			}
		})
	}
}

func noFiles(context.Context, string, string, string, bool) (map[string][]byte, error) {
	return nil, services.ErrNotThere
}

// encodeA is a program helm that encodes the secret A.
func encodeA(in *Input) {
	in.Helm = func(_ context.Context, _ map[string][]byte, values map[string]any, _, _ string) ([]byte, error) {
		tag := values["image"].(map[string]any)["tag"]
		return fmt.Appendf(nil, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {p: %q, tag: %q}\n",
			base64.StdEncoding.EncodeToString([]byte(values["A"].(string))), tag), nil
	}
}

// madeUp is a program helm that never makes the same twice.
func madeUp(in *Input) {
	n := 0
	in.Helm = func(context.Context, map[string][]byte, map[string]any, string, string) ([]byte, error) {
		n++
		return fmt.Appendf(nil, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {n: %d}\n", n), nil
	}
}

// onlyFor is a program helm that refuses all other values of A.
func onlyFor(secret string) func(*Input) {
	return func(in *Input) {
		in.Helm = func(_ context.Context, _ map[string][]byte, values map[string]any, _, _ string) ([]byte, error) {
			if values["A"] != secret {
				return nil, errors.New("unexpected value")
			}
			return []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {}\n"), nil
		}
	}
}

// moreFor is a program helm that makes nothing for all other values of A.
func moreFor(secret string) func(*Input) {
	return func(in *Input) {
		in.Helm = func(_ context.Context, _ map[string][]byte, values map[string]any, _, _ string) ([]byte, error) {
			if values["A"] != secret {
				return nil, nil
			}
			return []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {}\n"), nil
		}
	}
}

// bomb returns parameters of which each repeats the one before twice.
func bomb(n int) string {
	out := `{"P0": "x"`
	for i := 1; i <= n; i++ {
		out += fmt.Sprintf(`, "P%d": "${P%d}${P%d}"`, i, i-1, i-1)
	}
	return out + "}"
}

// Parameters that would become very large are refused before they are.
func TestParametersAreBounded(t *testing.T) {
	text := `{"A": "` + strings.Repeat("x", 1<<17) + `", "B": "` + strings.Repeat("${A}", 1<<13) + `"}`
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := collect([]layer{{parameters: &text}}, nil, true)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; err == nil || used > 64<<20 {
		t.Errorf("got %v with %d MiB", err, used>>20)
	}
}

// A service that does not answer is not a mistake of the data.
func TestServicesThatDoNotAnswer(t *testing.T) {
	lost := integration.Failure(integration.FailureTransient, errors.New("no answer"))
	cases := map[string]func(*Input){
		"files": func(in *Input) {
			in.Files = func(context.Context, string, string, string, bool) (map[string][]byte, error) { return nil, lost }
		},
		"secrets": func(in *Input) {
			in.Secret = func(context.Context, integration.SecretRef) (string, error) { return "", lost }
		},
		"the registry": func(in *Input) { in.Digest = func(context.Context, string) (string, error) { return "", lost } },
		"helm": func(in *Input) {
			in.Target.Template.Kind = saas.Helm
			in.Files = func(context.Context, string, string, string, bool) (map[string][]byte, error) { return nil, nil }
			in.Helm = func(context.Context, map[string][]byte, map[string]any, string, string) ([]byte, error) {
				return nil, lost
			}
		},
	}
	for name, change := range cases {
		pod := head +
			"objects: [{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{image: quay.io/o/i}]}}]"
		in := scene{secrets: map[string]string{"A": "pw"}, files: map[string]string{"": pod}, change: change}.input()
		_, err := Render(t.Context(), in)
		var wrong *TargetMistake
		if !errors.Is(err, lost) && integration.ClassOfFailure(err) != integration.FailureTransient ||
			errors.As(err, &wrong) {
			t.Errorf("%s: got %v, want the error of the service", name, err)
		}
	}
}

// A secret that must not be read yet is a placeholder, and the output says so.
func TestUntrustedSecret(t *testing.T) {
	in := scene{secrets: map[string]string{"A": ""}, files: configMap("{x: '${A}'}")}.input()
	in.Allowed = func(integration.SecretRef) error { return integration.ErrUntrusted }
	out, err := Render(t.Context(), in)
	if err != nil || len(out.Unchecked) != 1 || !strings.Contains(out.Unchecked[0], `the parameter "A", path "shop/A"`) {
		t.Errorf("got %v and %q", err, out.Unchecked)
	}
}
