package suggest_test

import (
	"fmt"
	"testing"

	"github.com/app-sre/prcheck/internal/suggest"
)

func TestEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"agr", "arg", 2}, {"kitten", "sitting", 3}, {"a", "b", 1},
	} {
		if got := suggest.Edits(c.a, c.b); got != c.want || suggest.Edits(c.b, c.a) != c.want {
			t.Errorf("%q, %q: got %d, want %d both ways", c.a, c.b, got, c.want)
		}
	}
}

func ExampleWords() {
	fmt.Println(suggest.Words("agr", []string{"by", "arg", "max", "args"}, 2))
	// Output: [arg args]
}
