package bundle_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// Hidden values are shown nowhere, and what differs stays the same places.
func TestHide(t *testing.T) {
	file := func(text string) string {
		return `{"git_commit": "0", "git_commit_timestamp": "1", "data": {` + text +
			`}, "resources": {}, "schemas": {}, "graphql": []}`
	}
	entry := func(text string) string { return `"/a.yml": {"$schema": "/a-1.yml", ` + text + `}` }
	for name, c := range map[string]struct {
		base, head string
		old, new   []string
		want       string
	}{
		"changed": {entry(`"p": "canary1", "b": 1`), entry(`"p": "canary2", "b": 2`), []string{"/p"}, []string{"/p"},
			`/b 1>2, /p "(secret 1)">"(secret 2)"`},
		"the same": {entry(`"p": "canary1", "b": 1`), entry(`"p": "canary1", "b": 2`), []string{"/p"}, []string{"/p"},
			`/b 1>2`},
		"taken out": {entry(`"p": "canary1", "b": 1`), entry(`"b": 1`), []string{"/p"}, nil, `/p "(secret 1)">`},
		"a whole file": {"", entry(`"o": {"l": [1, {"p": "canary1"}]}`), nil, []string{"/o/l/1/p"},
			`/$schema >"/a-1.yml", /o >{"l":[1,{"p":"(secret 1)"}]}`},
		"a number": {entry(`"p": 4711, "q": 4711`), entry(`"p": 4712, "q": 4712`), []string{"/p", "/q"},
			[]string{"/p", "/q"}, `/p "(secret 1)">"(secret 2)", /q "(secret 1)">"(secret 2)"`},
		"an object": {entry(`"p": {"a": "canary1"}`), entry(`"p": {"a": "canary2"}`), []string{"/p"}, []string{"/p"},
			`/p "(secret 1)">"(secret 2)"`},
		"items": {entry(`"l": [{"name": "x", "p": "canary1"}, {"name": "y"}]`),
			entry(`"l": [{"name": "y"}, {"name": "x", "p": "canary2"}]`), []string{"/l/0/p"}, []string{"/l/1/p"}, ""},
		"leads nowhere":  {entry(`"b": 1`), entry(`"b": 2`), []string{"/p/q", "/b/c", "/b/0"}, []string{"/p"}, `/b 1>2`},
		"the whole file": {entry(`"b": "canary1"`), entry(`"b": "canary2"`), []string{""}, []string{""}, ``},
	} {
		base, head := parse(t, file(c.base), nil), parse(t, file(c.head), nil)
		d := bundle.Compare(base, head)
		if len(d.Datafiles) != 1 {
			t.Fatalf("%s: %d changes", name, len(d.Datafiles))
		}
		var got []string
		for _, f := range d.Datafiles[0].Hide(c.old, c.new).FieldDiffs(1000) {
			got = append(got, fmt.Sprintf("%s %s>%s", f.Pointer, f.Old, f.New))
		}
		slices.Sort(got)
		text := strings.Join(got, ", ")
		if text != c.want && name != "items" || strings.Contains(text, "canary") {
			t.Errorf("%s: got %s, want %s", name, text, c.want)
		}
		if name == "items" && !strings.Contains(text, "(secret 1)") {
			t.Errorf("%s: got %s", name, text)
		}
		if raw := string(head.Datafiles()[0].Raw()); strings.Contains(raw, "(secret") {
			t.Errorf("%s: the bundle itself was changed: %s", name, raw)
		}
	}
}
