package main

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
)

var pairs = flag.Int("pairs", 5, "how many merge requests of each native TestLaw checks")

// The law holds for some merge requests of each native. Each native is asked something.
func TestLaw(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			s, err := count(t.Context(), options{native: k.name, pairs: *pairs, seed: 7, shown: 3})
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range s.Differences {
				if d.Class == violation {
					t.Errorf("merge request %d (%s), %s: %q, %q", d.Index, strings.Join(d.Edits, ", "), d.Where, d.First, d.Second)
				}
			}
			if s.Requests != *pairs || s.Sent == 0 || s.Owned == 0 {
				t.Errorf("%d merge requests, %d sent something, %d read a credential", s.Requests, s.Sent, s.Owned)
			}
		})
	}
}

// A seed and a number draw the same merge request each time, and every edit is drawn.
func TestDraw(t *testing.T) {
	for _, k := range kinds {
		seen := map[string]bool{}
		for i := range 400 {
			edits := k.draw(3, i)
			if again := k.draw(3, i); !reflect.DeepEqual(edits, again) {
				t.Fatalf("%s: got %q and %q", k.name, edits, again)
			}
			for _, e := range edits {
				seen[e] = true
			}
		}
		for _, e := range k.edits {
			if !seen[e.name] {
				t.Errorf("%s: nothing has %s", k.name, e.name)
			}
		}
	}
}

// The values of a secret differ between the sets, and repeat within one. Credentials have no signs
// that no header has.
func TestValues(t *testing.T) {
	s := store{seed: 1, credentials: map[string]bool{"A": true}, servers: map[string]string{"S": "https://x"}}
	same := 0
	for i := range 300 {
		s.index = i
		if s.value(first, "B") == s.value(second, "B") {
			same++
		}
		if a, again := s.value(first, "A"), s.value(first, "A"); a != again || s.value(first, "S") != s.value(second, "S") {
			t.Fatal("a value does not repeat")
		}
		if v := s.value(first, "A"); strings.ContainsFunc(v, func(r rune) bool { return r <= ' ' || r > '~' }) || len(v) < 5 {
			t.Errorf("got the credential %q", v)
		}
	}
	if same > 10 {
		t.Errorf("%d of 300 values are the same in both sets", same)
	}
}

// A difference in what is sent, in a document and in the documents is found; times are none.
func TestDiffer(t *testing.T) {
	base := outcome{sent: []string{"a", "b"}, said: map[string]string{"x": "1\n2 took 12ms\n"}}
	for name, c := range map[string]struct {
		other outcome
		where string
	}{
		"nothing":     {outcome{sent: []string{"a", "b"}, said: map[string]string{"x": "1\n2 took 9ms\n"}}, ""},
		"a line less": {outcome{sent: []string{"a"}, said: base.said}, "sent"},
		"sent twice":  {outcome{sent: []string{"a", "b", "b"}, said: base.said}, "sent"},
		"a word":      {outcome{sent: base.sent, said: map[string]string{"x": "1\n3 took 12ms\n"}}, "x"},
		"a document":  {outcome{sent: base.sent, said: map[string]string{"x": "1", "y": ""}}, "names of documents"},
	} {
		got := ""
		if d := differ(base, c.other); d != nil {
			got = d.Where
		}
		if got != c.where {
			t.Errorf("%s: got %q, want %q", name, got, c.where)
		}
	}
}

// Only a credential as a whole, that base gives to this host, is replaced by its name.
func TestAnonymous(t *testing.T) {
	w := &wire{owned: func(host string) map[string]string {
		return map[string]map[string]string{"a": {"tok": "T", "user": "U"}}[host]
	}}
	for value, want := range map[string]string{
		"Bearer tok": "Bearer (T)", "Bearer tok2": "Bearer tok2", "tok": "tok", "Basic dXNlcjp0b2s=": "Basic (U):(T)",
		"Basic dXNlcjpvdGhlcg==": "Basic (U):other",
	} {
		if got := w.anonymous("a", value); got != want {
			t.Errorf("%s: got %q, want %q", value, got, want)
		}
		if got := w.anonymous("b", value); got == want && got != value && !strings.HasPrefix(value, "Basic") {
			t.Errorf("%s: another host has it too", value)
		}
	}
}

// The text of each mutant is once in its file, and the native is one of ours.
func TestMutantsFit(t *testing.T) {
	top, err := root()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants {
		raw, err := os.ReadFile(filepath.Join(top, m.file))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(raw), m.text); n != 1 {
			t.Errorf("%s: %s has the text %d times", m.name, m.file, n)
		}
		if _, err := kindOf(m.native); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}

// Times are no part of results.
func TestTimeless(t *testing.T) {
	r := &plan.Results{Forecast: &plan.Forecast{Took: 1},
		Results: []plan.Result{{Seconds: 2, Waited: 1, Spans: []plan.Span{{Seconds: 1}}, Tail: "b\na\n"}}}
	timeless(r)
	if got := r.Results[0]; r.Forecast != nil || got.Seconds != 0 || got.Waited != 0 || got.Spans != nil ||
		!slices.Equal(strings.Fields(got.Tail), []string{"a", "b"}) {
		t.Errorf("got %+v", r)
	}
}
