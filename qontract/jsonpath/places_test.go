package jsonpath

import (
	"cmp"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// A selectors recording is what jsonpath_ng 1.8.0 chooses, with places. It was asked without its extensions first, as
// qontract-reconcile asks it for change types.
type selectors struct {
	Documents []any
	Cases     []struct {
		Document int
		Path     string
		Matches  []found
		Mistake  bool
		Error    string
	}
}

// A found value has its place as jsonpath_ng writes it.
type found struct {
	place string
	value any
}

func (f *found) UnmarshalJSON(raw []byte) error {
	var pair []json.RawMessage
	if err := json.Unmarshal(raw, &pair); err != nil {
		return err
	}
	if err := json.Unmarshal(pair[0], &f.place); err != nil {
		return err
	}
	dec := json.NewDecoder(strings.NewReader(string(pair[1])))
	dec.UseNumber()
	return dec.Decode(&f.value)
}

// Selectors choose what jsonpath_ng chooses, at the same places. Three things differ: members come in the order of
// their names, a position below zero is written as the position from the front, and one that is not there is nothing.
func TestSelectors(t *testing.T) {
	file := "testdata/selectors.json"
	if other := os.Getenv("JSONPATH_SELECTORS"); other != "" {
		file = other
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r selectors
	decode(t, raw, &r)
	var refused, errs, matched int
	for _, c := range r.Cases {
		path, err := ParseSelector(c.Path)
		if err != nil || c.Mistake {
			if (err == nil) != !c.Mistake && !isStricter(err) {
				t.Errorf("%s: %v, recorded as a mistake: %v", c.Path, err, c.Mistake)
			}
			refused++
			continue
		}
		matches, err := path.Places(r.Documents[c.Document])
		if err != nil || c.Error != "" {
			if (err == nil) != (c.Error == "") && !isStricter(err) &&
				!slices.Contains([]string{"IndexError", "KeyError", "TypeError"}, c.Error) {
				t.Errorf("%s: error %v, recorded %q", c.Path, err, c.Error)
			}
			errs++
			continue
		}
		if want, got := inOrder(c.Matches), inOrder(foundOf(matches)); !reflect.DeepEqual(got, want) &&
			!strings.Contains(c.Path, "-1") {
			t.Errorf("%s in document %d: %v, want %v", c.Path, c.Document, got, want)
		}
		matched += min(1, len(matches))
		holdPlaces(t, c.Path, r.Documents[c.Document], matches)
	}
	t.Logf("%d cases, %d refused, %d errors, %d with matches", len(r.Cases), refused, errs, matched)
	if matched < len(r.Cases)/4 {
		t.Errorf("only %d of %d cases choose anything", matched, len(r.Cases))
	}
}

func isStricter(err error) bool {
	if err == nil {
		return false
	}
	for _, said := range append(stricter, "a filter must", "parent` of the document", `"@" is not expected`) {
		if strings.Contains(err.Error(), said) {
			return true
		}
	}
	return false
}

func foundOf(matches []Match) []found {
	var out []found
	for _, m := range matches {
		out = append(out, found{m.String(), m.Value})
	}
	return out
}

func inOrder(all []found) []string {
	var out []string
	for _, f := range all {
		raw, _ := json.Marshal(f.value)
		out = append(out, f.place+" "+string(raw))
	}
	slices.SortFunc(out, cmp.Compare)
	return out
}

// holdPlaces checks that each place leads to the value, unless a slice made a list of what is no list.
func holdPlaces(t *testing.T, path string, document any, matches []Match) {
	t.Helper()
	for _, m := range matches {
		if m.Sign != "" || strings.Contains(path, "parent") { // above what a slice chose is a list
			continue
		}
		if v, isThere := m.Place.At(document); isThere && !reflect.DeepEqual(v, m.Value) {
			t.Errorf("%s: the place %s leads to %v, not %v", path, m, v, m.Value)
		}
	}
}

func TestPlaceText(t *testing.T) {
	for _, c := range []struct {
		place Location
		want  string
	}{
		{nil, "$"},
		{Location{Member("a"), Item(0), Member("b")}, "a.[0].b"},
		{Location{Member("$ref")}, "'$ref'"},
		{Location{Member("it's")}, `"it's"`},
		{Location{Member(`it's "so"`)}, `'it\'s "so"'`},
		{Location{Member("")}, "''"},
		{Location{Member("__X")}, "__X"},
	} {
		if got := c.place.String(); got != c.want {
			t.Errorf("%v is written %s, want %s", c.place, got, c.want)
		}
	}
}

func TestPlaceWithin(t *testing.T) {
	a := Location{Member("a")}
	if !a.Below(Item(1)).IsWithin(a) || !a.IsWithin(a) || a.IsWithin(a.Below(Item(1))) ||
		(Location{Member("ab")}).IsWithin(a) {
		t.Error("a place is within its prefixes by steps, and not by text")
	}
}

// FuzzPlaces holds that each place of a list or an object leads to a value, whatever the path.
func FuzzPlaces(f *testing.F) {
	for _, path := range []string{"$", "a.b", "a[*].b", "l[?(@.n=='x' & @.v>1)].v", "$..a", "(a|l[-1])", "a.`parent`",
		"l[0,2]", "l[1:]", "'$ref'", "l.`len`"} {
		f.Add(path, `{"a": {"b": 1}, "l": [{"n": "x", "v": 2}, null, 3]}`)
	}
	f.Fuzz(func(t *testing.T, text, document string) {
		path, err := ParseSelector(text)
		var of any
		if err != nil || json.Unmarshal([]byte(document), &of) != nil {
			return
		}
		before, _ := json.Marshal(of)
		matches, err := path.Places(of)
		if after, _ := json.Marshal(of); string(before) != string(after) {
			t.Errorf("%s changes the document", text)
		}
		if err == nil && !strings.Contains(text, "parent") {
			holdPlaces(t, text, of, matches)
		}
	})
}
