package jsonpath

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// A recording is what jsonpath_ng 1.8.0 says of paths.
type recording struct {
	Documents []any
	Cases     []struct {
		Document int
		Path     string
		Values   []any
		Mistake  bool   // the path cannot be read
		Error    string // the exception of the search
	}
}

// decode decodes JSON with exact numbers.
func decode(t testing.TB, raw []byte, into any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		t.Fatal(err)
	}
}

// stricter has the errors about what jsonpath_ng does: it gives an answer that nobody means.
var stricter = []string{"arithmetic", "a dot must stand behind @"}

// What jsonpath_ng chooses is chosen, in the same order, for paths made at random and others that were written by
// hand. What it cannot read or ends with an exception for is an error, and so is what changes the document there.
func TestRecorded(t *testing.T) {
	files := []string{"testdata/recorded.json", "testdata/asked.json"}
	if other := os.Getenv("JSONPATH_RECORDED"); other != "" {
		files = []string{other}
	}
	for _, file := range files {
		compareRecorded(t, file)
	}
}

func compareRecorded(t *testing.T, file string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r recording
	decode(t, raw, &r)
	values, refused := 0, 0
	for _, c := range r.Cases {
		path, err := Parse(c.Path)
		var got []any
		if err == nil {
			got, err = path.Find(r.Documents[c.Document])
		}
		switch {
		case c.Mistake || c.Error != "":
			if err == nil {
				t.Errorf("%s: got %v, want an error (%s)", c.Path, got, c.Error)
			}
		case err != nil && !slices.ContainsFunc(stricter, func(s string) bool { return strings.Contains(err.Error(), s) }):
			t.Errorf("%s: %v, want %v", c.Path, err, c.Values)
		case err != nil:
			refused++
		case len(got) != len(c.Values) || len(got) > 0 && !reflect.DeepEqual(got, c.Values):
			t.Errorf("%s:\n got %v\nwant %v", c.Path, got, c.Values)
		case len(got) > 0:
			values++
		}
	}
	if values < len(r.Cases)/10 || refused > len(r.Cases)/8 {
		t.Errorf("of %d paths, %d choose anything and %d are refused here alone", len(r.Cases), values, refused)
	}
}

// An error names what of a path cannot be read or done.
func TestErrors(t *testing.T) {
	for path, want := range map[string]string{
		"": "ends too early", "a[": "ends too early", "a b": `at 2: "b" is not expected`, "a[?]": `"]" is not expected`,
		"a ^ b": "'^' is not known",
		"a + 1": "arithmetic (+)", "a / 2": "arithmetic and sorting (/)", `a[\b]`: "sorting",
		"a & b": "& must stand behind a comparison", "a.`keys`": "`keys` is not supported",
		"a.`split(-, 0, 1)`": "`split(-, 0, 1)` is not supported", "a[1:2:0]": "must not be 0",
		"a[1,b]": "a position is missing", "a[b,1]": "a name is missing",
		`a[?@.b =~ "("]`: "the pattern of =~ cannot be used", `a[?@.b =~ "(?=x)"]`: "the pattern of =~ cannot be used",
		"u[?@ =~ true]": "a text must follow on =~", "a[?@.o =~ 5]": "an object is no number", "l[?@ =~ 5]": "",
		"$.`parent`.x": "", "$.`parent`..x": "of the document does not exist",
		"u[?@.`parent` = 1]": "of the document does not exist",
		"a[?@.b = ]":         "a text, a number, true or false must follow", "a[?@b]": "a dot must stand behind @",
		"a[?@truer]": "a dot must stand behind @", "a.falsey": "begins with false needs quotes", "a['b": "is not closed",
		"a[99999999999]": "is too large",
		"a..[?@.b]":      `"?" is not expected`, "[?@.b]": `"?" is not expected`,
		"a[?@.b = 1 | @.c = 2]":        `"|" is not expected`,
		strings.Repeat("(", 100) + "a": "nested too deeply", strings.Repeat("a", maxLength+1): "longer than",
		"$.`parent`": "of the document does not exist", "n.x": "", "o[?@.b]": "must stand behind a list",
		"l[-4]": "before the first entry", "o[0]": "an object has no positions", "n[0]": "a number has no positions",
		`l[?@ < "x"]`: "< cannot compare a number with a text", "l[?@ = 1]": "", `l[?$.` + "`this`" + ` = "x"]`: "",
		"a[?o > 1]": "an object is no number", `u[?@ =~ "\\w"]`: "means something else in Python",
		"$" + strings.Repeat("..@", 40): "looks at more than",
	} {
		p, err := Parse(path)
		var got []any
		if err == nil {
			var document any
			decode(t, []byte(`{"n":5,"a":[{"o":{}}],"l":[1,2,3],"o":{"a":{"b":{"c":{"d":{"e":{"f":{"g":1}}}}}}},"u":["ü"]}`),
				&document)
			got, err = p.Find(document)
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.60s: got %v, %v, want an error with %q", path, got, err, want)
		}
	}
}

// Members that are null are left out, which other programs that search a document do not do.
func TestNullMembers(t *testing.T) {
	var document any
	decode(t, []byte(`{"o":{"a":null,"b":{"c":null,"d":1}},"l":[{"a":null},null]}`), &document)
	for path, want := range map[string]string{
		"o.`len`": `[1]`, "o.*": `[{"c":null,"d":1}]`, "o.a": `[]`, "o..c": `[]`, "o.b..*": `[1]`, "l[?@.a]": `[]`,
		"l[*]": `[{"a":null},null]`, "o[*][?@]": `[]`, "o.b[*][?@]": `[]`,
	} {
		p, err := Parse(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Find(document)
		if raw, _ := json.Marshal(got); err != nil || string(raw) != want {
			t.Errorf("%s: got %s, %v, want %s", path, raw, err, want)
		}
	}
}

func FuzzFind(f *testing.F) {
	for _, text := range []string{`$.namespace[?@.app.name="shop" & (@.n != 3)].a..b[1:2:-1]`, "a | b where c.`parent`",
		`x[?'a\'b' =~ "^a"][-1,2]`} {
		f.Add(text)
	}
	var document any
	decode(f,
		[]byte(`{"namespace":[{"a":{"b":[1,[2,{"c":"x"}]]},"app":{"name":"shop"},"n":1.5}],"x":{"y":true,"z":null}}`),
		&document)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text)
		if err != nil {
			return
		}
		first, err := p.Find(document)
		again, errAgain := p.Find(document)
		if (err == nil) != (errAgain == nil) || !reflect.DeepEqual(first, again) {
			t.Errorf("got %v, %v, and then %v, %v", first, err, again, errAgain)
		}
	})
}
