package members_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/owners/content"
	"github.com/app-sre/prcheck/owners/coverage"
	"github.com/app-sre/prcheck/owners/members"
	"github.com/app-sre/prcheck/owners/rules"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/server"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/statetest"
)

var ref = content.Ref{Kind: content.Datafile, Path: "/f.yml", Schema: "/s.yml"}

// source is the group lamps of the system acme.
var source = rules.MemberSource{File: "/acme.yml", Provider: "acme", Kind: "app-interface",
	URL: "https://acme.example/graphql", Group: "lamps"}

// files covers a changed file by a role of ann and of the members of sources.
func files(t testing.TB, sources ...rules.MemberSource) []*coverage.File {
	t.Helper()
	r, faults := rules.Compile(rules.Input{Today: "2026-01-01",
		Types: []rules.ChangeType{{Name: "t", ContextSchema: ref.Schema,
			Changes: []rules.ChangeRule{{Selectors: []string{"a"}}}}},
		Roles: []rules.Role{{Name: "r", People: []rules.Person{{Name: "ann"}}, Sources: sources,
			Binds: []rules.Bind{{Type: "t"}}}}})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	c := &content.Change{Ref: ref, Old: map[string]any{"a": "0"}, New: map[string]any{"a": "1"}}
	c.Compare(false)
	return []*coverage.File{coverage.Of(r, c, nil, nil)}
}

// An answer is a transport that answers in memory.
type answer func(*http.Request) (status int, body string, err error)

func (a answer) RoundTrip(req *http.Request) (*http.Response, error) {
	status, body, err := a(req)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Request: req,
		Header: http.Header{}}, nil
}

// said answers with the members of the group lamps.
func said(names ...string) answer {
	var users []map[string]string
	for _, name := range names {
		users = append(users, map[string]string{"org_username": name})
	}
	raw, err := json.Marshal(map[string]any{"data": map[string]any{"roles": []any{map[string]any{"name": "lamps",
		"users": users, "bots": []any{map[string]any{"org_username": nil}}}}}})
	return func(*http.Request) (int, string, error) { return http.StatusOK, string(raw), err }
}

func sources(t testing.TB, in state.Store, by answer) *members.Sources {
	return &members.Sources{Authorization: func(string) string { return "Basic c2VjcmV0" }, State: in, Now: time.Now,
		Warn: func(err error) { t.Helper(); t.Logf("warning: %v", err) }, Transport: by}
}

// people returns who may approve, with the day since which nothing is known of them.
func people(files []*coverage.File) string {
	var out []string
	for _, p := range files[0].Contexts[0].People {
		text := p.Name
		if !p.KnownAt.IsZero() {
			text += " of " + p.KnownAt.UTC().Format("01-02 15:04")
		}
		out = append(out, text)
	}
	return strings.Join(append(out, files[0].Contexts[0].Unknown...), ", ")
}

var errRefused = errors.New("it is no network error")

