package body_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/natives/generic/body"
)

func TestEqual(t *testing.T) {
	long := strings.Repeat("9", 400)
	for _, test := range []struct {
		a, b   string
		format body.Format
		want   bool
	}{
		{`1`, `1e0`, "", true},
		{`-0`, `0.0`, "", true},
		{`100`, `1E+2`, "", true},
		{`0.1`, `1e-1`, "", true},
		{`9007199254740993`, `9007199254740992`, "", false},
		{long, long + ".0", "", true},
		{long, long[:399] + "8", "", false},
		{`1e999999999999999999`, `10e999999999999999998`, "", true},
		{`1e999999999999999999`, `1e999999999999999998`, "", false},
		{`0e999999999999999999`, `0`, "", true},
		{`true`, `1`, "", false},
		{`null`, `{}`, "", true},
		{`null`, `{"a": {"b": []}}`, "", true},
		{`null`, `[null]`, "", false},
		{`{"a": 1, "b": null}`, `{"a": 1.0}`, "", true},
		{`{"a": 1}`, `{"a": 1, "b": 0}`, "", false},
		{`[1, 2]`, `[2, 1]`, "", false},
		{`"a"`, `["a"]`, "", false},
		{`{"a": 1}`, `"{}"`, "", false},
		{`"A"`, `"a"`, "", false},

		{`"/A/b//"`, `"/a/B"`, body.ARMID, true},
		{`"/"`, `"/"`, body.ARMID, true},
		{`"Kelvinſ"`, `"kELVINS"`, body.EnumFold, true},
		{`"East  US 2"`, `"eastus2"`, body.Location, true},
		{`"eastus"`, `"eastus2"`, body.Location, false},
		{`["/A"]`, `["/a"]`, body.ARMID, true},

		{`"P1D"`, `"PT24H"`, body.Duration, true},
		{`"P1W"`, `"P7D"`, body.Duration, true},
		{`"P1Y"`, `"P12M"`, body.Duration, true},
		{`"P1M"`, `"P30D"`, body.Duration, false},
		{`"P1M"`, `"PT1M"`, body.Duration, false},
		{`"PT1.5H"`, `"PT90M"`, body.Duration, true},
		{`"-PT1H"`, `"PT1H"`, body.Duration, false},
		{`"PT0S"`, `"P0D"`, body.Duration, true},
		{`"PT1.5H1M"`, `"PT91M"`, body.Duration, false}, // only the last part may have a fraction
		{`"PT"`, `"P"`, body.Duration, false},
		{`"PT1M1H"`, `"PT61M"`, body.Duration, false},
		{`"P` + long + `D"`, `"P` + long + `D"`, body.Duration, true},

		{`"2026-01-01T01:00:00+01:00"`, `"2026-01-01T00:00:00Z"`, body.DateTime, true},
		{`"2026-01-01T00:00:00.500Z"`, `"2026-01-01t00:00:00.5z"`, body.DateTime, true},
		{`"2026-01-01T00:00:00.0000000001Z"`, `"2026-01-01T00:00:00Z"`, body.DateTime, false},
		{`"2026-01-01T00:00:00"`, `"2026-01-01T00:00:00Z"`, body.DateTime, false}, // it has no zone
		{`"2026-01-01T00:00:00.Z"`, `"2026-01-01T00:00:00Z"`, body.DateTime, false},

		{`"1"`, `1`, body.Quantity, true},
		{`"1000m"`, `"1"`, body.Quantity, true},
		{`"0.1"`, `"100m"`, body.Quantity, true},
		{`"1.5Gi"`, `"1536Mi"`, body.Quantity, true},
		{`"1e3"`, `"1k"`, body.Quantity, true},
		{`"1E"`, `"1000P"`, body.Quantity, true},
		{`"0Gi"`, `"0"`, body.Quantity, true},
		{`"-1Ki"`, `"-1024"`, body.Quantity, true},
		{`"--1"`, `"-1"`, body.Quantity, false},
		{`"1 Gi"`, `"1Gi"`, body.Quantity, false},
		{`"1e999999999999Ki"`, `"1Ki"`, body.Quantity, false},
		{`""`, `"0"`, body.Quantity, false},
		{`80`, `80.0`, body.IntOrString, true},
	} {
		a, b := value(t, []byte(test.a)), value(t, []byte(test.b))
		for range 2 {
			if got := body.Equal(a, b, test.format); got != test.want {
				t.Errorf("%.60s and %.60s as %q: got %t, want %t", test.a, test.b, test.format, got, test.want)
			}
			a, b = b, a
		}
	}
}

func TestCanonicalNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"10": "10", "1e1": "10", "-1.50": "-1.5", "0.001": "0.001", "12.5e-3": "0.0125", "-0.0": "0",
		"1e30": "1" + strings.Repeat("0", 30),
		"1e31": "1e31", "1e-31": "1e-31", "100e400": "1e402", "9007199254740993": "9007199254740993",
	} {
		if got := body.Canonical(json.Number(text)); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// The cost of a number is that of its text.
func TestLargeNumbersAreCheap(t *testing.T) {
	begin := time.Now()
	for _, text := range []string{"1e" + strings.Repeat("9", 100_000), strings.Repeat("9", 100_000),
		"0." + strings.Repeat("0", 100_000) + "1e-99999999"} {
		body.Equal(json.Number(text), json.Number("1"), body.Plain)
		body.Equal(text+"Gi", "1", body.Quantity)
		body.Equal("P"+text+"D", "P1D", body.Duration)
	}
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"duplicate key": {"{\n\"a\": 1, \"a\": 2}", "line 2"},
		"too deep":      {strings.Repeat("[", 300), "nested too deeply"},
		"text behind":   {`{} {}`, "text after the end"},
		"cut":           {`{"a": [1, 2`, "ends too early"},
		"invalid UTF-8": {"{\"a\": \"\xff\"}", "UTF-8"},
		"nothing":       {"", "ends too early"},
		"HTML":          {"<html>", "line 1"},
		"NaN":           {`{"a": NaN}`, "line 1"},
		"too large":     {`"` + strings.Repeat("a", 16<<20) + `"`, "bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := body.Parse([]byte(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestOf(t *testing.T) {
	got, err := body.Of(map[string]any{"a": []any{1, int64(2), uint64(3), 0.5, "x", true, nil, json.Number("1e400")}})
	if want := `{"a":[1,2,3,0.5,"x",true,null,1e400]}`; err != nil || body.Text(got) != want {
		t.Errorf("got %s, %v, want %s", body.Text(got), err, want)
	}
	if _, err := body.Of([]any{struct{}{}}); err == nil {
		t.Error("a struct is taken")
	}
}

// The examples are those of RFC 7386, appendix A, whose results have no null in an object.
func TestMerge(t *testing.T) {
	for _, test := range [][3]string{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`["a","b"]`, `["c","d"]`, `["c","d"]`},
		{`{"a":"foo"}`, `"bar"`, `"bar"`},
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
	} {
		v, patch := value(t, []byte(test[0])), value(t, []byte(test[1]))
		if got := body.Canonical(body.Merge(v, patch)); got != test[2] {
			t.Errorf("%s with %s: got %s, want %s", test[0], test[1], got, test[2])
		}
		from, isObject := v.(map[string]any)
		to, isOther := value(t, []byte(test[2])).(map[string]any)
		if !isObject || !isOther {
			continue
		}
		if got := body.Canonical(body.Merge(from, body.MergePatch(from, to))); got != test[2] {
			t.Errorf("the patch from %s to %s leads to %s", test[0], test[2], got)
		}
	}
}

func TestGetAndSet(t *testing.T) {
	v := value(t, []byte(`{"a": [{"b/c": 1}]}`))
	if got, ok := body.Get(v, "/a/0/b~1c"); !ok || got != json.Number("1") {
		t.Errorf("got %v, %t", got, ok)
	}
	for _, missing := range []string{"/a/1", "/a/00", "/a/-", "/a/0/b/c", "/x", "/a/0/b~1c/d"} {
		if got, ok := body.Get(v, missing); ok {
			t.Errorf("%s: got %v", missing, got)
		}
	}
	before := body.Canonical(v)
	for pointer, want := range map[string]string{
		"":           `true`,
		"/a/0/b~1c":  `{"a":[{"b/c":true}]}`,
		"/x/y":       `{"a":[{"b/c":1}],"x":{"y":true}}`,
		"/a/0/new/0": `{"a":[{"b/c":1,"new":{"0":true}}]}`,
	} {
		got, err := body.Set(v, pointer, true)
		if err != nil || body.Canonical(got) != want {
			t.Errorf("%s: got %s, %v, want %s", pointer, body.Canonical(got), err, want)
		}
	}
	for _, wrong := range []string{"/a/1", "/a/x", "/a/0/b~1c/d"} {
		if _, err := body.Set(v, wrong, true); err == nil {
			t.Errorf("%s is set", wrong)
		}
	}
	if body.Canonical(v) != before {
		t.Errorf("the value itself changed: %s", body.Canonical(v))
	}
}

func TestHMAC(t *testing.T) {
	one := body.HMAC([]byte("k"), json.Number("1"))
	if one != body.HMAC([]byte("k"), json.Number("1.0")) || one == body.HMAC([]byte("l"), json.Number("1")) ||
		one == body.HMAC([]byte("k"), "1") {
		t.Error("the keyed hash is not that of the value and the key")
	}
}

// Values are equal exactly if they are spelled the same, but for what is empty.
func FuzzEqual(f *testing.F) {
	f.Add(`{"a": [1, "PT1H"]}`, `{"a": [1.0, "PT60M"]}`, "duration")
	f.Add(`"1.5Gi"`, `1e-999`, "quantity")
	f.Add(`"2026-01-01T00:00:00.5Z"`, `""`, "date-time")
	f.Fuzz(func(t *testing.T, x, y, format string) {
		a, errA := body.Parse([]byte(x))
		b, errB := body.Parse([]byte(y))
		if errA != nil || errB != nil {
			return
		}
		of := body.Format(format)
		if !body.Equal(a, a, of) {
			t.Errorf("%s does not equal itself", x)
		}
		if body.Equal(a, b, of) != body.Equal(b, a, of) {
			t.Errorf("%s and %s are equal in one direction only", x, y)
		}
		if body.Spelling(a, of) == body.Spelling(b, of) && !body.Equal(a, b, of) {
			t.Errorf("%s and %s are spelled the same", x, y)
		}
		again, err := body.Parse([]byte(body.Canonical(a)))
		if err != nil || body.Canonical(again) != body.Canonical(a) {
			t.Errorf("the canonical text of %s is %s and then %s, %v", x, body.Canonical(a), body.Canonical(again), err)
		}
	})
}
