package jobs

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	failure "k8s.io/apimachinery/pkg/api/errors"
)

// apiServer starts an API server that is a handler, and connects to it.
func apiServer(t *testing.T, h http.HandlerFunc) Cluster {
	t.Helper()
	dir := t.TempDir()
	c, _, err := Connect(kubeconfig(t, dir, fmt.Sprintf(`
clusters: [{name: c, cluster: {server: %q, certificate-authority: ca.crt}}]
users: [{name: u, user: {token: sesame}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`, secureServer(t, dir, h))))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// secureServer starts a server with TLS, and writes its certificate into a folder.
// Credentials are sent to no other server.
func secureServer(t *testing.T, dir string, h http.HandlerFunc) (url string) {
	t.Helper()
	s := httptest.NewTLSServer(h)
	t.Cleanup(s.Close)
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(filepath.Join(dir, "ca.crt"), cert, 0o600); err != nil {
		t.Fatal(err)
	}
	return s.URL
}

// kubeconfig writes files of settings into a folder, and returns an environment
// that names them.
func kubeconfig(t *testing.T, dir string, texts ...string) func(string) string {
	t.Helper()
	var files []string
	for i, text := range texts {
		file := filepath.Join(dir, fmt.Sprintf("config-%d", i))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return func(name string) string {
		return map[string]string{"KUBECONFIG": strings.Join(files, string(filepath.ListSeparator))}[name]
	}
}

// The requests are those of kubectl, in JSON.
func TestRequests(t *testing.T) {
	var got []string
	job := manifest(t, whole())
	c := apiServer(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if r.Method == http.MethodPost {
			body = body[:min(len(body), 40)]
		}
		got = append(got, fmt.Sprintf("%s %s %s %s", r.Method, r.URL, r.Header.Get("Content-Type"), body))
		if r.Header.Get("Authorization") != "Bearer sesame" ||
			!strings.HasPrefix(r.Header.Get("Accept"), "application/json") {
			t.Errorf("%s: headers %v", r.URL, r.Header)
		}
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "pods") {
			_, _ = io.WriteString(w, `{"kind": "PodList", "items": [{"metadata": {"name": "p"}}]}`)
			return
		}
		_ = json.NewEncoder(w).Encode(job)
	})
	ctx := t.Context()
	if err := c.api.create(ctx, job, true); err != nil {
		t.Error(err)
	}
	if err := c.Start(ctx, job); err != nil {
		t.Error(err)
	}
	if is, err := c.Has(ctx, job); !is || err != nil {
		t.Errorf("got %t, %v", is, err)
	}
	if pods, err := c.api.listPods(ctx, job.Namespace, job.Name); err != nil || len(pods) != 1 || pods[0].Name != "p" {
		t.Errorf("got %v, %v", pods, err)
	}
	if err := c.api.remove(ctx, job.Namespace, job.Name); err != nil {
		t.Error(err)
	}
	const jobs, begin = "/apis/batch/v1/namespaces/checks/jobs", ` application/json {"kind":"Job","apiVersion":"batch/v1","m`
	want := []string{
		"POST " + jobs + "?dryRun=All&fieldValidation=Strict&timeout=30s" + begin,
		"POST " + jobs + "?fieldValidation=Strict&timeout=30s" + begin,
		"GET " + jobs + "/prcheck-0123456789ab?timeout=30s  ",
		"GET /api/v1/namespaces/checks/pods?labelSelector=batch.kubernetes.io%2Fjob-name%3Dprcheck-0123456789ab&limit=50&timeout=30s  ",
		"DELETE " + jobs +
			`/prcheck-0123456789ab?timeout=30s application/json {"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Foreground"}`,
	}
	if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
		t.Errorf("got\n%s\nwant\n%s", a, b)
	}
}

// Errors are told by the status object of the answer, or else by its HTTP status.
func TestRefusals(t *testing.T) {
	status := func(reason string, code int) string {
		return fmt.Sprintf(
			`{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": %q, "code": %d, "message": "says why"}`,
			reason, code)
	}
	for name, c := range map[string]struct {
		code       int
		kind, body string
		is         func(error) bool
		text       string
	}{
		"there already": {409, "application/json", status("AlreadyExists", 409), failure.IsAlreadyExists, "says why"},
		"denied":        {403, "application/json", status("Forbidden", 403), failure.IsForbidden, "says why"},
		"not logged in": {401, "application/json", status("Unauthorized", 401), failure.IsUnauthorized, "says why"},
		"wrong field":   {400, "application/json", status("BadRequest", 400), failure.IsBadRequest, "says why"},
		"gone":          {404, "application/json", status("NotFound", 404), failure.IsNotFound, "says why"},
		"proxy": {404, "text/html", "<html>", failure.IsNotFound,
			"could not find the requested resource (get jobs.batch n)"},
		"proxy, denied": {403, "text/plain", "who are you", failure.IsForbidden, "who are you"},
		"no JSON": {200, "text/html", "<html>", func(err error) bool {
			return err != nil
		}, "decoding the answer of the cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := apiServer(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				w.WriteHeader(c.code)
				_, _ = io.WriteString(w, c.body)
			})
			_, err := cluster.api.get(t.Context(), "checks", "n")
			if !c.is(err) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("got %v, want an error with %q", err, c.text)
			}
		})
	}
}

// Several files are merged: the first that names something wins, and paths are
// those beside the file that has them. Programs hand out credentials.
func TestKubeconfig(t *testing.T) {
	asked := ""
	dir := t.TempDir()
	url := secureServer(t, dir, func(w http.ResponseWriter, r *http.Request) {
		asked = r.Header.Get("Authorization")
		_, _ = io.WriteString(w, "{}")
	})
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte("from-file"), 0o600); err != nil {
		t.Fatal(err)
	}
	login := "#!/bin/sh\necho '{\"apiVersion\": \"client.authentication.k8s.io/v1\", \"kind\": \"ExecCredential\", \"status\": {\"token\": \"from-program\"}}'\n"
	if err := os.WriteFile(filepath.Join(dir, "login"), []byte(login), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	first := "current-context: CONTEXT\nclusters: [{name: c, cluster: {server: " + url +
		", certificate-authority: ca.crt}}]\n"
	second := `current-context: other
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
users:
- {name: file, user: {tokenFile: token}}
- {name: program, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: ./login, interactiveMode: Never}}}
contexts:
- {name: file, context: {cluster: c, user: file, namespace: checks}}
- {name: program, context: {cluster: c, user: program}}
`
	for context, want := range map[string][2]string{"file": {"checks", "Bearer from-file"},
		"program": {"default", "Bearer from-program"}} {
		c, namespace, err := Connect(kubeconfig(t, dir, strings.Replace(first, "CONTEXT", context, 1), second))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.api.get(t.Context(), namespace, "n"); err != nil || namespace != want[0] || asked != want[1] {
			t.Errorf("%s: got %s, %s, %v, want %v", context, namespace, asked, err, want)
		}
	}
}