// A source that answers says who its members are. One that is silent has those of before for 24 hours, and whoever refuses
// or answers something else is an error.
func TestJoin(t *testing.T) {
	silent := func(status int) answer { return func(*http.Request) (int, string, error) { return status, "", nil } }
	const refused = "error"
	for _, c := range []struct {
		name   string
		later  time.Duration
		by     answer
		want   string
		silent int
	}{
		{"it answers", time.Hour, said("bob", "ann"), "ann, bob", 0},
		{"with other members", time.Hour, said("eve"), "ann, eve", 0},
		{"with none", time.Hour, said(), "ann", 0},
		{"status 503", time.Hour, silent(503), "ann, bob of 01-01 00:00, lamps", 1},
		{"status 429", time.Hour, silent(429), "ann, bob of 01-01 00:00, lamps", 1},
		{"broken off", time.Hour, func(*http.Request) (int, string, error) { return 0, "", io.ErrUnexpectedEOF },
			"ann, bob of 01-01 00:00, lamps", 1},
		{"slow", time.Hour, func(r *http.Request) (int, string, error) {
			<-r.Context().Done()
			return 0, "", r.Context().Err()
		}, "ann, bob of 01-01 00:00, lamps", 1},
		{"nearly a day", 24*time.Hour - 2*time.Minute, silent(503), "ann, bob of 01-01 00:00, lamps", 1},
		{"for more than a day", 24*time.Hour + time.Second, silent(503), "ann, lamps", 1},
		{"status 401", time.Hour, silent(401), refused, 0},
		{"status 404", time.Hour, silent(404), refused, 0},
		{"no GraphQL", time.Hour, func(*http.Request) (int, string, error) { return 200, "<html>", nil }, refused, 0},
		{"an error of GraphQL", time.Hour, func(*http.Request) (int, string, error) {
			return 200, `{"errors": [{"message": "no such field"}], "data": {"roles": []}}`, nil
		}, refused, 0},
		{"no roles", time.Hour, func(*http.Request) (int, string, error) {
			return 200, `{"data": {"roles": null}}`, nil
		}, refused, 0},
		{"a role that nobody asked for", time.Hour, func(*http.Request) (int, string, error) {
			return 200, `{"data": {"roles": [{"name": "admins", "users": [{"org_username": "eve"}], "bots": []}]}}`, nil
		}, refused, 0},
		{"a failure that is none of the network", time.Hour,
			func(*http.Request) (int, string, error) { return 0, "", errRefused }, refused, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in := statetest.NewMemory()
				if _, err := sources(t, in, said("bob")).Join(t.Context(), files(t, source)); err != nil {
					t.Fatal(err)
				}
				time.Sleep(c.later)
				all := files(t, source)
				found, err := sources(t, in, c.by).Join(t.Context(), all)
				got := people(all)
				if err != nil {
					got = refused
				}
				if got != c.want || len(found) != c.silent {
					t.Errorf("people %s, silent %v, %v; want %s", got, found, err, c.want)
				}
				if err != nil && strings.Contains(err.Error(), "c2VjcmV0") {
					t.Errorf("%v tells a secret", err)
				}
			})
		})
	}
}

// What was kept counts only for the same system at the same address, and only if it can be trusted.
func TestKept(t *testing.T) {
	silent := answer(func(*http.Request) (int, string, error) { return 503, "", nil })
	moved := source
	moved.URL = "https://other.example/graphql"
	for name, c := range map[string]struct {
		of   rules.MemberSource
		edit func(t *testing.T, in *statetest.Memory, key string)
		want string
	}{
		"as it was":       {of: source, want: "ann, bob of 01-01 00:00, lamps"},
		"another address": {of: moved, want: "ann, lamps"},
		"a damaged document": {of: source, want: "ann, lamps", edit: func(t *testing.T, in *statetest.Memory, key string) {
			if err := in.Write(t.Context(), key, []byte(`{"version": "1", "groups": {"lamps": `)); err != nil {
				t.Fatal(err)
			}
		}},
		"a day in the future": {of: source, want: "ann, lamps", edit: func(t *testing.T, in *statetest.Memory, key string) {
			raw := `{"version": "1", "groups": {"lamps": {"at": "2030-01-01T00:00:00Z", "members": ["eve"]}}}`
			if err := in.Write(t.Context(), key, []byte(raw)); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in := statetest.NewMemory()
				if _, err := sources(t, in, said("bob")).Join(t.Context(), files(t, source)); err != nil {
					t.Fatal(err)
				}
				if all, err := in.List(t.Context(), "members"); err != nil || len(all) != 1 {
					t.Fatalf("documents %v, %v", all, err)
				} else if c.edit != nil {
					c.edit(t, in, all[0].Key)
				}
				of := files(t, c.of)
				if _, err := sources(t, in, silent).Join(t.Context(), of); err != nil || people(of) != c.want {
					t.Errorf("people %s, %v, want %s", people(of), err, c.want)
				}
			})
		})
	}
}

