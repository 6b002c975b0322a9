package rest

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// A third family: a plain REST API. These lines are all that it costs. Projects are the shards,
// POST on a collection creates, and the header ETag locks.
var plainFamily = &family.Family{
	Name:      "plain",
	Types:     resources.Plain,
	Parent:    func([]string) int { return 2 },
	Root:      func(a family.Address) string { return strings.Join(strings.SplitN(a.Key, "/", 4)[:3], "/") },
	Chain:     func(a family.Address) string { return a.Key },
	Marks:     "/labels",
	ItemsAt:   "items",
	NextAt:    "next",
	NextQuery: "page",
	Limits:    map[family.Kind]family.Limit{family.Writes: {Tokens: 5, PerSecond: 1}},
}

// plainSpec is its specification.
const plainSpec = `{"openapi":"3.1.0","info":{"title":"queues","version":"1"},"paths":{
"/projects/{project}":{"get":{"responses":{"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Project"}}}}}},
  "put":{"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Project"}}}}}},
"/projects/{project}/queues":{"get":{},"post":{"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Queue"}}}}}},
"/projects/{project}/queues/{queue}":{"get":{"responses":{"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Queue"}}}}}},
  "patch":{"requestBody":{"content":{"application/merge-patch+json":{"schema":{"$ref":"#/components/schemas/Queue"}}}}},"delete":{}}},
"components":{"schemas":{
"Project":{"type":"object","properties":{"title":{"type":["string","null"]}}},
"Queue":{"type":"object","required":["region"],"properties":{
  "id":{"type":"string","readOnly":true},"region":{"type":"string","x-ms-mutability":["create","read"]},
  "limit":{"type":"integer"},"labels":{"type":"object","additionalProperties":{"type":"string"}},
  "members":{"type":"array","uniqueItems":true,"items":{"type":"string"}}}}}}}`

// A resource of the third family is created, changed, locked, and deleted by its specification.
func TestThirdFamily(t *testing.T) {
	index := indexOf(t, map[string][]byte{"queues.json": []byte(plainSpec)})
	types, err := index.Find("projects/queues")
	if err != nil {
		t.Fatal(err)
	}
	c, err := classes.New(types[0])
	if err != nil {
		t.Fatal(err)
	}
	to := Target{Type: types[0].ID()}
	if to.Address, err = plainFamily.Locate(types[0], family.Reference{Parent: "/projects/p", Name: "a"}); err != nil {
		t.Fatal(err)
	}
	if to.Abilities, err = AbilitiesOf(plainFamily, types[0], c, nil); err != nil {
		t.Fatal(err)
	}
	if a := to.Address; a.Root != "/projects/p" || a.Collection != "/projects/p/queues" || a.Parent != "/projects/p" ||
		a.URI() != "/projects/p/queues/a" {
		t.Errorf("got the address %+v", a)
	}
	s := newService(t, *plainFamily)
	client := s.client()
	client.Endpoint = &url.URL{Scheme: "https", Host: "cloud.example", Path: "/v1"}
	m := &managed{target: to, rules: rules.Of(c, nil)}
	step := func(desired string, want Did, requests string) {
		t.Helper()
		s.log = nil
		if m.desired, err = body.Parse([]byte(desired)); err != nil {
			t.Fatal(err)
		}
		r, err := client.Write(t.Context(), to, m, m)
		if err != nil || r.Did != want || s.methods() != requests {
			t.Errorf("%s: got %s, %v after %s, want %s after %s", desired, r.Did, err, s.methods(), want, requests)
		}
		m.applied = m.desired
	}
	step(`{"region":"x","limit":1,"members":["b","a"]}`, Created, "GET POST GET")
	if s.log[1].path != "/v1/projects/p/queues" {
		t.Errorf("POST went to %s", s.log[1].path)
	}
	step(`{"region":"x","limit":1,"members":["a","b"]}`, Nothing, "GET")
	step(`{"region":"x","limit":2,"members":["a"]}`, Updated, "GET PATCH GET")
	if got := s.log[1]; got.media != mediaMerge || got.header.Get("If-Match") == "" ||
		fmt.Sprint(got.body) != "map[limit:2 members:[a]]" {
		t.Errorf("got %+v", got)
	}
	if r, err := client.Delete(t.Context(), to, m.accept, m); err != nil || r.Did != Deleted || len(s.things) > 0 {
		t.Errorf("got %+v, %v", r, err)
	}
	if err := blocked(m, `{"region":"y"}`); err == nil || !strings.Contains(err.Error(), "CREATE_ONLY") {
		t.Errorf("another region: got %v, want CREATE_ONLY", err)
	}
	if s.writes()[len(s.writes())-1].method != http.MethodDelete {
		t.Error("something was written after the end")
	}
}
