package bundler

import (
	"strings"
	"testing"
)

// inBrackets begins the problem with a question mark in brackets.
const inBrackets = "did not find expected ',' or"

// FuzzQuick checks that the quick reader and the full reader give the same result for
// every file that the quick reader accepts. A question mark in brackets is text that only the quick reader knows.
func FuzzQuick(f *testing.F) {
	for _, s := range []string{"a: 1\nb:\n- x\n- y: z\n  w: 'q'\nc: {d: e, f: [g, h]}\ns: |\n  one\n  two\n\nt: x\n",
		"---\n- a\n- - b\n  - c\n-\n  d: |-\n   x\n\n   y\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, ok := readQuick(raw)
		if !ok {
			return
		}
		want, found := readFullYAML(raw)
		if found != nil && strings.Contains(found[0].Msg, inBrackets) {
			return
		}
		if found != nil {
			t.Fatalf("%q: read as %s, refused by the full reader: %v", raw, appendValue(nil, got), found)
		}
		if g, w := appendValue(nil, got), appendValue(nil, want); string(g) != string(w) {
			t.Fatalf("%q:\ngot  %s\nwant %s", raw, g, w)
		}
	})
}
