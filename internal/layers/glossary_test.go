package layers

import (
	"go/ast"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// glossaryWords are words that exported names carry and that mean something of their own here.
var glossaryWords = []string{
	"bundle", "datafile", "resource", "schema", "finding", "plan", "ladder, rung", "reason", "evidence", "footprint",
	"trace", "world", "view",
	"shard", "key", "selector", "task", "slot", "attempt", "result", "baseline", "effect", "lease", "journal", "endpoint",
	"note",
	"round", "item", "thing", "step", "part", "mark", "caller", "adopt", "take over", "gate", "inventory", "entry", "cell",
	"target",
	"publisher, subscriber", "soak", "promotion", "component", "hold", "upstream", "family", "class", "admission",
}

// The glossary has the words, and no row twice. A word with two meanings says which one in parentheses.
func TestGlossary(t *testing.T) {
	text, err := os.ReadFile("../../docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	rows, words := map[string]bool{}, map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([^|]+) \| [^|]+ \|$`).FindAllStringSubmatch(string(text), -1) {
		name, _, _ := strings.Cut(m[1], " (")
		name, _, _ = strings.Cut(name, ", run on")
		if m[1] != "word" && (rows[m[1]] || words[name] && name == m[1]) {
			t.Errorf("the glossary has %q twice", m[1])
		}
		rows[m[1]], words[name] = true, true
	}
	for _, word := range glossaryWords {
		if !words[word] {
			t.Errorf("the glossary does not have %q", word)
		}
	}
	parts := map[string]bool{}
	for name := range words {
		for _, part := range strings.Split(name, ", ") {
			parts[part] = true
		}
	}
	for _, word := range carryingWords(t) {
		if singular := strings.TrimSuffix(word,
			"s"); !parts[word] && !parts[singular] && !slices.Contains(plainWords, singular) &&
			!slices.Contains(plainWords, word) {
			t.Errorf("%q stands in the names of three types of a house or more, and the glossary does not have it", word)
		}
	}
}

// plainWords mean in names what everybody takes them for.
var plainWords = []string{
	"action", "bucket", "client", "cluster", "commit", "comparison", "config", "environment", "error", "event", "failure",
	"field", "file", "job", "kind",
	"label", "list", "log", "merge", "object", "option", "pipeline", "reader", "row",
	"ref", "request", "rule", "run", "secret", "spec", "status",
	"store", "template", "tree", "writer",
}

// carryingWords returns the words of which the names of three exported types of one house or more are made, sorted.
func carryingWords(t *testing.T) []string {
	t.Helper()
	sources, err := parse(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	names := map[[2]string]map[string]bool{} // of types by house and word
	for _, s := range sources {
		at, h := floor(s.pkg)
		if at < 0 || isSide(s.pkg) {
			continue
		}
		for _, name := range exportedTypes(s) {
			for _, word := range regexp.MustCompile("[A-Z]+[a-z0-9]*").FindAllString(name, -1) {
				key := [2]string{h.name, strings.ToLower(word)}
				if names[key] == nil {
					names[key] = map[string]bool{}
				}
				names[key][s.pkg+"."+name] = true
			}
		}
	}
	found := map[string]bool{}
	for key, of := range names {
		if len(of) >= 3 {
			found[key[1]] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// exportedTypes returns the names of the exported types that a file declares.
func exportedTypes(s source) (out []string) {
	for _, d := range s.file.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range decl.Specs {
			if of, ok := spec.(*ast.TypeSpec); ok && of.Name.IsExported() {
				out = append(out, of.Name.Name)
			}
		}
	}
	return out
}
