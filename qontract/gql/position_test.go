package gql_test

import (
	"slices"
	"testing"

	"github.com/app-sre/prcheck/qontract/gql"
)

// TestPosition compares two versions of an author at the position of a query.
func TestPosition(t *testing.T) {
	_, s := smallEngine(t)
	const all = `{authors(filter:{rating:1}){name notes tags home{street} awards{... on Gold_v1{weight}} friends{age} photo{path} books{title}}}`
	for name, c := range map[string]struct {
		query, a, b string
		changed     []string
	}{
		"nothing":                {all, `{"name":"a"}`, `{"name":"a"}`, nil},
		"a key that is not read": {all, `{"name":"a","age":1}`, `{"name":"a"}`, nil},
		"a leaf":                 {all, `{"name":"a"}`, `{"name":"b"}`, []string{"/name"}},
		"null is not missing":    {all, `{"name":null}`, `{}`, []string{"/name"}},
		"digits count":           {`{authors{rating}}`, `{"rating":1.0}`, `{"rating":1}`, []string{"/rating"}},
		"json as it is written":  {all, `{"notes":{"a":1,"b":2}}`, `{"notes":{"b":2,"a":1}}`, []string{"/notes"}},
		"what a filter reads":    {all, `{"rating":1}`, `{"rating":2}`, []string{"/rating"}},
		"inside an object":       {all, `{"home":{"street":"x","zip":1}}`, `{"home":{"street":"x","zip":2}}`, nil},
		"deeper":                 {all, `{"home":{"street":"x"}}`, `{"home":{"street":"y"}}`, []string{"/home/street"}},
		"an item": {all, `{"awards":[{"kind":"gold","weight":1},{"pages":["x"]}]}`,
			`{"awards":[{"kind":"gold","weight":2},{"pages":["y"]}]}`, []string{"/awards/0/weight"}},
		"what tells the type": {all, `{"awards":[{"kind":"gold"}]}`, `{"awards":[{"kind":"paper"}]}`,
			[]string{"/awards/0/kind"}},
		"the order of items": {all, `{"tags":["x","y"]}`, `{"tags":["y","x"]}`, []string{"/tags"}},
		"a reference": {all, `{"friends":[{"$ref":"/1"},{"$ref":"/2"}]}`, `{"friends":[{"$ref":"/1"},{"$ref":"/3"}]}`,
			[]string{"/friends/1"}},
		"fewer items": {all, `{"friends":[{"$ref":"/1"}]}`, `{"friends":[]}`, []string{"/friends"}},
		"a reference or not": {all, `{"friends":[{"$ref":"/1"}]}`, `{"friends":[{"$ref":"/1","x":1}]}`,
			[]string{"/friends/0"}},
		"a resource": {all, `{"photo":"/a"}`, `{"photo":"/b"}`, []string{"/photo"}},
		"the path":   {all, `{"path":"/a"}`, `{"path":"/b"}`, []string{"/path"}},
		"the schema": {`{authors{name}}`, `{"$schema":"/a"}`, `{"$schema":"/b"}`, []string{"/$schema"}},
		"odd values": {all, `{"home":"x","awards":{"kind":"gold"}}`, `{"home":{"street":"x"},"awards":[{"kind":"gold"}]}`,
			[]string{"/awards", "/home"}},
	} {
		t.Run(name, func(t *testing.T) {
			q, err := s.Compile(gql.Request{Query: c.query})
			if err != nil {
				t.Fatal(err)
			}
			pos := q.Footprint().Children[0].Pos
			a, b := variables(t, c.a), variables(t, c.b)
			if got := pos.Changed(a, b); !slices.Equal(got, c.changed) {
				t.Errorf("changed: got %q, want %q", got, c.changed)
			}
			if got, want := pos.Same(a, b), len(c.changed) == 0; got != want {
				t.Errorf("same: got %t, want %t", got, want)
			}
		})
	}
}

// TestBackReference checks that the files behind a back reference are compared by the
// targets of their references.
func TestBackReference(t *testing.T) {
	_, s := smallEngine(t)
	q, err := s.Compile(gql.Request{Query: `{authors{home{mentions{title}}}}`})
	if err != nil {
		t.Fatal(err)
	}
	child := q.Footprint().Children[0].Pos.Children[0].Pos.Children[0]
	if want := (gql.Synthetic{Schema: "/book-1.yml", SubAttr: "parts.by"}); child.Synthetic == nil ||
		*child.Synthetic != want {
		t.Fatalf("got %v, want %v", child.Synthetic, want)
	}
	one, other := `{"parts":[{"by":[{"$ref":"/1"},{"$ref":"/2"}]}]}`,
		`{"parts":[{"by":{"$ref":"/2"}},{"page":1,"by":{"$ref":"/1"}}]}`
	if !child.Pos.Same(variables(t, one), variables(t, other)) {
		t.Error("the same targets are not the same")
	}
	if got := child.Pos.Changed(variables(t, one), variables(t, `{"parts":[]}`)); !slices.Equal(got,
		[]string{"/parts/by"}) {
		t.Errorf("got %q", got)
	}
}
