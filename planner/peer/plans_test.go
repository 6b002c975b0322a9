package peer_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/qontract/live"
	"github.com/app-sre/prcheck/qontract/server"
	"github.com/app-sre/prcheck/settings"
)

// same makes one plan from bundle files and one from a server with the same bundles. It
// fails the test if the plans differ in more than the references.
func same(t *testing.T, base, head *bundle.Bundle, rules *settings.Settings,
	read func(string) ([]byte, error)) *plan.Plan {
	t.Helper()
	from, to := serve(t, base, head)
	in := planner.Input{Base: base, Head: head, Settings: rules, ReadQuery: read}
	want, err := planner.Make(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	b, err := live.Open(t.Context(), from, to, live.Connection{})
	if err != nil {
		t.Fatal(err)
	}
	in.Base, in.Head, in.BaseServer, in.HeadServer = b.Base, b.Head, b.BaseSide, b.HeadSide
	got, err := planner.Make(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.BaseSide.Err(); err != nil {
		t.Error(err)
	}
	if a, b := text(t, got), text(t, want); a != b {
		t.Errorf("%s", lines(a, b))
	}
	if r, err := planner.Verify(t.Context(), in, want); err != nil || len(r.Refuted) > 0 {
		t.Errorf("verify: got %v, %v", r, err)
	}
	return want
}

// serve starts a server with both bundles and returns their references.
func serve(t *testing.T, base, head *bundle.Bundle) (from, to live.Ref) {
	t.Helper()
	hub := server.NewHub(server.HubOptions{})
	for _, b := range []*bundle.Bundle{base, head} {
		if err := hub.Add(b); err != nil {
			t.Fatal(err)
		}
	}
	s := httptest.NewServer(hub)
	t.Cleanup(s.Close)
	return live.Ref{Server: s.URL, SHA256: base.SHA256()}, live.Ref{Server: s.URL, SHA256: head.SHA256()}
}

func text(t *testing.T, p *plan.Plan) string {
	t.Helper()
	var out bytes.Buffer
	if err := plan.Write(&out, p); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// lines returns the first lines in which two texts differ.
func lines(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	out := ""
	for i := 0; i < len(a) && i < len(b) && len(out) < 2000; i++ {
		if a[i] != b[i] {
			out += fmt.Sprintf("got  %s\nwant %s\n", a[i], b[i])
		}
	}
	return out
}

func parse(t *testing.T, raw []byte, like *bundle.Bundle) *bundle.Bundle {
	t.Helper()
	b, err := bundle.Parse(raw, like)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The plan of the shop is the same from files and from a server.
func TestPlanOfShop(t *testing.T) {
	folder := filepath.Join("..", "..", "examples", "shop")
	file := func(name string) []byte {
		raw, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	rules, err := settings.Read("prcheck.yaml", file("prcheck.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	base := parse(t, file("base.json"), nil)
	p := same(t, base, parse(t, file("head.json"), base), rules, func(name string) ([]byte, error) {
		return file(name), nil
	})
	if len(p.Tasks) != 2 {
		t.Errorf("got %d tasks, want 2", len(p.Tasks))
	}
}

// asking returns settings in which every integration of a bundle has some of the queries.
func asking(t *testing.T, b *bundle.Bundle, queries []string) (*settings.Settings, func(string) ([]byte, error)) {
	t.Helper()
	list, err := integration.List(b, nil)
	if err != nil || len(list) == 0 {
		t.Fatalf("got %d integrations, %v", len(list), err)
	}
	var out strings.Builder
	out.WriteString("version: 1\nexec: {argv: [run, '{cmd}', '{shard_args}']}\nintegrations:\n")
	for i, d := range list {
		fmt.Fprintf(&out, "  %s:\n    queries: ['%d']\n", d.Name, i%len(queries))
	}
	s, err := settings.Read("prcheck.yaml", []byte(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	return s, func(name string) ([]byte, error) {
		var i int
		_, err := fmt.Sscan(name, &i)
		return []byte(queries[i]), err
	}
}

// Plans of recorded bundles are the same for all queries.
func TestPlansOfRecorded(t *testing.T) {
	for _, name := range []string{"app-interface", "generated-300"} {
		t.Run(name, func(t *testing.T) {
			base, err := bundle.Open(shared.Path(t, "data", "bundles", name+"-base.json"), nil)
			if err != nil {
				t.Fatal(err)
			}
			head, err := bundle.Open(shared.Path(t, "data", "bundles", name+"-head.json"), base)
			if err != nil {
				t.Fatal(err)
			}
			queries := recorded(t, base, name+"-base")
			for len(queries) > 0 {
				n := min(len(queries), 40)
				rules, read := asking(t, base, queries[:n])
				same(t, base, head, rules, read)
				queries = queries[n:]
				if testing.Short() {
					return
				}
			}
		})
	}
}

// recorded returns recorded queries that need no variables.
func recorded(t *testing.T, b *bundle.Bundle, name string) []string {
	t.Helper()
	raw, err := os.ReadFile(shared.Path(t, "data", "graphql", "cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	schema, err := gql.NewSchema(b.GraphQL())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for i, line := range bytes.Split(bytes.TrimSpace(raw), []byte("\n")) {
		var c struct{ Bundle, Query string }
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		_, err := schema.Compile(gql.Request{Query: c.Query})
		if err == nil && c.Bundle == name && i%4 == 0 {
			out = append(out, c.Query)
		}
	}
	return out
}
