package integration

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The client of a dry run sends nothing that could write.
func TestReadingClient(t *testing.T) {
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = append(got, r.Method)
	}))
	defer server.Close()
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
		http.MethodDelete, "get", ""} {
		for name, client := range map[string]*http.Client{"reading": Environment{}.Client(), "writing": Actors{}.Client()} {
			got = nil
			req, err := http.NewRequestWithContext(t.Context(), method, server.URL, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			res, err := client.Do(req)
			if err == nil {
				_ = res.Body.Close()
			}
			mayWrite := req.Method != http.MethodGet && req.Method != http.MethodHead
			if refused := err != nil; refused != (mayWrite && name == "reading") || refused == (len(got) > 0) {
				t.Errorf("%s %q: got %v, and the server %q", name, method, err, got)
			}
		}
	}
}

// The client of one server asks nobody else, and takes its credential nowhere else.
func TestClientFor(t *testing.T) {
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Method+" "+r.Header.Get("Authorization"))
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "https://elsewhere.invalid/", http.StatusFound)
		}
	}))
	defer server.Close()
	client, err := Environment{}.ClientFor(server.URL, "Bearer sesame")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		method, address string
		seen            int
		isFine          bool
	}{
		"the server":   {http.MethodGet, server.URL, 1, true},
		"a write":      {http.MethodPost, server.URL, 0, false},
		"another host": {http.MethodGet, "https://elsewhere.invalid/", 0, false},
		"a redirect":   {http.MethodGet, server.URL + "/moved", 1, false},
	} {
		got = nil
		req, err := http.NewRequestWithContext(t.Context(), c.method, c.address, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		res, err := client.Do(req)
		if err == nil {
			_ = res.Body.Close()
		}
		if (err == nil) != c.isFine || !c.isFine && ClassOfFailure(err) != FailureOfConfig || len(got) != c.seen ||
			c.seen > 0 && got[0] != "GET Bearer sesame" {
			t.Errorf("%s: got %v, and the server %q", name, err, got)
		}
	}
	if _, err := (Environment{}).ClientFor("http://plain.example", ""); ClassOfFailure(err) != FailureOfConfig {
		t.Errorf("plain http: got %v", err)
	}
}
