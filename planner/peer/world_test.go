package peer

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/app-sre/prcheck/planner/proof"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/qontract/live"
	"github.com/app-sre/prcheck/qontract/server"
	"github.com/app-sre/prcheck/trace"
)

// users makes a bundle of two users; the second one has no name, so that a list of names is null.
func users(t *testing.T, email string) *bundle.Bundle {
	t.Helper()
	b, err := bundle.Parse([]byte(`{"data":{
		"/ana.yml":{"$schema":"/user-1.yml","name":"ana","email":"`+email+`","tags":["x","y"]},
		"/bob.yml":{"$schema":"/user-1.yml","email":"b"}
	},"resources":{},"schemas":{},"graphql":[
		{"name":"User","fields":[{"name":"path","type":"string"},{"name":"name","type":"string","isRequired":true},{"name":"email","type":"string"},{"name":"tags","type":"string","isList":true}]},
		{"name":"Query","fields":[{"name":"users","type":"User","isList":true,"datafileSchema":"/user-1.yml"}]}]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const (
	emails = "{ users { email tags } }"
	names  = "{ users { name } }"
)

// asked are questions over both sides: emails, on which "mails" and "both" rest, and names, by
// element, on which "both" rests.
func asked() (out []proof.Question) {
	for _, side := range []trace.Side{trace.Base, trace.Head} {
		out = append(out,
			proof.Question{Side: side, Name: "emails.graphql", Request: gql.Request{Query: emails},
				Integrations: []string{"both", "mails"}},
			proof.Question{Side: side, Name: "names.graphql", Request: gql.Request{Query: names}, Elements: true,
				Integrations: []string{"both"}})
	}
	return out
}

// report is the report of a proof of which nobody has asked a server.
func report() proof.Report {
	return proof.Report{Proven: []string{"both", "mails", "other"}, Questions: asked()}
}

// A world is two bundles, and a server that has them.
type world struct {
	base, head *bundle.Bundle
	hub        *server.Hub
	mu         sync.Mutex
	requests   int
	secrets    int // requests with an authorization
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{base: users(t, "old"), head: users(t, "new"), hub: server.NewHub(server.HubOptions{})}
	for _, b := range []*bundle.Bundle{w.base, w.head} {
		if err := w.hub.Add(b); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// ask asks a handler in front of the server.
func (w *world) ask(t *testing.T, h http.HandlerFunc) *Answers {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.count(r)
		h(rw, r)
	}))
	t.Cleanup(s.Close)
	at, err := live.ParseHost(s.URL, live.Connection{Authorization: "Bearer hunter2hunter2"})
	if err != nil {
		t.Fatal(err)
	}
	out, err := Ask(t.Context(), Input{Server: at, Base: w.base, Head: w.head, Questions: asked()})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (w *world) count(r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests++
	if r.Header.Get("Authorization") != "" {
		w.secrets++
	}
}

// changed answers as the server does, with another text in each answer over a bundle.
func (w *world) changed(of *bundle.Bundle, from, to string) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		w.hub.ServeHTTP(rec, r)
		body := rec.Body.String()
		if strings.HasSuffix(r.URL.Path, of.SHA256()) {
			body = strings.Replace(body, from, to, 1)
		}
		rw.WriteHeader(rec.Code)
		_, _ = io.WriteString(rw, body)
	}
}

// only answers a function to the queries that have a text, and as the server does to others.
func (w *world) only(text string, h http.HandlerFunc) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(raw)))
		if strings.Contains(string(raw), text) {
			h(rw, r)
			return
		}
		w.hub.ServeHTTP(rw, r)
	}
}

// checkReport compares what is proven, believed and refuted.
func checkReport(t *testing.T, r proof.Report, proven, believed, refuted string) {
	t.Helper()
	var gaps []string
	for _, g := range r.Refuted {
		gaps = append(gaps, g.Integration)
	}
	got := [3]string{strings.Join(r.Proven, " "), strings.Join(r.Believed, " "), strings.Join(gaps, " ")}
	if want := [3]string{proven, believed, refuted}; got != want {
		t.Errorf("proven, believed, refuted: got %q, want %q", got, want)
	}
}
