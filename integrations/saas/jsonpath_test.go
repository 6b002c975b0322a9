package saas

import (
	"slices"
	"strings"
	"testing"
)

// A path chooses the namespaces for which its conditions hold.
func TestSelectors(t *testing.T) {
	all := "app-interface-integration app-interface-test-service-pipelines app-interface-test-service-prod app-interface-test-service-stage example-01 example-02 other-shop-production other-shop-stage"
	for _, c := range []struct{ name, include, exclude, want string }{
		{"a field", `namespace[?@.app.name="example"]`, "", "example-01 example-02"},
		{"two conditions", `namespace[?@.environment.name="production" & @.app.name="example"]`, "", "example-01"},
		{"several paths", `namespace[?@.environment.name="production"];namespace[?@.environment.name='stage']`,
			`namespace[?@.app.name="app-interface-test-service"];namespace[?@.cluster.name="app-interface-infra"];$.namespace[?(@.labels.team=="shop")]`, "example-01 example-02"},
		{"a field that is there", `namespace[?@.skupperSite]`, "", "app-interface-test-service-pipelines app-interface-test-service-prod app-interface-test-service-stage"},
		{"a field that is null", `namespace[?@.skupperSite.delete]`, "", "app-interface-test-service-prod app-interface-test-service-stage"},
		{"a truth value", `namespace[?@.skupperSite.delete=true]`, "", "app-interface-test-service-stage"},
		{"another truth value", `namespace[?(@.skupperSite.delete != true)]`, "", "app-interface-test-service-prod"},
		{"all", `namespace[*]`, "", all},
		{"all but some", `$.namespace[*]`, `namespace[?@.name != "example-01"]`, "example-01"},
		{"a position", `namespace[0]`, "namespace[?@.name]", ""},
		{"an order", `namespace[?@.name >= "other"]`, "", "other-shop-production other-shop-stage"},
		{"labels of an environment", `namespace[?@.environment.labels.type = "stage" & @.app.name = "example"]`, "", "example-02"},
		{"names in quotes", `namespace[?@.'app'.name="example"]`, "", "example-01 example-02"},
		{"a text and no text", `namespace[?@.app != "x" & @.cluster.name="app-interface-infra"]`, "", "app-interface-integration"},
		{"nothing", `namespace[?@.nosuch.field="x"]`, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var exclude []string
			if c.exclude != "" {
				exclude = strings.Split(c.exclude, ";")
			}
			m := read(t, selectorWorld(strings.Split(c.include, ";"), exclude))
			var got []string
			for _, target := range m.Files[0].Templates[0].Targets {
				if target.Selected {
					got = append(got, target.Namespace.Name)
				}
			}
			slices.Sort(got)
			if strings.Join(got, " ") != c.want || m.Files[0].Broken != "" {
				t.Errorf("got %q (%s), want %q", strings.Join(got, " "), m.Files[0].Broken, c.want)
			}
		})
	}
}

// A path that cannot be read, or does not choose whole namespaces, is a mistake.
func TestParsePathRefuses(t *testing.T) {
	for _, text := range []string{"", "namespace", "$", "namespace[", "namespace[]", "namespace[?]", "namespace[?()GARBAGE]", "namespace[?@]", "namespace[?@.]",
		`namespace[?@.name=]`, `namespace[?@.name="x]`, `namespace[?@.name=x]`, `namespace[?@.name="x"].cluster`, `namespace[?@.name=~"x"]`,
		`namespace[?(@.name="x"]`, `namespace[?@.name="x" | @.name="y"]`, `$..namespace[*]`, `cluster[*]`, `namespace[-1]`, `namespace[1:2]`,
		"namespace[?@.a & ]", "namespace[*][0]", `namespace[?@.name="` + strings.Repeat("x", maxPath) + `"]`} {
		if s, err := parsePath(text); err == nil {
			t.Errorf("%.60q: got %+v, want an error", text, s)
		}
	}
}

func FuzzParsePath(f *testing.F) {
	for _, text := range []string{`namespace[?@.app.name="example" & (@.x != 3)]`, "$.namespace[2]", `namespace[?'a\'b'=true]`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parsePath(text)
		if err == nil {
			s.chooses(map[string]any{"name": "x", "cluster": map[string]any{"name": "y"}}, 0)
		}
	})
}

// Templates are filled in as qontract-reconcile does it.
func TestExpand(t *testing.T) {
	labels, err := readJSON(`{"team":"shop","n":1.5}`)
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]any{"name": "n", "labels": labels, "delete": true, "skupperSite": nil, "cluster": map[string]any{"name": "c"}}
	for text, want := range map[string]string{
		"": "", "x": "x", "x\n": "x", "x\n\n": "x\n", "a\r\nb\rc": "a\nb\nc",
		"{{{resource.namespace.name}}}":                                            "n",
		"a-{{{ resource.namespace.cluster.name }}}-{{{resource.namespace.name}}}b": "a-c-nb",
		"{{{ resource.namespace.labels.team }}}":                                   "shop",
		"{{{ resource.namespace.labels['team'] }}}":                                "shop",
		`{{{ resource["namespace"]["labels"].n }}}`:                                "1.5",
		"{{{ resource.namespace.delete }}}":                                        "True",
		"{{{ resource.namespace.skupperSite }}}":                                   "None",
		"a{{# a comment #}}b":                                                      "ab",
		"${NAME} {{ x }} {% y %} {{x}}":                                            "${NAME} {{ x }} {% y %} {{x}}",
	} {
		if got, err := expand(text, fields); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"{{{":                                     "does not end",
		"{{{ }}}":                                 "empty",
		"{{{ resource.namespace.nosuch }}}":       "there is no resource.namespace.nosuch",
		"{{{ namespace.name }}}":                  "there is no namespace",
		"{{{ resource.namespace.cluster }}}":      "is no text",
		"{{{ resource.namespace.name | upper }}}": "only names",
		"{{{ resource.namespace.labels[team] }}}": "in quotes",
		"{{% for a in b %}}":                      "not supported",
		"{{# comment":                             "does not end",
		"{{{ resource.namespace.name.x }}}":       "there is no",
	} {
		if got, err := expand(text, fields); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %q, %v, want an error with %q", text, got, err, want)
		}
	}
}

func FuzzExpand(f *testing.F) {
	for _, text := range []string{"{{{ resource.namespace.name }}}", "{{# x #}}{{{", "a\r\nb{{%"} {
		f.Add(text)
	}
	fields := map[string]any{"name": "n"}
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := expand(text, fields); err == nil && len(got) > maxExpanded+len(text) {
			t.Errorf("%d bytes became %d", len(text), len(got))
		}
	})
}