// A source for which no authorization is at hand, of another kind, or without a system is not asked.
func TestNotAsked(t *testing.T) {
	kind, nothing := source, rules.MemberSource{Group: "lamps"}
	kind.Kind = "ldap"
	for name, of := range map[string]rules.MemberSource{"no authorization": source, "another kind": kind,
		"no system": nothing} {
		t.Run(name, func(t *testing.T) {
			var told []string
			s := sources(t, nil, func(*http.Request) (int, string, error) { t.Error("it is asked"); return 500, "", nil })
			s.Authorization = func(string) string { return "" }
			s.Warn = func(err error) { told = append(told, err.Error()) }
			all := files(t, of)
			found, err := s.Join(t.Context(), all)
			if err != nil || len(found) > 0 || people(all) != "ann, lamps" || len(told) != 1 {
				t.Errorf("people %s, silent %v, told %q, %v", people(all), found, told, err)
			}
		})
	}
	if got := members.Variable("acme-app.interface 2"); got != "PRCHECK_MEMBERS_ACME_APP_INTERFACE_2" {
		t.Error(got)
	}
}

// Several groups of a system are asked for once, and not again for other versions.
func TestAskedOnce(t *testing.T) {
	other := source
	other.Group = "chairs"
	n := 0
	s := sources(t, nil, func(r *http.Request) (int, string, error) {
		n++
		raw, err := io.ReadAll(r.Body)
		if !strings.Contains(string(raw), `["chairs","lamps"]`) || r.Header.Get("Authorization") != "Basic c2VjcmV0" ||
			r.URL.String() != source.URL {
			t.Errorf("asked %s with %s", r.URL, raw)
		}
		return 200, `{"data": {"roles": [{"name": "chairs", "users": [{"org_username": "cy"}], ` +
			`"bots": [{"org_username": "b"}]}]}}`, err
	})
	for range 2 {
		all := files(t, source, other)
		if _, err := s.Join(t.Context(), append(all, files(t, other)...)); err != nil || people(all) != "ann, b, cy" {
			t.Errorf("people %s, %v", people(all), err)
		}
	}
	if n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// A source is not asked for a role that covers nothing of the change.
func TestOnlyForWhatDiffers(t *testing.T) {
	s := sources(t, nil, func(*http.Request) (int, string, error) { t.Error("it is asked"); return 500, "", nil })
	all := files(t, source)
	all[0].Roots[0].Covers = nil
	if found, err := s.Join(t.Context(), all); err != nil || len(found) > 0 {
		t.Errorf("silent %v, %v", found, err)
	}
}

// The rules of an older version ask nobody: what they name beside what was asked stays unknown.
func TestOlderVersion(t *testing.T) {
	n := 0
	s := sources(t, nil, func(r *http.Request) (int, string, error) {
		if n++; r.URL.String() != source.URL {
			t.Errorf("asked %s", r.URL)
		}
		return said("bob")(r)
	})
	if _, err := s.Join(t.Context(), files(t, source)); err != nil {
		t.Fatal(err)
	}
	elsewhere := source
	elsewhere.URL = "https://elsewhere.test/graphql"
	same, other := files(t, source), files(t, elsewhere)
	s.Recall(same)
	s.Recall(other)
	if people(same) != "ann, bob" || people(other) != "ann, lamps" || n != 1 {
		t.Errorf("people %s and %s, asked %d times", people(same), people(other), n)
	}
}

// Recorded data of a whole repository can be asked as another system: the query fits its GraphQL types.
func TestRealServer(t *testing.T) {
	raw, err := os.ReadFile(shared.Path(t, "data", "bundles", "app-interface-base.json"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Parse(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	h := server.NewHub(server.HubOptions{})
	if err := h.Add(b); err != nil {
		t.Fatal(err)
	}
	at := httptest.NewServer(h)
	defer at.Close()
	of := source
	of.URL, of.Group = at.URL+"/graphql", "app-sre"
	s := sources(t, nil, nil)
	s.Transport = nil
	all := files(t, of)
	found, err := s.Join(t.Context(), all)
	if err != nil || len(found) > 0 || !slices.ContainsFunc(all[0].Contexts[0].People, func(p rules.Person) bool {
		return p.Name == "tuser"
	}) {
		t.Errorf("people %s, %v, %v", people(all), found, err)
	}
}
