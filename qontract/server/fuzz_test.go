package server_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/server"
)

// Every request, however broken, gets a complete answer.
func FuzzHub(f *testing.F) {
	h := server.NewHub(server.HubOptions{Log: func(line string) { panic(line) }}) // the hub logs internal errors
	if err := h.Add(people(f, "ana")[0]); err != nil {
		f.Fatal(err)
	}
	for _, seed := range [][5]string{
		{"POST", "/graphql", "application/json", "", `{"query":"{ users { name } }"}`},
		{"GET", "/graphql?query=%7B__typename%7D&variables={}&a=%zz", "", "text/html, */*;q=0.1", ""},
		{"POST", "/graphql", `application/json; charset="utf-8"`, "application/json;q=x",
			`{"extensions":{"persistedQuery":{"version":1}}}`},
		{"HEAD", "/diff/a/%41/datafile//x", "", ",;=\"", ""},
		{"OPTIONS", "/git-commit-info/%E2%82", ";", "*", "{"},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3], seed[4])
	}
	f.Fuzz(func(t *testing.T, method, path, kind, accept, body string) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://x/", strings.NewReader(body))
		if err != nil || path == "" || path[0] != '/' {
			return // net/http refuses such a request before the hub sees it
		}
		r.RequestURI = path
		if _, search, ok := strings.Cut(path, "?"); ok {
			r.URL.RawQuery = search
		}
		r.Header = http.Header{"Content-Type": {kind}, "Accept": {accept}}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code < 200 || w.Code > 503 || w.Code == 500 {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
		if w.Code == 404 && strings.Contains(strings.ToLower(w.Body.String()), "<script") {
			t.Errorf("sends foreign markup: %s", w.Body)
		}
	})
}

// A panic ends the request with an error and does not stop the server.
func TestPanic(t *testing.T) {
	var said []string
	h := server.NewHub(server.HubOptions{
		Observe: func(server.Exchange) { panic("x") },
		Log:     func(line string) { said = append(said, line) },
	})
	look(t, h, http.MethodGet, "/healthz", nil, "", failPage(500, "Internal Server Error"))
	if len(said) != 1 || said[0] != "internal error at GET /healthz" {
		t.Errorf("said %q", said)
	}
}
