package saas

import (
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/pyjson"
)

// Templates are filled in as qontract-reconcile does it.
func TestExpand(t *testing.T) {
	labels, err := pyjson.Read(`{"team":"shop","n":1.5}`)
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]any{"name": "n", "labels": labels, "delete": true, "skupperSite": nil,
		"cluster": map[string]any{"name": "c"}}
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
