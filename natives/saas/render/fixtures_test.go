package render

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/saas"
)

// A fixture is a saas file in YAML.
type fixture struct {
	ManagedResourceTypes []string
	ImagePatterns        []string
	Parameters           map[string]any
	ResourceTemplates    []struct {
		Name, Path, URL string
		Provider        string
		HashLength      int `yaml:"hash_length"`
		Parameters      map[string]any
		Targets         []struct {
			Ref        string
			Parameters map[string]any
			Namespace  struct {
				Name        string
				Cluster     struct{ Name string }
				Environment struct {
					Name       string
					Parameters map[string]any
				}
			}
		}
	}
}

// jsonOf returns parameters as the data have them.
func jsonOf(t *testing.T, v map[string]any) *string {
	t.Helper()
	if v == nil {
		return nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	return &text
}

// renderAll renders all targets of a saas file from a folder whose files are named COMMIT_PATH, with
// _ for each slash. It returns the objects by cluster, namespace and kind.
func renderAll(t *testing.T, raw []byte, read func(name string) ([]byte, error)) map[string]any {
	t.Helper()
	fields := strings.NewReplacer("managedResourceTypes", "managedresourcetypes", "imagePatterns", "imagepatterns",
		"resourceTemplates", "resourcetemplates")
	var f fixture
	if err := yaml.Unmarshal([]byte(fields.Replace(string(raw))), &f); err != nil {
		t.Fatal(err)
	}
	file := &saas.File{Name: "fixture", ManagedTypes: f.ManagedResourceTypes, ImagePatterns: f.ImagePatterns,
		Parameters: jsonOf(t, f.Parameters)}
	out := map[string]any{}
	for _, of := range f.ResourceTemplates {
		kind := saas.OpenShift
		if of.Provider != "" {
			kind = saas.Kind(of.Provider)
		}
		template := &saas.Template{File: file, Name: of.Name, URL: of.URL, Path: of.Path, Kind: kind,
			HashLength: of.HashLength, Parameters: jsonOf(t, of.Parameters)}
		for _, to := range of.Targets {
			n := to.Namespace
			in := Input{HashLength: 7, Commit: to.Ref, Target: &saas.Target{Template: template, Ref: to.Ref,
				Parameters: jsonOf(t, to.Parameters),
				Namespace: saas.Namespace{Name: n.Name, Environment: &saas.Environment{Name: n.Environment.Name,
					Parameters: jsonOf(t, n.Environment.Parameters)}}}}
			in.Files = func(_ context.Context, _, commit, path string, _ bool) (map[string][]byte, error) {
				text, err := read(commit + "_" + strings.ReplaceAll(strings.TrimPrefix(path, "/"), "/", "_"))
				if err != nil {
					return nil, services.ErrNotThere
				}
				return map[string][]byte{"": text}, nil
			}
			got, err := Render(t.Context(), in)
			if err != nil {
				t.Errorf("%s in %s: %v", of.Name, n.Name, err)
			}
			for _, o := range got.Objects {
				out[fmt.Sprintf("%s_%s_%s", n.Cluster.Name, n.Name, o["kind"])] = plainOf(t, o)
			}
		}
	}
	return out
}

// plainOf returns a value as JSON decodes it.
func plainOf(t *testing.T, v any) any {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// What the fixtures of qontract-reconcile make is the same here, if they are in the shared folder.
func TestPeerFixtures(t *testing.T) {
	dir := shared.Path(t, "peer", "saasherder_populate_desired")
	raw, err := os.ReadFile(filepath.Join(dir, "saas_remote_openshift_template.yaml")) //nolint:gosec // it is the test's own folder
	if err != nil {
		t.Fatal(err)
	}
	got := renderAll(t, raw, func(name string) ([]byte, error) {
		return os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // it is the test's own folder
	})
	wanted, err := filepath.Glob(filepath.Join(dir, "expected_*.json"))
	if err != nil || len(wanted) == 0 || len(wanted) != len(got) {
		t.Fatalf("got %d objects, want %d: %v", len(got), len(wanted), err)
	}
	for _, name := range wanted {
		raw, err := os.ReadFile(name) //nolint:gosec // it is the test's own folder
		if err != nil {
			t.Fatal(err)
		}
		var want any
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		key := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(name), "expected_"), ".json")
		if !reflect.DeepEqual(got[key], want) {
			t.Errorf("%s: got %v, want %v", key, got[key], want)
		}
	}
}

