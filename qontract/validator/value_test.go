package validator

import (
	"reflect"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
)

func TestSame(t *testing.T) {
	tests := []struct {
		name, a, b string
		want       bool
	}{
		{"numbers by value", "1", "1.0", true},
		{"exponent", "100", "1e2", true},
		{"large integers exactly", "9007199254740993", "9007199254740992", false},
		{"number and string", "1", `"1"`, false},
		{"number and boolean", "1", "true", false},
		{"order of keys", `{"a":1,"b":2}`, `{"b":2.0,"a":1}`, true},
		{"more keys", `{"a":1}`, `{"a":1,"b":1}`, false},
		{"other keys", `{"a":1}`, `{"b":1}`, false},
		{"order of items", `[1,2]`, `[2,1]`, false},
		{"more items", `[1]`, `[1,1]`, false},
		{"null", "null", "null", true},
		{"list and object", "[]", "{}", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, b := parseValue(t, tt.a), parseValue(t, tt.b)
			if got := equalJSON(a, b); got != tt.want {
				t.Errorf("got %t, want %t", got, tt.want)
			}
			if got := bundle.Canonical(normalize(a)) == bundle.Canonical(normalize(b)); got != tt.want {
				t.Errorf("as text: got %t, want %t", got, tt.want)
			}
		})
	}
}

// TestPattern compares the result for each pattern and text with that of Python's re.
func TestPattern(t *testing.T) {
	tests := []struct {
		name, pattern, text string
		want                bool
	}{
		{"somewhere", "b", "abc", true},
		{"whole", "^b$", "abc", false},
		{"last newline", "^abc$", "abc\n", true},
		{"two newlines", "^abc$", "abc\n\n", false},
		{"absolute end", `^abc\Z`, "abc\n", false},
		{"backslash and Z", `^a\\Z$`, `a\Z`, true},
		{"digits of all scripts", `^\d$`, "٣", true},
		{"letters of all scripts", `^\w+$`, "größe", true},
		{"look-ahead", "^(?!docs).*", "docs", false},
		{"look-behind", "^https://.+(?<!/)$", "https://x/", false},
		{"named group", "^(?P<a>x)$", "x", true},
		{"dash inside a class", "^[a-z0-9-_]+$", "a-_", true},
		{"repeats without lower limit", "^a{,2}$", "aa", false}, // .NET has no such repeat
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := newPattern(tt.pattern)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.MatchString(tt.text); got != tt.want {
				t.Errorf("got %t, want %t", got, tt.want)
			}
		})
	}
}

// TestPatternEnginesAgree checks that the standard library and regexp2 give the same result
// where the standard library is used.
func TestPatternEnginesAgree(t *testing.T) {
	patterns := []string{
		`^[A-Za-z0-9][A-Za-z0-9-_\.]{0,30}[A-Za-z0-9]$`, `^[\s0-9()+-]{1,25}$`, `^\/[a-zA-Z0-9_ -\/]+[^\/]$`,
		`[^Task|^Pipeline].+`, `^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$`, `(((\d+,)+\d+|(\d+(\/|-)\d+)|\d+|\*) ?){5}`,
		`^[^\s]*$`, `\bTask\b`, `(?i)^task`, `a|b||c`, `^[]a-]+$`, `^[^]a]+$`,
	}
	texts := []string{"", "a", "Task", "Pipeline run", "a-b_c.d", "/a/b", "1.5Gi", "0 3 * * 1-5", "+1 (2) 3", "]a-", "x]y",
		"a b", "~!@#$%^&*()_+{}|:<>?"}
	asked := 0
	for _, text := range patterns {
		p, err := newPattern(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range texts {
			want, err := p.re.MatchString(s)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.MatchString(s); got != want {
				t.Errorf("%q on %q: got %t, want %t", text, s, got, want)
			}
		}
		if p.fast != nil {
			asked++
		}
	}
	if asked != len(patterns) {
		t.Errorf("%d of %d patterns are quick", asked, len(patterns))
	}
}

// TestPatternIsBounded checks that a pattern that takes too long is not used any more, and
// is reported.
func TestPatternIsBounded(t *testing.T) {
	l := newLibrary(schemaBundle(t,
		map[string]string{"/a.json": `{"$schema":"http://json-schema.org/draft-06/schema","pattern":"^(?=(a+)+$)"}`}))
	n, err := l.compile("/a.json", "")
	if err != nil {
		t.Fatal(err)
	}
	n.pattern.re.MatchTimeout = 1 // at once
	if !n.pattern.MatchString(strings.Repeat("a", 40) + "!") {
		t.Error("a text that takes too long does not count as fitting")
	}
	got := (&checker{library: l}).slowPatterns()
	want := []Finding{{Section: Schemas, Path: "/a.json", Pointer: "/pattern", Rule: SchemaBroken,
		Message: `the pattern "^(?=(a+)+$)" takes too long on some value: write it without repeats inside repeats`}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err := newPattern(strings.Repeat("a", maxPatternLength+1)); err == nil {
		t.Error("a pattern of any length is taken")
	}
}

// TestFromYAML compares the values with those that PyYAML reads.
func TestFromYAML(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"scalars", "a: text\nb: 1\nc: 1.5\nd: true\ne: null\nf: ~\ng:",
			`{"a":"text","b":1,"c":1.5,"d":true,"e":null,"f":null,"g":null}`},
		{"booleans of YAML 1.1", "[yes, No, ON, off, y]", `[true,false,true,false,"y"]`},
		{"quoted", `["yes", '1', !!str 1]`, `["yes","1","1"]`},
		{"no float without a point", "[1e3, 1.0e+3, .inf]", `["1e3",1000,1.5e308]`},
		{"integers", "[0x10, 1_000, 0o17, 18446744073709551615, 1:30]", `[16,1000,"0o17",18446744073709551615,60]`},
		{"keys", "{1: a, on: b, null: c}", `{"1":"a","true":"b","null":"c"}`},
		{"merge", "x: &x {a: 1, b: 1}\ny: {<<: *x, b: 2}", `{"x":{"a":1,"b":1},"y":{"a":1,"b":2}}`},
		{"merge of several", "x: [&x {a: 1}, &y {a: 2, b: 2}]\nz: {<<: [*x, *y]}",
			`{"x":[{"a":1},{"a":2,"b":2}],"z":{"a":1,"b":2}}`},
		{"block", "a: |\n  x\n  y\n", `{"a":"x\ny\n"}`},
		{"escaped slash", `a: "\/\/x"`, `{"a":"//x"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := fromYAML(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if !equalJSON(v, parseValue(t, tt.want)) {
				t.Errorf("got %s, want %s", bundle.Canonical(v), tt.want)
			}
		})
	}
}

func TestFromYAMLRefuses(t *testing.T) {
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		n := string(rune('0' + i))
		m := string(rune('1' + i))
		bomb += "a" + m + ": &a" + m + " [" + strings.Repeat("*a"+n+", ", 8) + "]\n"
	}
	for name, text := range map[string]string{
		"aliases of aliases": bomb, "an alias of itself": "&a [*a]", "two documents": "a: 1\n---\nb: 1",
		"a template": "{% if %}",
		"too deep":   strings.Repeat("[", 2000) + strings.Repeat("]", 2000),
	} {
		if _, err := fromYAML(text); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestComparePointers(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{{"", "/a", -1}, {"/a/2", "/a/10", -1}, {"/b", "/a/c", 1}, {"/a~1b", "/a", 1}, {"/a", "/a", 0}}
	for _, tt := range tests {
		if got := comparePointers(tt.a, tt.b); got != tt.want {
			t.Errorf("%q and %q: got %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
