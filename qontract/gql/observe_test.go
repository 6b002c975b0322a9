package gql_test

import (
	"context"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// TestObserve checks that Observe lists the files that were read, and gives the same answer
// as Execute.
func TestObserve(t *testing.T) {
	b, err := bundle.Parse([]byte(`{"data":{
		"/a.yml":{"$schema":"/team-1.yml","name":"a","secret":{"path":"/b.yml","field":"x"}},
		"/b.yml":{"$schema":"/team-1.yml","name":"b","parent":{"$ref":"/a.yml"}},
		"/c.yml":{"$schema":"/other-1.yml","name":"c"}},
		"resources":{
		"/photo":{"path":"/photo","content":"p","sha256sum":"1","backrefs":[{"path":"/a.yml","datafileSchema":"/team-1.yml"}]},
		"/text":{"path":"/text","content":"t","sha256sum":"2","backrefs":[]}},
		"graphql":{"confs":[
		{"name":"Secret_v1","fields":[{"name":"path","type":"string"},{"name":"field","type":"string"}]},
		{"name":"Backref_v1","fields":[{"name":"path","type":"string"}]},
		{"name":"Resource_v1","fields":[{"name":"path","type":"string"},{"name":"backrefs","type":"Backref_v1","isList":true}]},
		{"name":"Team_v1","datafile":"/team-1.yml","fields":[{"name":"name","type":"string","isSearchable":true},
			{"name":"secret","type":"Secret_v1"},{"name":"parent","type":"Team_v1"}]},
		{"name":"Query","fields":[{"name":"teams","type":"Team_v1","isList":true,"datafileSchema":"/team-1.yml"},
			{"name":"resources_v1","type":"Resource_v1","isResource":true,"isList":true,"isRequired":true}]}]}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := gql.NewSchema(b.GraphQL())
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, query          string
		datafiles, resources []bundle.Path
		fields               []string
	}{
		{"all of a schema", `{ teams { name } }`, []bundle.Path{"/a.yml", "/b.yml"}, []bundle.Path{}, []string{"name"}},
		{"only what the filter admits", `{ teams(name: "a") { name } }`, []bundle.Path{"/a.yml"}, []bundle.Path{},
			[]string{"name"}},
		{"what a reference leads to", `{ teams(name: "b") { parent { name } } }`, []bundle.Path{"/a.yml", "/b.yml"},
			[]bundle.Path{}, []string{"name", "parent"}},
		{"a part with a path is no file", `{ teams(name: "a") { secret { path field } } }`, []bundle.Path{"/a.yml"},
			[]bundle.Path{}, []string{"secret"}},
		{"a resource, not what refers to it", `{ resources_v1(path: "/photo") { backrefs { path } } }`, []bundle.Path{},
			[]bundle.Path{"/photo"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q, err := s.Compile(gql.Request{Query: tt.query})
			if err != nil {
				t.Fatal(err)
			}
			e := gql.New(b, s)
			res, plain := e.Observe(context.Background(), q), e.Execute(context.Background(), q)
			if !slices.Equal(res.Datafiles, tt.datafiles) || !slices.Equal(res.Resources, tt.resources) {
				t.Errorf("got %v and %v, want %v and %v", res.Datafiles, res.Resources, tt.datafiles, tt.resources)
			}
			if got := res.Fields["/team-1.yml"]; !slices.Equal(got, tt.fields) {
				t.Errorf("got fields %q, want %q", got, tt.fields)
			}
			if got, want := string(res.JSON()), string(plain.JSON()); got != want || len(res.Errors) > 0 {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}
