package layers

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// glossaryWords are words that exported names carry and that mean something of their own here.
var glossaryWords = []string{
	"bundle", "datafile", "resource", "schema", "finding", "plan", "ladder, rung", "reason", "evidence", "footprint", "trace", "world", "view",
	"shard", "key", "selector", "task", "slot", "attempt", "result", "baseline", "effect", "lease", "journal", "endpoint", "note",
	"round", "item", "thing", "step", "part", "mark", "caller", "adopt", "take over", "gate", "inventory", "entry", "cell", "target",
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
}
