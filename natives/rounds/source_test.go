package rounds

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/server"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/source"
)

// shelves asks for the shelves of the warehouses, which only warehouse-stock may read.
const shelves = "query($name: String) { warehouses(name: $name) { name shelves } }"

// answer opens a source and asks it a query for an integration.
func answer(t *testing.T, s Source, name, query string) (string, error) {
	t.Helper()
	data, err := s.Open(t.Context(), &settings.Settings{})
	if err != nil {
		return "", err
	}
	ask, end, err := data.Query(t.Context(), name)
	if err != nil {
		return "", err
	}
	raw, err := ask(t.Context(), query, map[string]any{"name": "harbor"})
	if ended := end(); err == nil {
		err = ended
	}
	return string(raw), err
}

func shop(t *testing.T, name string) *bundle.Bundle {
	t.Helper()
	b, err := bundle.Open("../../testdata/shop/"+name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// sources are the same data, as a file and on a server.
func sources(t *testing.T) map[string]Source {
	t.Helper()
	hub := server.NewHub(server.HubOptions{})
	if err := hub.Add(shop(t, "base.json")); err != nil {
		t.Fatal(err)
	}
	at := httptest.NewServer(hub)
	t.Cleanup(at.Close)
	out := map[string]Source{}
	for kind, ref := range map[string]string{
		"file": "../../testdata/shop/base.json", "server": at.URL + "/graphql",
		"a bundle of a server": at.URL + "/graphqlsha/" + shop(t, "base.json").SHA256(),
	} {
		s, err := NewSource(source.Opener{}, ref)
		if err != nil {
			t.Fatal(err)
		}
		out[kind] = s
	}
	return out
}

// All sources give the same answers and the same rights.
func TestSources(t *testing.T) {
	for kind, s := range sources(t) {
		t.Run(kind, func(t *testing.T) {
			for _, c := range []struct {
				integration, query, want string
				error                    string
			}{
				{"warehouse-stock", shelves, `{"warehouses":[{"name":"harbor","shelves":200}]}`, ""},
				{"price-tags", shelves, "",
					"price-tags reads /shop/warehouse-1.yml, which its definition does not allow; add it to its schemas"},
				{"warehouse-stock", "{ nothing }", "", "Cannot query field"},
				{"warehouse-stok", shelves, "", `the data define no integration "warehouse-stok", did you mean "warehouse-stock"?`},
			} {
				got, err := answer(t, s, c.integration, c.query)
				if got != c.want || (err == nil) != (c.error == "") || err != nil && !strings.Contains(err.Error(), c.error) {
					t.Errorf("%s %s: got %s, %v, want %s, %s", c.integration, c.query, got, err, c.want, c.error)
				}
			}
			data, err := s.Open(t.Context(), &settings.Settings{})
			if want := (BundleName{SHA256: shop(t, "base.json").SHA256(), Commit: strings.Repeat("1", 40),
				Timestamp: "1700000000"}); err != nil || data.Bundle != want {
				t.Errorf("got %+v, %v, want %+v", data, err, want)
			}
		})
	}
}

// Each round has the newest bundle of a server, and one bundle alone.
func TestNewestOfServer(t *testing.T) {
	hub := server.NewHub(server.HubOptions{})
	add := func(name string) {
		if err := hub.Add(shop(t, name)); err != nil {
			t.Fatal(err)
		}
	}
	add("base.json")
	at := httptest.NewServer(hub)
	defer at.Close()
	s, err := NewSource(source.Opener{}, at.URL+"/graphql")
	if err != nil {
		t.Fatal(err)
	}
	data, err := s.Open(t.Context(), &settings.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	add("head.json") // while the round runs
	ask, _, err := data.Query(t.Context(), "warehouse-stock")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := ask(t.Context(), shelves, map[string]any{"name": "harbor"})
	if want := `{"warehouses":[{"name":"harbor","shelves":200}]}`; err != nil || string(raw) != want {
		t.Errorf("the round got %s, %v, want %s", raw, err, want)
	}
	got, err := answer(t, s, "warehouse-stock", shelves)
	if want := `{"warehouses":[{"name":"harbor","shelves":260}]}`; err != nil || got != want {
		t.Errorf("the next round got %s, %v, want %s", got, err, want)
	}
}

// A server that does not answer as a qontract-server does gives an error, and no empty world.
func TestBadServers(t *testing.T) {
	sha := strings.Repeat("a", 64)
	good := map[string]string{"/sha256": sha, "/git-commit-info/" + sha: `{"commit":"c","timestamp":"1"}`}
	for _, c := range []struct {
		name, path string // the path that is answered badly
		status     int
		body       string
	}{
		{"no sha256", "/sha256", 404, "Cannot GET"},
		{"a page", "/sha256", 200, "<html>"},
		{"half a sha256", "/sha256", 200, sha[:20]},
		{"unauthorized", "/sha256", 401, "who are you"},
		{"no commit", "/git-commit-info/" + sha, 404, "Bundle " + sha + " not found"},
		{"a page as commit", "/git-commit-info/" + sha, 200, "<html>"},
		{"definitions are null", "/graphqlsha/" + sha, 200, `{"data":null}`},
		{"an empty answer", "/graphqlsha/" + sha, 200, `{}`},
		{"an empty body", "/graphqlsha/" + sha, 200, ``},
		{"half a body", "/graphqlsha/" + sha, 200, `{"data":{"definitions":[`},
		{"a page as answer", "/graphqlsha/" + sha, 200, "<html>"},
		{"a list of null", "/graphqlsha/" + sha, 200, `{"data":{"definitions":null}}`},
		{"forbidden", "/graphqlsha/" + sha, 403, `{"data":{}}`},
		{"an error beside data", "/graphqlsha/" + sha, 200,
			`{"data":{"definitions":[{"name":"it","schemas":["/a"]}]},"errors":[{"message":"no"}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == c.path {
					w.WriteHeader(c.status)
					_, _ = fmt.Fprint(w, c.body) // the client looks at what arrives
					return
				}
				_, _ = fmt.Fprint(w, good[r.URL.Path])
			}))
			defer s.Close()
			from, err := NewSource(source.Opener{Authorization: "Bearer open-sesame-0123"}, s.URL+"/graphql")
			if err != nil {
				t.Fatal(err)
			}
			got, err := answer(t, from, "it", shelves)
			if err == nil || strings.Contains(err.Error(), "sesame") {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
}

// A wrong reference is an error before anything is asked.
func TestReferences(t *testing.T) {
	for ref, want := range map[string]string{
		"":                                   "--bundle is required",
		"http://s.example":                   "does not end with /graphql",
		"http://s.example/graphql?x=1":       "must not hold a ? or #",
		"http://me:secret@s.example/graphql": "must not hold a user or password",
		"http:///graphql":                    "not an address",
		"https://s.example/graphqlsha/abc":   "is not the sha256 of a bundle",
	} {
		_, err := NewSource(source.Opener{}, ref)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: got %v, want …%s…", ref, err, want)
		}
	}
}

// A file that did not change is not parsed again.
func TestUnchangedFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "bundle.json")
	put := func(from string) {
		raw, err := os.ReadFile("../../testdata/shop/" + from)
		if err == nil {
			err = os.WriteFile(name, raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	f := &Files{Ref: name}
	var seen []*bundle.Bundle
	rules := &settings.Settings{}
	for i, from := range []string{"base.json", "base.json", "head.json", "head.json"} {
		if i == 3 {
			rules = &settings.Settings{} // they may name another schema of definitions
		}
		put(from)
		if _, err := f.Open(context.Background(), rules); err != nil {
			t.Fatal(err)
		}
		seen = append(seen, f.last)
	}
	if seen[0] != seen[1] || seen[1] == seen[2] || seen[2] == seen[3] ||
		seen[2].SHA256() != shop(t, "head.json").SHA256() {
		t.Errorf("got %v", seen)
	}
}

// In a checkout, places have file and line.
func TestPlaces(t *testing.T) {
	for ref, want := range map[string]string{
		"dir:../../examples/office": "data/rooms/harbor.yml:3",
	} {
		f := &Files{Ref: ref}
		data, err := f.Open(t.Context(), &settings.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if got := data.Where(t.Context(), "/rooms/harbor.yml", "/desks"); got != want {
			t.Errorf("%s: got %s, want %s", ref, got, want)
		}
		for _, file := range []string{"", "/rooms/nowhere.yml", "/../../etc/passwd"} {
			if got := data.Where(t.Context(), file, "/desks"); got != file {
				t.Errorf("%s: %q is %q", ref, file, got)
			}
		}
	}
	f := &Files{Ref: "../../testdata/shop/base.json"}
	data, err := f.Open(t.Context(), &settings.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if got := data.Where(t.Context(), "/warehouses/harbor.yml", "/shelves"); got != "/warehouses/harbor.yml" {
		t.Errorf("got %s", got)
	}
}
