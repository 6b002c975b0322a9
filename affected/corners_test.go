package affected

import (
	"context"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

const corners = `{"data":{` +
	`"/a.yml":{"$schema":"/a-1.yml","name":"a","labels":{"$ref":"/b.yml"},"far":{"$ref":"/gone.yml"}},` +
	`"/b.yml":{"$schema":"/b-1.yml","name":"b","$file_sha256sum":"1"}},` +
	`"graphql":[{"name":"A","fields":[{"name":"name","type":"string"},{"name":"labels","type":"json"},{"name":"far","type":"B"}]},` +
	`{"name":"B","fields":[{"name":"name","type":"string"}]},` +
	`{"name":"Back","fields":[{"name":"path","type":"string"}]},` +
	`{"name":"Resource_v1","fields":[{"name":"path","type":"string"},{"name":"content","type":"string"},{"name":"backrefs","type":"Back","isList":true}]},` +
	`{"name":"Query","fields":[{"name":"as","type":"A","isList":true,"datafileSchema":"/a-1.yml"},` +
	`{"name":"resources","type":"Resource_v1","isList":true,"isResource":true}]}],` +
	`"resources":{"/r":{"path":"/r","content":"x","sha256sum":"1","backrefs":[{"path":"/a.yml"}]}}}`

// Ways by which a change reaches an answer without a reference that a query
// follows.
func TestCorners(t *testing.T) {
	for _, c := range []struct{ name, query, old, new, want string }{
		{"a scalar over a reference prints the whole target", "{ as { labels } }", `"name":"b"`, `"name":"c"`, "run state"},
		{"with its metadata", "{ as { labels } }", `"$file_sha256sum":"1"`, `"$file_sha256sum":"2"`, "run state"},
		{"which nobody reads otherwise", "{ as { name far { name } } }", `"$file_sha256sum":"1"`, `"$file_sha256sum":"2"`,
			"skip fields"},
		{"the target gets a path that was missing", "{ as { far { name } } }", `"/b.yml":{`,
			`"/gone.yml":{"$schema":"/b-1.yml","name":"new"},"/b.yml":{`, "run state"},
		{"it is there, but nobody asks", "{ as { name } }", `"/b.yml":{`,
			`"/gone.yml":{"$schema":"/b-1.yml","name":"new"},"/b.yml":{`, "skip fields"},
		{"backrefs are read", "{ resources { backrefs { path } } }", `[{"path":"/a.yml"}]`, `[{"path":"/b.yml"}]`,
			"run state"},
		{"backrefs are not read", "{ resources { content } }", `[{"path":"/a.yml"}]`, `[{"path":"/b.yml"}]`, "skip fields"},
		{"another schema leaves the list", "{ as { name } }", `"$schema":"/a-1.yml"`, `"$schema":"/b-1.yml"`, "run state"},
		{"a type changed, the answer did not", "{ as { name } }", `{"name":"B","fields":[`,
			`{"name":"B","fields":[{"name":"x","type":"int"},`, "skip state"},
		{"a type changed, and with it the answer", "{ as { name } }", `{"name":"name","type":"string"},{"name":"labels"`,
			`{"name":"name","type":"json"},{"name":"labels"`, "run state"},
		{"a type changed so that the query is refused", "{ as { name } }", `{"name":"name","type":"string"},{"name":"labels"`,
			`{"name":"labels"`, "run fields"},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := parseCorners(t, corners, nil)
			head := parseCorners(t, strings.Replace(corners, c.old, c.new, 1), base)
			w := NewComparison(base, head, bundle.Compare(base, head), Options{})
			q, err := w.Compile("q", gql.Request{Query: c.query})
			if err != nil {
				t.Fatal(err)
			}
			d := w.Decide(context.Background(), Subject{Queries: []CompiledQuery{q}}, true)
			if got := string(d.Action) + " " + string(d.Rung); got != c.want {
				t.Errorf("got %s (%s), want %s", got, d.Sentence(), c.want)
			}
		})
	}
}

func parseCorners(t *testing.T, text string, like *bundle.Bundle) *bundle.Bundle {
	t.Helper()
	b, err := bundle.Parse([]byte(text), like)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
