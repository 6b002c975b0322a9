package openapi

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParseMistakes(t *testing.T) {
	limits := Limits{Values: 10, Depth: 4}.withDefaults()
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", "line 1: the document ends too early"},
		{"cut in half", "{\n\"a\": [1,", "line 2: the document ends too early"},
		{"no end of a string", `["a`, "line 1: a string does not end"},
		{"HTML", "<html>", `line 1: a JSON value is wanted, not "<"`},
		{"a key twice", "{\"a\":1,\n\"a\":2}", `line 2: the key "a" stands twice in ""`},
		{"a key twice, inside", `{"x/y":{"a":1,"a":2}}`, `line 1: the key "a" stands twice in "/x~1y"`},
		{"a key twice, by an escape", `{"a":1,"\u0061":2}`, `line 1: the key "a" stands twice in ""`},
		{"text behind", "{}\n\nx", "line 3: there is text after the end of the document"},
		{"too deep", "[[[[[]]]]]", "line 1: its values are nested too deeply"},
		{"too many values", "[1,2,3,4,5,6,7,8,9,10]", "line 1: it has too many values"},
		{"invalid UTF-8", "{\n\"\xff\":1}", "line 2: it is not valid UTF-8"},
		{"a control character", "[\"a\x01\"]", "line 1: a control character stands in a string"},
		{"a broken escape", `["\x"]`, "line 1: an escape in a string is broken"},
		{"a broken number", "[01]", `line 1: a comma or ']' is wanted`},
		{"no colon", `{"a" 1}`, "line 1: a colon is wanted"},
		{"a comma at the end", `{"a":1,}`, "line 1: the name of a member is wanted, in quotes"},
	} {
		_, _, err := parse([]byte(test.text), limits)
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %s", test.name, err, test.want)
		}
	}
}

// A document of 200 levels and a number of 400 digits are read.
func TestParseOdd(t *testing.T) {
	digits := strings.Repeat("7", 400)
	text := "\xef\xbb\xbf" + strings.Repeat(`{"a":[`, 100) + digits + strings.Repeat(`]}`, 100)
	v, err := ParseValue([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	got, err := v.MarshalJSON()
	if err != nil || string(got) != text[3:] {
		t.Errorf("got %s, %v", got, err)
	}
}

// Pointers lead to where they come from.
func TestPointer(t *testing.T) {
	v, err := ParseValue([]byte(`{"a/b":[1,{"~":[true]}],"":{"x":null}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, pointer := range []string{"", "/a~1b", "/a~1b/0", "/a~1b/1/~0/0", "/", "//x"} {
		if got := v.At(pointer); got == nil || got.Pointer() != pointer {
			t.Errorf("%q: got %v", pointer, got)
		}
	}
	for _, pointer := range []string{"a", "/a", "/a~1b/2", "/a~1b/01", "/a~1b/-1", "/a~1b/x", "//x/y"} {
		if got := v.At(pointer); got != nil {
			t.Errorf("%q: got %v, want nothing", pointer, got)
		}
	}
}

// The parser accepts what encoding/json accepts, but for keys that stand twice, bytes that are
// not UTF-8, and limits. Both read the same.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-0.5e+3,"x\n\u00e9\ud83d\ude00\ud800",true,false,null,{}]}`, `[1 ,	2]`, `"\\\"\/\b\f\r\t"`, "\xef\xbb\xbf1",
		`{"a":1,"a":2}`, `[1,]`, `-`, `1.`, `{"a":}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, _, err := parse(raw, Limits{}.withDefaults())
		plain := bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
		if err != nil {
			text := err.Error()
			isOurs := strings.Contains(text, "stands twice") || strings.Contains(text, "too deeply") || !utf8.Valid(raw)
			if json.Valid(plain) && !isOurs {
				t.Fatalf("%q: %v", raw, err)
			}
			return
		}
		got, err := v.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if left, right := decode(t, got), decode(t, plain); !reflect.DeepEqual(left, right) {
			t.Fatalf("%q: got %v, want %v", raw, left, right)
		}
	})
}

func decode(t *testing.T, raw []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	return v
}
