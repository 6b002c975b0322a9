package lazyregexp

import (
	"regexp"
	"strings"
	"testing"
)

// In a test an expression is compiled at once, so that a mistake in any of them fails all tests of its package.
func TestMistakesAreFoundInTests(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a wrong expression was accepted")
		}
	}()
	New("(")
}

// Each method answers as that of package regexp.
func TestMethods(t *testing.T) {
	const text, in = `b(\d)`, "ab1cb2"
	lazy, want := New(text), regexp.MustCompile(text)
	pairs := map[string][2]any{
		"MatchString":             {lazy.MatchString(in), want.MatchString(in)},
		"Match":                   {lazy.Match([]byte(in)), want.Match([]byte(in))},
		"FindString":              {lazy.FindString(in), want.FindString(in)},
		"FindStringIndex":         {lazy.FindStringIndex(in)[1], want.FindStringIndex(in)[1]},
		"FindStringSubmatch":      {lazy.FindStringSubmatch(in)[1], want.FindStringSubmatch(in)[1]},
		"FindStringSubmatchIndex": {lazy.FindStringSubmatchIndex(in)[3], want.FindStringSubmatchIndex(in)[3]},
		"FindAllString": {strings.Join(lazy.FindAllString(in, -1), " "),
			strings.Join(want.FindAllString(in, -1), " ")},
		"FindAllStringSubmatch": {lazy.FindAllStringSubmatch(in, -1)[1][1], want.FindAllStringSubmatch(in, -1)[1][1]},
		"FindAllStringSubmatchIndex": {lazy.FindAllStringSubmatchIndex(in, -1)[1][2],
			want.FindAllStringSubmatchIndex(in, -1)[1][2]},
		"FindIndex":        {lazy.FindIndex([]byte(in))[0], want.FindIndex([]byte(in))[0]},
		"FindSubmatch":     {string(lazy.FindSubmatch([]byte(in))[1]), string(want.FindSubmatch([]byte(in))[1])},
		"ReplaceAllString": {lazy.ReplaceAllString(in, "$1"), want.ReplaceAllString(in, "$1")},
		"ReplaceAllStringFunc": {lazy.ReplaceAllStringFunc(in, strings.ToUpper),
			want.ReplaceAllStringFunc(in, strings.ToUpper)},
		"ReplaceAllFunc": {string(lazy.ReplaceAllFunc([]byte(in), func([]byte) []byte { return nil })),
			string(want.ReplaceAllFunc([]byte(in), func([]byte) []byte { return nil }))},
		"String": {lazy.String(), want.String()},
	}
	for name, got := range pairs {
		if got[0] != got[1] {
			t.Errorf("%s: got %v, want %v", name, got[0], got[1])
		}
	}
}
