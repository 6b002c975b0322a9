package sanitize_test

import (
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/app-sre/prcheck/internal/sanitize"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                               "plain",
		"two\nlines\tand a tab":               "two\nlines\tand a tab",
		"\x1b[1;31mred\x1b[0m":                "red",
		"\x1b]0;title\x07x\x1b]8;;u\x1b\\y":   "xy",
		"a\r\nb\rc\u2028d":                    "a\nb\nc\nd",
		"bell\a null\x00 c1\u009b31m":         "bell null c131m",
		"right\u202eleft":                     "rightleft",
		"bad \xff byte":                       "bad \uFFFD byte",
		"été 日本":                              "été 日本",
		"an escape at the end \x1b":           "an escape at the end ",
		"unfinished \x1b]0;title without end": "unfinished ",
	} {
		if got := sanitize.Text(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func ExampleLine() {
	fmt.Println(sanitize.Line("  ana\r\n::error::\x1b[2J forged  "))
	// Output: ana ::error:: forged
}

func FuzzText(f *testing.F) {
	f.Add("\x1b[\x1b]\x07\xff\u202e")
	f.Fuzz(func(t *testing.T, in string) {
		got := sanitize.Text(in)
		if !utf8.ValidString(got) || sanitize.Text(got) != got {
			t.Errorf("%q: got %q, which is not yet harmless", in, got)
		}
	})
}
