package live_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/qontract/live"
)

// A fake is a fake qontract-server with two bundles.
type fake struct {
	bundles map[string]*bundle.Bundle
	engines map[string]*gql.Engine
}

// serve starts a fake and returns the references of both bundles.
func serve(t *testing.T, base, head *bundle.Bundle) (from, to live.Ref) {
	t.Helper()
	f := &fake{map[string]*bundle.Bundle{}, map[string]*gql.Engine{}}
	for _, b := range []*bundle.Bundle{base, head} {
		schema, err := gql.NewSchema(b.GraphQL())
		if err != nil {
			t.Fatal(err)
		}
		f.bundles[b.SHA256()], f.engines[b.SHA256()] = b, gql.New(b, schema)
	}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return live.Ref{Server: s.URL, SHA256: base.SHA256()}, live.Ref{Server: s.URL, SHA256: head.SHA256()}
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.SplitN(strings.TrimPrefix(r.URL.Path, "/"), "/", 5)
	for len(parts) < 3 {
		parts = append(parts, "")
	}
	switch base, head := f.bundles[parts[1]], f.bundles[parts[2]]; {
	case parts[0] == "cache":
		_, _ = io.WriteString(w, `{"bundles":["`+strings.Repeat("0", 64)+`","<b>"]}`)
	case parts[0] == "graphqlsha" && base != nil:
		f.graphql(w, r, f.engines[parts[1]])
	case parts[0] == "graphqlsha":
		http.Error(w, "<pre>Cannot POST "+r.URL.Path+"</pre>", http.StatusNotFound)
	case base == nil:
		http.Error(w, "Bundle "+parts[1]+" not found", http.StatusNotFound)
	case parts[0] == "git-commit-info":
		fmt.Fprintf(w, `{"commit":%q,"timestamp":%q}`, base.Commit(), base.Timestamp())
	case parts[0] != "diff":
		http.NotFound(w, r)
	case head == nil:
		http.Error(w, "Bundle "+parts[2]+" not found", http.StatusNotFound)
	case len(parts) == 3:
		diff(w, base, head)
	default:
		datafile(w, base, head, bundle.Path("/"+parts[4]))
	}
}

func (f *fake) graphql(w http.ResponseWriter, r *http.Request, e *gql.Engine) {
	var body struct{ Query, OperationName string }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	res := e.Answer(r.Context(), gql.Request{Query: body.Query, Operation: body.OperationName})
	w.WriteHeader(res.Status)
	_, _ = w.Write(res.JSON())
}

// entry returns a file of both sides in the form of the server.
func entry(old, now *bundle.File) json.RawMessage {
	out := map[string]json.RawMessage{}
	for key, f := range map[string]*bundle.File{"old": old, "new": now} {
		if f != nil {
			out[key] = gql.AppendJSON(nil, f.Object())
		}
	}
	raw, _ := json.Marshal(out)
	return raw
}

func diff(w io.Writer, base, head *bundle.Bundle) {
	out := map[string]map[bundle.Path]json.RawMessage{"datafiles": {}, "resources": {}}
	d := bundle.Compare(base, head)
	for _, c := range d.Datafiles {
		out["datafiles"][c.Path] = entry(c.Old, c.New)
	}
	for _, c := range d.Resources {
		if c.Old == nil || c.New == nil || c.Old.Object().String("sha256sum") != c.New.Object().String("sha256sum") {
			out["resources"][c.Path] = entry(c.Old, c.New)
		}
	}
	_ = json.NewEncoder(w).Encode(out)
}

func datafile(w http.ResponseWriter, base, head *bundle.Bundle, p bundle.Path) {
	old, was := base.Datafile(p)
	now, is := head.Datafile(p)
	if !was && !is {
		http.Error(w, "datafile not found", http.StatusNotFound)
		return
	}
	_, _ = w.Write(entry(old, now))
}
