package jsonpointer_test

import (
	"slices"
	"testing"

	"github.com/app-sre/prcheck/internal/jsonpointer"
)

// Some of the examples are those of RFC 6901, section 5.
func TestPointers(t *testing.T) {
	for _, test := range []struct {
		parts   []string
		pointer string
	}{
		{nil, ""},
		{[]string{"foo"}, "/foo"},
		{[]string{"foo", "0"}, "/foo/0"},
		{[]string{""}, "/"},
		{[]string{"", ""}, "//"},
		{[]string{"a/b"}, "/a~1b"},
		{[]string{"m~n"}, "/m~0n"},
		{[]string{"~1"}, "/~01"},
		{[]string{"~0/"}, "/~00~1"},
		{[]string{"c%d", "e^f", " ", "ü"}, "/c%d/e^f/ /ü"},
	} {
		pointer := ""
		for _, part := range test.parts {
			pointer = jsonpointer.Append(pointer, part)
		}
		if pointer != test.pointer {
			t.Errorf("%q: got %q, want %q", test.parts, pointer, test.pointer)
		}
		if parts := jsonpointer.Split(test.pointer); !slices.Equal(parts, test.parts) {
			t.Errorf("%q: got %q, want %q", test.pointer, parts, test.parts)
		}
	}
}

// Any two keys come back from their pointer.
func FuzzPointers(f *testing.F) {
	f.Add("a", "b")
	f.Add("~", "/")
	f.Add("~01", "")
	f.Fuzz(func(t *testing.T, a, b string) {
		pointer := jsonpointer.Append(jsonpointer.Append("", a), b)
		if got := jsonpointer.Split(pointer); !slices.Equal(got, []string{a, b}) {
			t.Errorf("%q: got %q, want %q and %q", pointer, got, a, b)
		}
	})
}
