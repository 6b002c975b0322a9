package pyjson_test

import (
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/pyjson"
)

// Values are written as Python writes them.
func TestSorted(t *testing.T) {
	for text, want := range map[string]string{
		`{"b":1,"a":[true,null],"a":[]}`:                                                `{"a": [], "b": 1}`,
		`[1.0, 1e5, 1e16, 1e-5, 0.0001, 5e-324, -0.0, -0, 1E400, 12345678901234567890]`: `[1.0, 100000.0, 1e+16, 1e-05, 0.0001, 5e-324, -0.0, 0, Infinity, 12345678901234567890]`,
		`"a\u0001\u007f\n\t\r\f\b\"\\/<>&é𝄞"`:                                           `"a\u0001\u007f\n\t\r\f\b\"\\/<>&\u00e9\ud834\udd1e"`,
		`{"\uffff":1,"\ud834\udd1e":2}`:                                                 `{"\uffff": 1, "\ud834\udd1e": 2}`,
	} {
		v, err := pyjson.Read(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(pyjson.Sorted(v)); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	v, _ := pyjson.Read(`{"b":1,"a":{"d":2,"c":[1,2]},"b":3}`)
	if got, want := pyjson.Compact(v), `{"b":3,"a":{"d":2,"c":[1,2]}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What is no JSON, more than one value, or nested too deep is refused.
func TestReadRefuses(t *testing.T) {
	deep := strings.Repeat("[", pyjson.MaxDepth+2)
	for _, text := range []string{"", "{", "1 2", `{"a"}`, deep} {
		if v, err := pyjson.Read(text); err == nil {
			t.Errorf("%.20q: got %v", text, v)
		}
	}
}

// The keys of compact JSON keep their order, unless they are to be sorted.
func TestCompactSorted(t *testing.T) {
	v, err := pyjson.Read(`{"b":{"y":1,"x":[2,1]},"a":"v"}`)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := pyjson.CompactSorted(v), `{"a":"v","b":{"x":[2,1],"y":1}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// An integer has its digits, however long it is.
func TestNumber(t *testing.T) {
	long := "-" + strings.Repeat("9", 5000)
	for text, want := range map[string]string{"-0": "0", "007": "7", long: long, "1e2": "100.0"} {
		if got := pyjson.Number(text); got != want {
			t.Errorf("%.20s: got %.20s, want %.20s", text, got, want)
		}
	}
}
