package saas

import (
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/saas/saastest"
)

// Promoted targets without anything that tells them apart are held, with a remedy.
func TestTargetsThatCannotBeToldApart(t *testing.T) {
	w := saastest.New()
	selecting := func(path string, channels ...any) any {
		return object{"provider": "dynamic", "ref": saastest.Sha, "promotion": object{"auto": true, "subscribe": channels},
			"namespaceSelector": object{"jsonPathSelectors": object{"include": []any{path}}}}
	}
	first := w.Target(saastest.File, 0, 0)
	first["promotion"] = object{"publish": []any{"a", "b"}}
	targets := func(second any) []any {
		return []any{first, selecting(`namespace[?@.name="shop-production"]`, "a", "b"), second}
	}
	for name, c := range map[string]struct {
		second any
		isHeld bool
	}{
		"other channels":                       {selecting(`namespace[?@.name="nosuch"]`, "a"), false},
		"the same channels":                    {selecting(`namespace[?@.name="nosuch"]`, "b", "a"), false},
		"the same channels and the same paths": {selecting(`namespace[?@.name="shop-production"]`, "b", "a"), true},
	} {
		w.Set(saastest.File, targets(c.second), "resourceTemplates", 0, "targets")
		m := read(t, w)
		of := m.Files[0].Templates[0].Targets
		got := strings.Contains(strings.Join(lines(Validate(m)), "\n"), "cannot be told apart; give the targets names")
		if got != c.isHeld || (of[1].Broken != "") != c.isHeld || !of[1].Alike || of[0].Alike {
			t.Errorf("%s: held %v (%q), alike %v and %v: %s", name, got, of[1].Broken, of[0].Alike, of[1].Alike,
				lines(Validate(m)))
		}
	}
}

// A path chooses the namespaces for which its conditions hold.
func TestSelectors(t *testing.T) {
	all := "app-interface-integration app-interface-test-service-pipelines app-interface-test-service-prod app-interface-test-service-stage example-01 example-02 other-shop-production other-shop-stage"
	for _, c := range []struct{ name, include, exclude, want string }{
		{"a field", `namespace[?@.app.name="example"]`, "", "example-01 example-02"},
		{"two conditions", `namespace[?@.environment.name="production" & @.app.name="example"]`, "", "example-01"},
		{"several paths", `namespace[?@.environment.name="production"];namespace[?@.environment.name='stage']`,
			`namespace[?@.app.name="app-interface-test-service"];namespace[?@.cluster.name="app-interface-infra"];$.namespace[?(@.labels.team=="shop")]`, "example-01 example-02"},
		{"a field that is there", `namespace[?@.skupperSite]`, "",
			"app-interface-test-service-pipelines app-interface-test-service-prod app-interface-test-service-stage"},
		{"a field that is null", `namespace[?@.skupperSite.delete]`, "",
			"app-interface-test-service-prod app-interface-test-service-stage"},
		{"a truth value", `namespace[?@.skupperSite.delete=true]`, "", "app-interface-test-service-stage"},
		{"another truth value", `namespace[?(@.skupperSite.delete != true)]`, "", "app-interface-test-service-prod"},
		{"all", `namespace[*]`, "", all},
		{"all but some", `$.namespace[*]`, `namespace[?@.name != "example-01"]`, "example-01"},
		{"a position", `namespace[0]`, "namespace[?@.name]", ""},
		{"an order", `namespace[?@.name >= "other"]`, "", "other-shop-production other-shop-stage"},
		{"labels of an environment", `namespace[?@.environment.labels.type = "stage" & @.app.name = "example"]`, "",
			"example-02"},
		{"names in quotes", `namespace[?@.'app'.name="example"]`, "", "example-01 example-02"},
		{"a text and no text", `namespace[?@.app != "x" & @.cluster.name="app-interface-infra"]`, "",
			"app-interface-integration"},
		{"a pattern", `namespace[?@.name =~ "^example-0[12]$"]`, "", "example-01 example-02"},
		{"a pattern somewhere", `namespace[?@.name=~"shop"]`, "", "other-shop-production other-shop-stage"},
		// | binds closer than the dot
		{"one of two paths", `namespace[?@.name="example-01"] | $.namespace[?@.name="example-02"]`, "", "example-02"},
		{"one of two paths in parentheses", `(namespace[?@.name="example-01"]) | ($.namespace[?@.name="example-02"])`, "",
			"example-01 example-02"},
		{"wherever it is", `$..namespace[?@.app.name="example"]`, "", "example-01 example-02"},
		{"below", "$..skupperSite.`parent`", "",
			"app-interface-test-service-pipelines app-interface-test-service-prod app-interface-test-service-stage"},
		{"a slice", "namespace[:]", `namespace[?@.name!="example-02"]`, "example-02"},
		{"the last one", "namespace[-1]", "namespace[:-1]", "other-shop-stage"},
		{"two positions", "namespace[0,1,0]", "namespace[1:]", "app-interface-integration"},
		{"where", "namespace[*] where skupperSite", `namespace[*] wherenot (skupperSite.delete)`,
			"app-interface-test-service-prod app-interface-test-service-stage"},
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

// A path that cannot be read, or does not choose whole namespaces, is a mistake at its place.
func TestSelectorMistakes(t *testing.T) {
	for path, want := range map[string]string{
		"": "ends too early", "namespace": "is no namespace", "$": "is no namespace", "namespace[": "ends too early",
		"namespace[?()GARBAGE]": "is not expected",
		`namespace[?@.name="x]`: "is not closed", `namespace[?@.name="example-01"].cluster`: "is no namespace",
		"namespace[*].`len`":                  "it chooses something that is no namespace",
		`namespace[?@.name="x" | @.name="y"]`: `"|" is not expected`, "namespace[/name]": "sorting",
		`namespace[?@.app.name="example"][?@.name]`: "must stand behind a list",
		`namespace[?@.app > "x"]`:                   "cannot compare an object with a text",
		`namespace[?@.name=~"("]`:                   "cannot be used",
	} {
		m := read(t, selectorWorld([]string{"namespace[*]"}, []string{path}))
		got := strings.Join(lines(m.Findings), "\n")
		isPlaced := strings.Contains(got,
			"SAAS_SELECTOR "+saastest.File+"/resourceTemplates/0/targets/0/namespaceSelector/jsonPathSelectors/exclude/0: ")
		if want == "" && got != "" || want != "" && (!isPlaced || !strings.Contains(got, want) || m.Files[0].Broken == "") {
			t.Errorf("%s: got %q, want a mistake with %q", path, got, want)
		}
	}
}
