package server_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/server"
)

// A choice is the resources of some paths, or all.
type choice struct {
	paths []string
	isAll bool
}

func (c choice) Allow(path string) bool { return c.isAll || slices.Contains(c.paths, path) }
func (c choice) AllowAll() bool         { return c.isAll }

// A task fails when it asks for resources that its settings do not allow.
func TestForbiddenResources(t *testing.T) {
	const byPath, all, none = `{ resources(path: "/r.yml") { content } }`, `{ resources { path } }`, `{ resources(path: "/none") { path } }`
	tests := []struct {
		name, query string
		may         server.Resources
		want        string // in the error; "" if it is allowed
	}{
		{"nothing set", byPath, nil, ""},
		{"all resources, nothing set", all, nil, ""},
		{"by path", byPath, choice{},
			"one asks for the resource /r.yml, which the settings do not allow; add it to integrations.one.resources"},
		{"by an allowed path", byPath, choice{paths: []string{"/r.yml"}}, ""},
		{"by another path", byPath, choice{paths: []string{"/r.txt"}}, "the resource /r.yml"},
		{"by a path that leads nowhere", none, choice{paths: []string{"/r.yml"}}, "the resource /none"},
		{"all resources", all, choice{paths: []string{"/r.yml"}}, "one asks for a list of resources"},
		{"by schema", `{ resources(schema: "/nothing.yml") { path } }`, choice{paths: []string{"/r.yml"}},
			"one asks for a list of resources"},
		{"all resources, allowed", all, choice{isAll: true}, ""},
		{"no resource", "{ users { name } }", choice{}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := open(t, func(o *server.Options) { o.Resources = tt.may })
			got := ask(t, e.URL(), tt.query)
			err := e.Close()
			if tt.want == "" {
				if err != nil || strings.Contains(got.body, "FORBIDDEN") {
					t.Errorf("got %s and %v", got.body, err)
				}
				return
			}
			var forbidden *server.ForbiddenError
			if !errors.As(err, &forbidden) || !strings.Contains(err.Error(), tt.want) ||
				!strings.Contains(got.body, "FORBIDDEN_RESOURCE") {
				t.Errorf("got %s and %v, want %q", got.body, err, tt.want)
			}
		})
	}
}

// With Strict, answers must not depend on datafiles of other schemas either.
func TestStrict(t *testing.T) {
	definitions := func(o *server.Options) { o.HeadAllowed = nil }
	tests := []struct {
		name, query string
		change      func(*server.Options)
		want        string
	}{
		{"its schemas", "{ users { name } }", nil, ""},
		{"a list of which nothing is read", "{ roles { __typename } }", nil, "one depends on /role-1.yml"},
		{"references of which nothing is read", "{ users { name roles { __typename } } }", nil, "one depends on /role-1.yml"},
		{"what is read is told once", "{ roles { name } }", nil,
			"one reads /role-1.yml, which its definition does not allow; add it to its schemas"},
		{"the definitions, as every client reads them", "{ integrations { name description schemas } }", definitions, ""},
		{"not enforced", "{ roles { __typename } }", func(o *server.Options) { o.Unenforced = true }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := open(t, func(o *server.Options) {
				o.Strict = true
				if tt.change != nil {
					tt.change(o)
				}
			})
			ask(t, e.URL(), tt.query)
			err := e.Close()
			if (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "; one ") {
				t.Errorf("something is told twice: %v", err)
			}
		})
	}
}

// An exchange has what its answer depends on, without the schemas of definitions that every
// client reads.
func TestObservedDependence(t *testing.T) {
	var got []bundle.SchemaPath
	e := open(t, func(o *server.Options) {
		o.Observe = func(x server.Exchange) { got = append(got, x.Response.Dependence.Schemas...) }
	})
	ask(t, e.URL(), "{ integrations { name description schemas } }")
	ask(t, e.URL(), "{ users { roles { __typename } } }")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0] != "/role-1.yml" || got[1] != "/user-1.yml" {
		t.Errorf("got %v", got)
	}
}
