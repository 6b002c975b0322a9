package saas

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/saas/saastest"
	"github.com/app-sre/prcheck/plan"
)

type object = map[string]any

// read returns the model of a world.
func read(t testing.TB, w *saastest.World) *Model {
	t.Helper()
	m, err := Read(t.Context(), w.Query(t), Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// lines returns findings, one line each.
func lines(findings []plan.Finding) []string {
	var out []string
	for _, f := range findings {
		out = append(out, fmt.Sprintf("%s %s %s%s: %s", f.Severity, f.Code, f.File, f.Pointer, f.Message))
	}
	return out
}

// The small world is read as it is written, without a finding.
func TestRead(t *testing.T) {
	m := read(t, saastest.New())
	if got := lines(Validate(m)); len(got) > 0 {
		t.Errorf("got findings %q", got)
	}
	if len(m.Files) != 1 || m.HashLength != 7 || m.Files[0].Provider.Template != "openshift-saas-deploy" ||
		m.Files[0].Code.Path != "app/code" {
		t.Fatalf("got %+v", m.Files)
	}
	var keys []string
	for _, c := range m.Cells() {
		keys = append(keys, c.Key()+" "+c.Combo()+" "+c.Targets[0].Label())
	}
	if want := []string{"shop/production shop-production shop/shop c-1/shop-production",
		"shop/stage shop-stage shop/shop c-1/shop-stage"}; !slices.Equal(keys, want) {
		t.Errorf("got cells %q, want %q", keys, want)
	}
	stage := m.Files[0].Templates[0].Targets[0]
	if p := m.Publishers("shop-stage"); len(p) != 1 || p[0] != stage {
		t.Errorf("got publishers %v", p)
	}
	if got := *stage.Parameters; got != `{"REPLICAS":1}` {
		t.Errorf("got parameters %s", got)
	}
}

// A field that the types of the data do not have yet is not asked for.
func TestReadOlderTypes(t *testing.T) {
	w := saastest.New()
	w.Drop = []string{"SaasFile_v2.compare", "SaasResourceTemplateTarget_v2.slos",
		"SaasResourceTemplateTargetPromotion_v1.schedule",
		"AppCodeComponents_v1.hotfixVersions", "Namespace_v1.skupperSite", "AppInterfaceSettings_v1.imagePatternsBlockRules",
		"VaultSecret_v1.format", "Cluster_v1.spec", "Cluster_v1.clusterAdminAutomationToken", "SaasFile_v2.slack",
		"SaasFile_v2.allowedSecretParameterPaths", "Query.slo_document_v1"}
	if got := read(t, w); len(got.Cells()) != 2 || !got.Files[0].Compare {
		t.Errorf("got %d cells, compare %v", len(got.Cells()), got.Files[0].Compare)
	}
}

// A mistake in a datafile holds what uses it, and nothing else.
func TestReadHoldsTheSmallestPart(t *testing.T) {
	for name, c := range map[string]struct {
		change func(w *saastest.World)
		held   string // the broken ones
		told   string // part of a line
	}{
		"a saas file with a wrong type": {func(w *saastest.World) {
			w.Set("/services/app-001/saas.yml", object{"a": 1}, "timeout")
		}, "app-001", "/services/app-001/saas.yml/timeout"},
		"a required field missing": {func(w *saastest.World) {
			w.Set("/services/app-001/saas.yml", nil, "resourceTemplates", 0, "url")
		}, "app-001", "/services/app-001/saas.yml"},
		"an app that cannot be read": {func(w *saastest.World) {
			w.Set("/services/app-001/app.yml", "x", "codeComponents")
		}, "app-001", "/services/app-001/app.yml"},
		"a cluster that cannot be read": {func(w *saastest.World) { w.Set("/clusters/c-2.yml", object{}, "automationToken") },
			"app-001", "/clusters/c-2.yml"},
		"an environment without labels": {func(w *saastest.World) {
			w.Data["/environments/odd.yml"] = object{"$schema": "/app-sre/environment-1.yml", "name": "odd", "labels": []any{1}}
			w.Set("/services/app-001/namespaces/app-001-stage.yml", saastest.Ref("/environments/odd.yml"), "environment")
		}, "app-001, app-001-0 production", "/environments/odd.yml"},
		"a namespace that cannot be read, and a selector": {func(w *saastest.World) {
			w.Set("/services/app-003/namespaces/app-003-stage.yml", object{"a": 1}, "delete")
			of := w.Target("/services/app-001/saas.yml", 0, 0)
			delete(of, "namespace")
			of["provider"], of["namespaceSelector"] = "dynamic",
				object{"jsonPathSelectors": object{"include": []any{`namespace[?@.name="app-001-stage"]`}}}
		}, "app-001, app-003, app-001-0 production, app-003-0 production",
			"/services/app-003/namespaces/app-003-stage.yml/delete"},
		"parameters that are a list": {func(w *saastest.World) {
			w.Set("/services/app-001/saas.yml", []any{1}, "parameters")
		}, "app-001", "/services/app-001/saas.yml/parameters: parameters must be an object"},
		"a selector that is none": {func(w *saastest.World) {
			of := w.Target("/services/app-001/saas.yml", 0, 0)
			delete(of, "namespace")
			of["provider"], of["namespaceSelector"] = "dynamic",
				object{"jsonPathSelectors": object{"include": []any{"namespace[?()GARBAGE]"}}}
		}, "app-001, app-001-0 production",
			"/services/app-001/saas.yml/resourceTemplates/0/targets/0/namespaceSelector/jsonPathSelectors/include/0"},
		"a template that ends nowhere": {func(w *saastest.World) {
			w.Target("/services/app-001/saas.yml", 0, 1)["parameters"] = object{"A": "{{{ x"}
		}, "app-001-0 production", "/parameters/A: the template {{{ … }}} does not end"},
		"two of one name": {func(w *saastest.World) { w.Set("/services/app-001/saas.yml", "app-002", "name") },
			"app-002, app-002", "2 saas files are named app-002"},
		"a circle of channels": {func(w *saastest.World) {
			w.Target("/services/app-001/saas.yml", 0, 1)["promotion"].(object)["publish"] = []any{"back"}
			w.Target("/services/app-001/saas.yml", 0, 0)["promotion"].(object)["subscribe"] = []any{"back"}
		}, "app-001-0 production, app-001-0 stage", "promote to each other"},
		"a window that never opens": {func(w *saastest.World) {
			w.Target("/services/app-001/saas.yml", 0, 1)["promotion"].(object)["schedule"] = "0 0 31 2 *"
		}, "app-001-0 production", "never opens"},
		"a channel with a slash": {func(w *saastest.World) {
			w.Target("/services/app-001/saas.yml", 0, 0)["promotion"].(object)["publish"] = []any{"a/b", "app-001-0-stage"}
		}, "app-001-0 stage", "/promotion/publish/0"},
		"two targets with one identity": {func(w *saastest.World) {
			of := w.Data["/services/app-001/saas.yml"]["resourceTemplates"].([]any)[0].(object)
			of["targets"] = append(of["targets"].([]any), w.Clone().Target("/services/app-001/saas.yml", 0, 1))
		}, "app-001-0 production, app-001-0 production", "2 targets are app-001/app-001-0 c-2/app-001-production"},
		"an environment name that no cluster accepts": {func(w *saastest.World) {
			w.Data["/environments/odd.yml"] = object{"$schema": "/app-sre/environment-1.yml", "name": "o_dd", "labels": object{}}
			w.Set("/services/app-001/namespaces/app-001-stage.yml", saastest.Ref("/environments/odd.yml"), "environment")
		}, "app-001-0 o_dd", "no cluster accepts the name app-001-o_dd"},
	} {
		t.Run(name, func(t *testing.T) {
			w := saastest.Large(4, 8)
			c.change(w)
			m := read(t, w)
			var held []string
			for _, f := range m.Files {
				if f.Broken != "" {
					held = append(held, f.Name)
				}
			}
			var targets []string
			m.eachTarget(func(of *Target) {
				if of.Broken != "" {
					targets = append(targets, of.Template.Name+" "+of.Env())
				}
			})
			slices.Sort(targets)
			if got := strings.Join(append(held, targets...), ", "); got != c.held {
				t.Errorf("holds %q, want %q", got, c.held)
			}
			if got := strings.Join(lines(m.Findings), "\n"); !strings.Contains(got, c.told) {
				t.Errorf("tells %s, want %s", got, c.told)
			}
			if len(m.Files) != 4 {
				t.Errorf("got %d files, want 4: a broken one keeps its name", len(m.Files))
			}
		})
	}
}

// The content has what the data say and null for what they do not say.
func TestContent(t *testing.T) {
	w := saastest.New()
	of := w.Target(saastest.File, 0, 1)
	of["disable"] = false
	of["slos"] = []any{saastest.Ref(saastest.SLOs)}
	of["images"] = []any{object{"org": saastest.Ref(saastest.QuayOrg), "name": "shop"}}
	of["secretParameters"] = []any{object{"name": "S",
		"secret": object{"path": "app/shop/{{{ resource.namespace.environment.name }}}", "field": "f", "version": 2}}}
	of["parameters"] = object{"A": "{{{ resource.namespace.name }}}-{{{resource.namespace.labels['team']}}}\n", "B": "é𝄞",
		"C": 1.5, "D": object{"x": nil}}
	w.Set(saastest.File, []any{object{"resource": "Secret", "resourceNames": []any{"a"}}}, "managedResourceNames")
	w.Set(saastest.File,
		[]any{object{"name": "F", "secret": object{"path": "app/shop", "field": "f", "format": "base64"}}},
		"secretParameters")
	w.Set(saastest.File, []any{object{"name": "T", "secret": object{"path": "app/shop", "field": "f"}}},
		"resourceTemplates", 0, "secretParameters")
	target := read(t, w).Files[0].Templates[0].Targets[1]
	raw, err := json.Marshal(target.Content())
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]json.RawMessage
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"name": `null`, "disable": `false`, "delete": `null`, "upstream": `null`, "saas_file_parameters": `null`,
		"parameters":                       `"{\"A\":\"shop-production-shop\",\"B\":\"\\u00e9\\ud834\\udd1e\",\"C\":1.5,\"D\":{\"x\":null}}"`,
		"promotion":                        `{"auto":true,"promotion_data":null,"publish":null,"redeployOnPublisherConfigChange":null,"schedule":null,"soakDays":null,"subscribe":["shop-stage"]}`,
		"secretParameters":                 `[{"name":"S","secret":{"field":"f","format":null,"path":"app/shop/production","version":2}}]`,
		"images":                           `[{"name":"shop","org":{"instance":{"url":"quay.io"},"name":"acme"}}]`,
		"saas_file_managed_resource_names": `[{"resource":"Secret","resource_names":["a"]}]`,
		"slos": `[{"name":"shop","namespaces":[{"SLONamespace":null,"namespace":{"app":{"name":"shop"},"cluster":{"automationToken":{"field":"token","format":null,"path":"app/cluster/c-1","version":null},` +
			`"name":"c-1","prometheusUrl":"https://prometheus.c-1.example.com","spec":null},"name":"shop-production"},"prometheusAccess":null}],` +
			`"slos":[{"SLIType":"availability","SLOParameters":{"window":"28d"},"SLOTarget":0.95,"SLOTargetUnit":"percent_0_1","expr":"sum(rate(ok[{{window}}]))","name":"availability"}]}]`,
		"saas_file_secretparameters": `[{"name":"F","secret":{"field":"f","path":"app/shop","q_format":"base64","version":null}}]`,
		"rt_secretparameters":        `[{"name":"T","secret":{"field":"f","path":"app/shop","q_format":null,"version":null}}]`,
		"rt_parameters":              `"{\"LOG_LEVEL\":\"info\"}"`,
		"namespace":                  `{"app":{"name":"shop"},"cluster":{"name":"c-1","serverUrl":"https://api.c-1.example.com:6443"},"name":"shop-production"}`,
	} {
		if string(got[key]) != want {
			t.Errorf("%s: got %s, want %s", key, got[key], want)
		}
	}
	without := read(t, saastest.New()).Files[0].Templates[0].Targets[1].Content().(map[string]any)
	for _, missing := range []string{"rt_secretparameters", "saas_file_secretparameters",
		"saas_file_managed_resource_names"} {
		if _, isThere := without[missing]; isThere {
			t.Errorf("a target without them has %s", missing)
		}
	}
}

// The same data give the same findings and the same reasons, also if a target has several mistakes.
func TestReadIsStable(t *testing.T) {
	w := saastest.Large(3, 6)
	of := w.Target("/services/app-001/saas.yml", 0, 0)
	of["promotion"] = object{"publish": []any{"a/b", "c/d"}, "subscribe": []any{"e/f", "g/h"}, "schedule": "no"}
	of["name"] = "x:y"
	of["secretParameters"] = []any{object{"name": "S", "secret": object{"path": "{{{", "field": "{{{ }}}"}}}
	query := w.Query(t)
	first := ""
	for i := range 20 {
		m, err := Read(t.Context(), query, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(append(lines(m.Findings), m.Files[1].Templates[0].Targets[0].Broken), "\n")
		if i == 0 {
			first = text
		}
		if text != first {
			t.Fatalf("got\n%s\nand then\n%s", first, text)
		}
	}
}
