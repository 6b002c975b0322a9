package phrase

import (
	"strings"
	"testing"
)

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 tasks", 1: "1 task", 2: "2 tasks", -1: "-1 tasks"} {
		if got := Count(n, "task"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := CountOf(3, "query", "queries"); got != "3 queries" {
		t.Errorf("got %q", got)
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text         string
		most         int
		bytes, runes string
	}{
		{"", 0, "", ""},
		{"abc", 3, "abc", "abc"},
		{"abcd", 3, "abc…", "abc…"},
		{"aää", 4, "aä…", "aää"},
		{"aää", 2, "a…", "aä…"},
		{"äää", 1, "…", "ä…"},
	} {
		if got := Cut(c.text, c.most); got != c.bytes {
			t.Errorf("%q, %d: got %q, want %q", c.text, c.most, got, c.bytes)
		}
		if got := CutRunes(c.text, c.most); got != c.runes {
			t.Errorf("%q, %d characters: got %q, want %q", c.text, c.most, got, c.runes)
		}
	}
}

func TestQuote(t *testing.T) {
	eighty := strings.Repeat("a", 80)
	for text, want := range map[string]string{"": `""`, "a\nb": `"a\nb"`, eighty: `"` + eighty + `"`,
		eighty + "b": `"` + eighty + `"…`} {
		if got := Quote(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}
