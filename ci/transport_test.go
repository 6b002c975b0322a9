package ci

import (
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/doubles/gitlabtest"
)

// over returns a client that sends requests over a network.
func over(t *testing.T, address, ca string) *Client {
	t.Helper()
	c, err := New(Options{API: address + "/api/v4", Token: Token{Value: secret}, CAFile: ca, Settle: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A server with a certificate of its own is trusted if CI_SERVER_TLS_CA_FILE contains the
// certificate. Without it the first request fails and is not repeated.
func TestCertificates(t *testing.T) {
	s := server(t)
	tls := httptest.NewUnstartedServer(s)
	tls.Config.ErrorLog = log.New(io.Discard, "", 0) // it would log clients that do not trust the server
	tls.StartTLS()
	defer tls.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	raw := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: tls.Certificate().Raw})
	if err := os.WriteFile(ca, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := over(t, tls.URL, ca).Publish(t.Context(), mr, fake{8, "new"}); err != nil {
		t.Error(err)
	}
	_, err := over(t, tls.URL, "").Publish(t.Context(), mr, fake{8, "new"})
	if err == nil || !strings.HasSuffix(err.Error(), "certificate signed by unknown authority") {
		t.Errorf("got %v", err)
	}
	for name, want := range map[string]string{"/dev/null": `CI_SERVER_TLS_CA_FILE: "/dev/null" holds no certificate`,
		"/nowhere/x": "CI_SERVER_TLS_CA_FILE: open /nowhere/x: no such file or directory"} {
		if _, err := New(Options{API: tls.URL, Token: Token{Value: secret}, CAFile: name}); errorText(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Requests for artifacts follow redirects to other hosts without the token. Other requests
// follow no redirect.
func TestRedirects(t *testing.T) {
	archive := archived(t, [2]string{"results.json", "{}"})
	var seen http.Header
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header
		_, _ = w.Write(archive)
	}))
	defer elsewhere.Close()
	s := server(t)
	s.ArtifactsAt = elsewhere.URL + "/store?signature=canary"
	s.AddJob(gitlabtest.Job{ID: 9, Pipeline: 100, Child: 101, Name: "checks"})
	s.AddJob(gitlabtest.Job{ID: 1, Pipeline: 101, Name: "part", Archive: archive})
	here := httptest.NewServer(s)
	defer here.Close()
	if _, err := over(t, here.URL, "").Collect(t.Context(), gitlabtest.Project, 100, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	for name, values := range seen {
		if strings.Contains(strings.Join(values, " "), "canary") {
			t.Errorf("%s: %q went elsewhere", name, values)
		}
	}
	if seen == nil {
		t.Error("elsewhere was not asked")
	}

	s.Fault = func(int, *http.Request) gitlabtest.Fault {
		return gitlabtest.Fault{Status: http.StatusTemporaryRedirect,
			Header: http.Header{"Location": {elsewhere.URL + "/x?canary"}}}
	}
	seen = nil
	_, err := over(t, here.URL, "").Publish(t.Context(), mr, fake{8, "new"})
	want := "the note of merge request !12: asking for the user of the token: it redirects to " + elsewhere.URL +
		", which is not followed: CI_API_V4_URL must be the final address"
	if errorText(err) != want || seen != nil {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// Answers that are too large end with an error, and odd headers do no harm.
func TestAnswersAreLimited(t *testing.T) { synctest.Test(t, testAnswersAreBounded) }

func testAnswersAreBounded(t *testing.T) {
	s := server(t)
	s.Header = http.Header{"Link": {"<https://x.test>; rel"}, "Ratelimit-Limit": {"1"}}
	if _, err := client(t, memory{s}).Publish(t.Context(), mr, fake{8, "new"}); err != nil {
		t.Error(err)
	}
	for size, want := range map[int64]error{4: errTooLarge, 5: nil, 6: nil} {
		raw, err := io.ReadAll(&limitedBody{io.NopCloser(strings.NewReader("12345")), size})
		if err != want || err == nil && string(raw) != "12345" {
			t.Errorf("%d bytes: got %q, %v, want %v", size, raw, err, want)
		}
	}
	res, err := limitedTransport{memory{s}}.RoundTrip(httptest.NewRequestWithContext(t.Context(), "GET", "/api/v4/user",
		nil))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if left := res.Body.(*limitedBody).left; left != maxRefusal {
		t.Errorf("up to %d bytes are read, want %d", left, maxRefusal)
	}
	s.Fault = func(int, *http.Request) gitlabtest.Fault {
		return gitlabtest.Fault{Status: 400, Body: strings.Repeat("x", maxRefusal/2) + secret}
	}
	if _, err := client(t, memory{s}).Publish(t.Context(), mr, fake{8, "new"}); err == nil || len(err.Error()) > 600 {
		t.Errorf("got %v", err)
	}
}
