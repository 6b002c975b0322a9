package affected

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/app-sre/prcheck/settings"
)

func TestKeys(t *testing.T) {
	for _, c := range []struct {
		name, text string
		selectors  []string
		keys       []string
		whole      bool
	}{
		{"none", `{"l":[]}`, []string{"l[*].k"}, nil, true},
		{"sorted and once", `{"l":[{"k":"b"},{"k":"a"},{"k":"b"}]}`, []string{"l[*].k"}, []string{"a", "b"}, true},
		{"of several selectors", `{"l":[{"k":"b"}],"m":{"x":{"n":[{"k":"a"}]}}}`, []string{"l[*].k", "m.*.n[*].k"},
			[]string{"a", "b"}, true},
		{"one cannot be used", `{"l":[{"k":"a"},{"k":null}]}`, []string{"l[*].k"}, []string{"a"}, false},
		{"a deep one cannot be used", `{"l":[{"m":[{"k":""},{"k":"a"}]}]}`, []string{"l[*].m[*].k"}, []string{"a"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, whole := Keys(document(t, []byte(c.text)), selectors(t, c.selectors...))
			if !slices.Equal(got, c.keys) || whole != c.whole {
				t.Errorf("got %q, %v, want %q, %v", got, whole, c.keys, c.whole)
			}
		})
	}
}

// The digest of a state must not change from one version to the next without
// need, since plans hold it.
func TestDigest(t *testing.T) {
	for _, c := range []struct {
		name, one, other string
		ignored, counted bool // equal when the order of lists is ignored, when it counts
	}{
		{"order of keys", `{"a":1,"b":2}`, `{"b":2,"a":1}`, true, true},
		{"white space and escapes", `{"a":"é"}`, `{ "a" : "\u00e9" }`, true, true},
		{"order of items", `[1,2]`, `[2,1]`, true, false},
		{"order deep inside", `[{"a":[[1],[2]]},3]`, `[3,{"a":[[2],[1]]}]`, true, false},
		{"how often", `[1,1,2]`, `[1,2,2]`, false, false},
		{"numbers as written", `1`, `1.0`, false, false},
		{"large numbers", `9007199254740993`, `9007199254740992`, false, false},
		{"number or text", `1`, `"1"`, false, false},
		{"null or text", `null`, `"null"`, false, false},
		{"null or missing", `{"a":null}`, `{}`, false, false},
		{"empty list or object", `[]`, `{}`, false, false},
		{"nothing or null", `[]`, `[null]`, false, false},
		{"lists in lists", `[[1],[2]]`, `[[1,2]]`, false, false},
		{"text that looks like two", `["a,b"]`, `["a","b"]`, false, false},
		{"text with quotes", `["a\",\"b"]`, `["a","b"]`, false, false},
		{"half surrogates", `"\ud800"`, `"\ud801"`, false, false},
		{"a backslash", `"\\u00e9"`, `"\u00e9"`, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i, want := range []bool{c.ignored, c.counted} {
				one, other := Digest(document(t, []byte(c.one)), orders[i]), Digest(document(t, []byte(c.other)), orders[i])
				if (one == other) != want {
					t.Errorf("order %v: got %s and %s, want equal %v", orders[i], one, other, want)
				}
			}
		})
	}
	twice := []any{"a", "b"}
	if Digest(twice, settings.OrderIgnored) == Digest([]any{"b", "a"}, settings.OrderIgnored) {
		t.Error("the documents are told apart by their place, whatever the order of lists")
	}
	if got, want := Digest(nil, 0),
		"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Quoting gives what strconv gives, so that no two texts look alike.
func TestAppendQuoted(t *testing.T) {
	for r := range rune(0x300) {
		for _, s := range []string{string(r), "a" + string(r) + "b", fmt.Sprintf("%c\\%c", r, r), string([]byte{byte(r)})} {
			if got, want := quote(s), strconv.Quote(s); got != want {
				t.Fatalf("got %s, want %s", got, want)
			}
		}
	}
}

func TestHashTellsListsApart(t *testing.T) {
	lists := [][]string{{}, {""}, {"", ""}, {"a"}, {"a", ""}, {"", "a"}, {"a", "b"}, {"ab"}, {"b", "a"}}
	seen := map[string][]string{}
	for _, list := range lists {
		h := hash(list...)
		if other, ok := seen[h]; ok {
			t.Errorf("%q and %q have one hash", other, list)
		}
		seen[h] = list
	}
}
