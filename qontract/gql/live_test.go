package gql_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// Documents are parsed, validated and executed as graphql-js does, with its words and places.
func TestLiveGraphQL(t *testing.T) {
	e, types, bundle := judged(t)
	base := newWorld(library(t), 1)
	shared.Ask(t, shared.Live{Name: "graphql", Peer: "graphql 16.14.2", Cases: 3000,
		Command: []string{"node", "testdata/graphql_judge.mjs", types, bundle},
		Same:    func(t *testing.T, a shared.Answer) (bool, string) { return answersSame(t, e, a) },
		Input: func(r *rand.Rand) any {
			w := *base
			w.Rand = r
			return asked{&w}.request()
		}})
}

// judged returns an engine over plain data, and files with its types and its bundle for the judge.
func judged(t *testing.T) (e *gql.Engine, typesFile, bundleFile string) {
	t.Helper()
	data, err := os.ReadFile("testdata/judged.json")
	if err != nil {
		t.Fatal(err)
	}
	snapshot := fmt.Sprintf(`{"data": %s, "graphql": %s, "resources": {}}`, data, asJSON(library(t)))
	b, err := bundle.Parse([]byte(snapshot), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := gql.NewSchema(b.GraphQL())
	if err != nil {
		t.Fatal(err)
	}
	e = gql.New(b, s)
	const typ = `type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }`
	const args = `args(includeDeprecated: true) { name description defaultValue ` + typ + ` }`
	types := e.Answer(context.Background(), gql.Request{Query: `{ __schema { description queryType { name }
		directives { name description isRepeatable locations ` + args + ` }
		types {
			kind name description specifiedByURL isOneOf interfaces { kind name } possibleTypes { kind name }
			fields(includeDeprecated: true) { name description isDeprecated deprecationReason ` + args + typ + ` }
			inputFields { name description defaultValue ` + typ + ` }
			enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
		}
	} }`})
	typesFile, bundleFile = filepath.Join(t.TempDir(), "types.json"), filepath.Join(t.TempDir(), "bundle.json")
	for file, text := range map[string][]byte{typesFile: types.JSON(), bundleFile: []byte(snapshot)} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return e, typesFile, bundleFile
}

// answersSame compares the errors, with their places and paths, and the bytes of the data.
func answersSame(t *testing.T, e *gql.Engine, a shared.Answer) (bool, string) {
	t.Helper()
	type mistake struct {
		Message   string
		Locations []struct{ Line, Column int }
		Path      []any
	}
	var want struct {
		Errors []mistake
		Data   string
	}
	var got struct {
		Errors []mistake
		Data   json.RawMessage
	}
	if err := json.Unmarshal(a.Answer, &want); err != nil {
		t.Fatal(err)
	}
	raw := e.Answer(context.Background(), requestOf(t, a.Input)).JSON()
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	isSame := fmt.Sprint(got.Errors) == fmt.Sprint(want.Errors) && string(got.Data) == want.Data
	return isSame, string(raw)
}

// asked makes documents with variables, directives and fragments.
type asked struct{ *world }

// request returns a request. Many are not valid.
func (q asked) request() any {
	w := q.world
	text := q.document()
	switch w.IntN(5) {
	case 0:
		text = w.query()
	case 1:
		text = (&clash{Rand: w.Rand}).document()
	}
	for w.chance(40) {
		text = q.mutated(text)
	}
	out := map[string]any{"query": text}
	if w.chance(70) {
		out["variables"] = q.variables()
	}
	if w.chance(5) {
		out["operationName"] = pick(w, "A", "B", "C")
	}
	return out
}

func (q asked) variables() map[string]any {
	out := map[string]any{}
	for range q.IntN(4) {
		out[pick(q.world, "a", "b", "c", "x")] = pick[any](q.world, true, false, nil, 1, "s", "Book_v1", 1.5, 1e20, []any{},
			[]any{1, nil}, []any{"x"},
			map[string]any{"k": 1})
	}
	return out
}

func (q asked) document() string {
	w := q.world
	var out strings.Builder
	for i := range 1 + w.IntN(2)*w.IntN(2) {
		out.WriteString(pick(w, "", "query ", "query A", "query B", "query A") + pick(w, "", "", q.definitions(),
			q.definitions()))
		if strings.HasSuffix(out.String(), ")") || i > 0 {
			out.WriteString(" ")
		}
		out.WriteString("{ " + pick(w, "authors", "x: authors", "authors @skip(if: $a)") + " { " + q.author(0) + "} ")
		out.WriteString(pick(w, "", "", "books { title parts { page by { name } } } ",
			"shelves { material ... on WoodShelf_v1 { tree } } ",
			`__type(name: "Author_v1") { name fields { name type { name kind } } } `, "nothing { title } ",
			"__type(name: $c) { kind name } ",
			`__type(name: "Query") { fields(includeDeprecated: $a) { name args { name defaultValue type { name } } } } `,
			"__schema { queryType { name } } ", "nope ") + "}\n")
	}
	for range w.IntN(3) {
		fmt.Fprintf(&out, "fragment %s on %s { %s}\n", pick(w, "F", "G", "H"), pick(w, "Author_v1", "Author_v1", "Book_v1",
			"DatafileObject_v1", "Nope", "String"), q.author(1))
	}
	return out.String()
}

func (q asked) definitions() string {
	w := q.world
	var parts []string
	for range 1 + w.IntN(3) {
		parts = append(parts, "$"+pick(w, "a", "b", "c")+": "+pick(w, "Boolean", "Boolean!", "String", "Int", "JSON",
			"[Int!]", "Author_v1", "Float", "Nope")+
			pick(w, "", "", "", " = true", " = 1", ` = "s"`, " = null", " = [1]", " = {a: 1}"))
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// author returns selections on an author.
func (q asked) author(depth int) string {
	w := q.world
	var out strings.Builder
	for range 1 + w.IntN(4) {
		key := pick(w, "", "", "", "k: ", "name: ")
		directive := pick(w, "", "", "", "", " @include(if: $a)", " @skip(if: $b)", " @include(if: true)",
			" @skip(if: false)", " @include", " @nope", " @skip(if: 1)", ` @include(if: "x")`)
		switch n := w.IntN(12); {
		case n < 6 || depth > 2:
			out.WriteString(key + pick(w, "name", "age", "rating", "alive", "tags", "notes", "papers", "path", "schema",
				"__typename", "nam", "home") + directive)
		case n < 9:
			out.WriteString(key + pick(w, "mentor", "friends", "agent") + directive + " { " + q.author(depth+1) + "}")
		case n == 9:
			out.WriteString(pick(w, "home", "homes") + " { street " + pick(w, "", "zip ", "extra ", "owner { name } ") + "}")
		case n == 10:
			out.WriteString("..." + pick(w, "F", "G", "H", "X") + directive)
		default:
			out.WriteString("... " + pick(w, "", "on Author_v1 ", "on DatafileObject_v1 ", "on Book_v1 ") + directive +
				" { " + q.author(depth+1) + "}")
		}
		out.WriteString(pick(w, " ", " ", ", ", "\n"))
	}
	return out.String()
}

// mutated returns a text with a part lost, doubled or moved, or with a sign or a word too many.
func (q asked) mutated(text string) string {
	runes := []rune(text)
	from := q.IntN(len(runes) + 1)
	to := from + min(q.IntN(6), len(runes)-from)
	switch q.IntN(4) {
	case 0:
		return string(runes[:from]) + string(runes[to:])
	case 1:
		return string(runes[:to]) + string(runes[from:])
	}
	return string(runes[:from]) + pick(q.world, "{", "}", "(", ")", "[", "]", "!", "$a", "@skip(if: true)", ":", "...",
		"\"",
		`"""`, `"\u00e9"`, "1", "-", "1.5e3", "#", "&", "|", "=", " on ", " query ",
		" fragment ", " mutation ", " type T { a: Int } ", "\\", "\u00e9", "😀", ",", "\n", "\r", "\t", "null", "true",
		"__typename", "\ufeff", "0", ".") + string(runes[from:])
}
