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
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = append(got, r.Method) }))
	defer server.Close()
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, "get", ""} {
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
