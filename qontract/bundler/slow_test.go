package bundler

import (
	"strings"
	"testing"
	"time"
)

// TestHostileTime checks that hostile files are read or refused in bounded time.
func TestHostileTime(t *testing.T) {
	const size = 1 << 18
	fillUp := func(s string) string { return strings.Repeat(s, size/len(s)) }
	for name, raw := range map[string]string{
		"brackets":      fillUp("["),
		"braces":        fillUp("{"),
		"dashes":        fillUp("- "),
		"questions":     fillUp("? "),
		"quotes":        fillUp("'"),
		"open text":     "a: \"" + fillUp("x\n"),
		"lone tags":     fillUp("- ! 'x'\n"),
		"slashes":       fillUp("- \"\\/\"\n"),
		"anchors":       fillUp("- &a x\n"),
		"aliases":       "- &a " + strings.Repeat("x", 1000) + "\n" + fillUp("- *a\n"),
		"merges":        "- &a {" + strings.Repeat("x", 100) + ": 1}\n" + fillUp("- {<<: [*a, *a, *a, *a]}\n"),
		"one key":       fillUp("a: 1\n"),
		"number":        "a: " + fillUp("9") + "\n",
		"sexagesimal":   "a: 1" + fillUp(":59") + "\n",
		"blank lines":   "a: |\n" + fillUp("\n"),
		"indentation":   fillUp(" "),
		"comments":      fillUp("#\n"),
		"colons":        fillUp("a: "),
		"syntax at end": fillUp("a:\n- b\n") + "c: d: e\n",
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, found := readYAML([]byte(raw))
			if took := time.Since(start); took > time.Minute {
				t.Errorf("took %v", took)
			}
			t.Logf("%v, %d problems", time.Since(start), len(found))
		})
	}
}