// shopFile deploys two templates to two namespaces, with parameters of all kinds.
const shopFile = `
managedResourceTypes: [Deployment, Service]
imagePatterns: [quay.io/acme/]
parameters: {LOG_LEVEL: info, DOMAIN: "shop.${ENV}.example.com", LIST: [1, {a: é}]}
resourceTemplates:
- name: web
  path: /deploy/web.yaml
  url: https://github.com/acme/shop
  hash_length: 10
  parameters: {IMAGE: quay.io/acme/web, LOG_LEVEL: warn}
  targets:
  - namespace: {name: stage, cluster: {name: c-1}, environment: {name: stage, parameters: {ENV: stage, LOG_LEVEL: debug}}}
    ref: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    parameters: {REPLICAS: 2, CPU: 1, DEBUG: true, EXTRA: 1}
  - namespace: {name: prod, cluster: {name: c-2}, environment: {name: production, parameters: {ENV: production}}}
    ref: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
    parameters: {REPLICAS: 5, LOG_LEVEL: error}
- name: port
  path: /deploy/port.yaml
  url: https://github.com/acme/shop
  targets:
  - namespace: {name: stage, cluster: {name: c-1}, environment: {name: stage, parameters: {ENV: stage}}}
    ref: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
`

// shopWeb is a template with the group that templates had first.
const shopWeb = `apiVersion: v1
kind: Template
objects:
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web, namespace: written-out, annotations: {commit: "${COMMIT_SHA}"}}
  spec:
    replicas: ${{REPLICAS}}
    template:
      spec:
        containers:
        - name: web
          image: ${IMAGE}:${IMAGE_TAG}
          args: ["--log=${LOG_LEVEL}", "--domain=${DOMAIN}", "--list=${LIST}", "--debug=${DEBUG}", "${NOT_DECLARED}"]
          resources: {limits: {cpu: "${CPU}"}}
- {apiVersion: v1, kind: Secret, metadata: {name: left-out}}
parameters:
- {name: REPLICAS, value: "1"}
- {name: IMAGE}
- {name: IMAGE_TAG, required: true}
- {name: COMMIT_SHA}
- {name: LOG_LEVEL}
- {name: DOMAIN}
- {name: LIST}
- {name: DEBUG, value: "false"}
- {name: CPU, value: 100m}
`

// Our own fixtures have all that those of qontract-reconcile have, and more: several targets and
// commits, the order of parameters, numbers and truth values, defaults, references between
// parameters, texts where numbers are meant, kinds that are left out.
func TestFixtures(t *testing.T) {
	files := map[string]string{
		strings.Repeat("a", 40) + "_deploy_web.yaml":  shopWeb,
		strings.Repeat("b", 40) + "_deploy_web.yaml":  strings.ReplaceAll(shopWeb, "--log=", "--level="),
		strings.Repeat("a", 40) + "_deploy_port.yaml": "apiVersion: template.openshift.io/v1\nkind: Template\nobjects:\n- {apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: '${PORT}'}]}}\nparameters: [{name: PORT, value: '80'}]\n",
	}
	got := renderAll(t, []byte(shopFile), func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, os.ErrNotExist
	})
	deployment := func(sha, log, domain, debug, cpu string, replicas int) any {
		return plainOf(t, map[string]any{"apiVersion": "apps/v1", "kind": "Deployment",
			"metadata": map[string]any{"name": "web", "annotations": map[string]any{"commit": strings.Repeat(sha, 40)}},
			"spec": map[string]any{"replicas": replicas,
				"template": map[string]any{
					"spec": map[string]any{"containers": []any{map[string]any{"name": "web",
						"image": "quay.io/acme/web:" + strings.Repeat(sha, 10),
						"args": []any{log, "--domain=" + domain, `--list=[1, {"a": "\u00e9"}]`, "--debug=" + debug,
							"${NOT_DECLARED}"},
						"resources": map[string]any{"limits": map[string]any{"cpu": cpu}}}}}}}})
	}
	want := map[string]any{
		"c-1_stage_Deployment": deployment("a", "--log=warn", "shop.stage.example.com", "true", "1", 2),
		"c-2_prod_Deployment":  deployment("b", "--level=error", "shop.production.example.com", "false", "100m", 5),
		"c-1_stage_Service": plainOf(t, map[string]any{"apiVersion": "v1", "kind": "Service",
			"metadata": map[string]any{"name": "web"}, "spec": map[string]any{"ports": []any{map[string]any{"port": "80"}}}}),
	}
	for key := range want {
		if !reflect.DeepEqual(got[key], want[key]) {
			t.Errorf("%s:\n got %v\nwant %v", key, got[key], want[key])
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %d objects, want %d", len(got), len(want))
	}
}
