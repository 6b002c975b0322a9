package suggest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/suggest"
)

func TestEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"agr", "arg", 2}, {"kitten", "sitting", 3},
		{"a", "b", 1},
	} {
		if got := suggest.Edits(c.a, c.b); got != c.want || suggest.Edits(c.b, c.a) != c.want {
			t.Errorf("%q, %q: got %d, want %d both ways", c.a, c.b, got, c.want)
		}
	}
}

// Words of another length are left out without being compared, and nothing else is.
func TestWordsOfOtherLengths(t *testing.T) {
	var known []string
	for n := range 12 {
		known = append(known, strings.Repeat("ab", n), strings.Repeat("a", n), strings.Repeat("b", n)+"a")
	}
	for _, word := range known {
		for limit := range 8 {
			want := 0
			for _, k := range known {
				if n := suggest.Edits(word, k); n <= limit && n < len(k) {
					want++
				}
			}
			if got := suggest.Words(word, known, limit); len(got) != want {
				t.Errorf("%q, %d: got %q, want %d", word, limit, got, want)
			}
		}
	}
}

func ExampleWords() {
	fmt.Println(suggest.Words("agr", []string{"by", "arg", "max", "args"}, 2))
	// Output: [arg args]
}

func TestHint(t *testing.T) {
	for word, want := range map[string]string{"plam": ` (did you mean "plan"?)`, "zzz": "", "": ""} {
		if got := suggest.Hint(word, []string{"plan", "runner"}); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}
