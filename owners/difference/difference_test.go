package difference

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

// items makes a list of n items with an identity.
func items(n int) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = map[string]any{"__identifier": fmt.Sprint(i), "n": fmt.Sprint(i), "v": json.Number("1"),
			"l": []any{"x", "y"}}
	}
	return out
}

// A file with 20,000 items in another order is compared within a second.
func TestManyItemsReordered(t *testing.T) {
	old, new := items(20_000), items(20_000)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(new), func(i, j int) { new[i], new[j] = new[j], new[i] })
	start := time.Now()
	found := Of(map[string]any{"l": old}, map[string]any{"l": new})
	took := time.Since(start)
	if len(found) != 1 || found[0].Kind != Reordered || took > 5*time.Second {
		t.Errorf("%d differences in %s", len(found), took)
	}
	t.Log(took)
}

// Many items without identity, all of them edited, take no quadratic time.
func TestManyItemsWithoutIdentity(t *testing.T) {
	var old, new []any
	for i := range 20_000 {
		old = append(old, map[string]any{"n": fmt.Sprint(i), "v": "1"})
		new = append(new, map[string]any{"n": fmt.Sprint(i), "v": "2"})
	}
	start := time.Now()
	found := Of(map[string]any{"l": old}, map[string]any{"l": new})
	if took := time.Since(start); len(found) != 20_000 || took > 10*time.Second {
		t.Errorf("%d differences in %s", len(found), took)
	}
}

func TestOf(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"the order of scalars", `{"l": ["a", "b"]}`, `{"l": ["b", "a"]}`, `reordered l`},
		{"one of two equal items goes", `{"l": ["a", "a"]}`, `{"l": ["a"]}`, `removed l.[1]`},
		{"an item comes in front", `{"l": ["a", "b"]}`, `{"l": ["c", "a", "b"]}`, `added l.[0]`},
		{"the first of three goes", `{"l": ["a", "b", "a"]}`, `{"l": ["b", "a"]}`, `removed l.[0]`},
		{"a scalar at the same position", `{"l": ["a", "b"]}`, `{"l": ["a", "c"]}`, `changed l.[1]`},
		{"lists in a list", `{"l": [["a"], ["b"]]}`, `{"l": [["a"], ["c"]]}`, `changed l.[1].[0]`},
		{"only the identifier", `{"l": [{"__identifier": "a", "v": 1}]}`, `{"l": [{"__identifier": "b", "v": 1}]}`,
			`added l.[0], removed l.[0]`},
		{"the identifier of an object", `{"o": {"__identifier": "a", "v": 1}}`, `{"o": {"__identifier": "b", "v": 1}}`, ``},
		{"a list becomes an object", `{"x": [1]}`, `{"x": {"a": 1}}`, `changed x`},
		{"an empty object comes", `{"a": 1}`, `{"a": 1, "b": {}}`, `added b`},
		{"all keys of an object go", `{"a": {"x": 1, "y": 2}}`, `{"a": {}}`, `removed a.x, removed a.y`},
		{"an edited item without identity moves", `{"l": [{"n": 1, "v": 1}, {"n": 2, "v": 2}]}`,
			`{"l": [{"n": 2, "v": 2}, {"n": 1, "v": 3}]}`, `reordered l, changed l.[1].v`},
		{"the order of items in an item", `{"l": [{"o": [{"$ref": "/a"}, {"$ref": "/b"}]}]}`,
			`{"l": [{"o": [{"$ref": "/b"}, {"$ref": "/a"}]}]}`, `reordered l.[0].o`},
		{"one of two equal items before others", `{"l": ["", "", {"o": [{"$ref": "/a"}, {"$ref": "/b"}]}]}`,
			`{"l": [1, "", {"o": [{"$ref": "/a"}, {"$ref": "/b"}]}]}`, `changed l.[0]`},
		{"the same before others in another order", `{"l": ["", "", {"o": [{"$ref": "/a"}, {"$ref": "/b"}]}]}`,
			`{"l": [1, "", {"o": [{"$ref": "/b"}, {"$ref": "/a"}]}]}`, `changed l.[0], reordered l.[2].o`},
	} {
		got := ""
		for i, d := range Of(decoded(t, []byte(c.old)), decoded(t, []byte(c.new))) {
			if i > 0 {
				got += ", "
			}
			got += d.Kind.String() + " " + d.Place().String()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// FuzzOf holds that equal contents do not differ, that others do, and that each place leads to its value.
func FuzzOf(f *testing.F) {
	f.Add(`{"a": [1, {"__identifier": "x", "b": null}]}`, `{"a": [{"__identifier": "x"}, 1]}`)
	f.Add(`{"l": [{"$ref": "/a"}, {"n": 1}]}`, `{"l": [{"n": 1, "v": []}, {"$ref": "/b"}]}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		var old, new any
		if json.Unmarshal([]byte(a), &old) != nil || json.Unmarshal([]byte(b), &new) != nil {
			return
		}
		old, new = numbered(old), numbered(new)
		found := Of(old, new)
		if isSame := Canonical(old) == Canonical(new); isSame && len(Of(old, old)) > 0 ||
			!IsEmpty(old) && !IsEmpty(new) && isSame && reflect.DeepEqual(old, new) && len(found) > 0 {
			t.Errorf("%s differs from itself: %v", a, found)
		}
		if len(found) == 0 && !(IsEmpty(old) && IsEmpty(new)) && Canonical(old) != Canonical(new) {
			t.Errorf("%s and %s do not differ", a, b)
		}
		for _, d := range found {
			if v, isThere := d.Base.At(old); d.Kind != Added && (!isThere || !reflect.DeepEqual(v, d.Old)) {
				t.Errorf("%s leads to %v in base, not to %v", d.Base, v, d.Old)
			}
			if v, isThere := d.Head.At(new); d.Kind != Removed && (!isThere || !reflect.DeepEqual(v, d.New)) {
				t.Errorf("%s leads to %v in head, not to %v", d.Head, v, d.New)
			}
		}
	})
}

// numbered gives numbers the type that contents have.
func numbered(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = numbered(v[name])
		}
	case []any:
		for i := range v {
			v[i] = numbered(v[i])
		}
	case float64:
		return json.Number(fmt.Sprint(v))
	}
	return v
}
