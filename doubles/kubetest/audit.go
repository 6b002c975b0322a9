package kubetest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// auditLog returns the file with a line for each request.
func (r *Real) auditLog() string { return filepath.Join(r.dir, "audit.log") }

// Audit returns the requests of a user until now, in the order in which they ended.
func (r *Real) Audit(t testing.TB, user string) []Request {
	t.Helper()
	// The server writes a line after the answer. When it has the line of a last request, it has
	// those of the requests that ended before.
	last := "/audit-ends-here-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	r.Send(t, "admin", http.MethodGet, last, "", "")
	var raw []byte
	for range 200 {
		var err error
		if raw, err = os.ReadFile(r.auditLog()); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(raw, []byte(last)) {
			return readAudit(t, raw, user)
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("the server writes no audit log")
	return nil
}

func readAudit(t testing.TB, raw []byte, user string) []Request {
	t.Helper()
	var out []Request
	for line := range bytes.Lines(raw) {
		var e struct {
			Verb, RequestURI string
			User             struct{ Username string }
			ResponseStatus   struct{ Code int }
		}
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // it is being written
		}
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if e.User.Username == user {
			path, query, _ := strings.Cut(e.RequestURI, "?")
			out = append(out, Request{e.Verb, path, e.ResponseStatus.Code, strings.Contains("&"+query+"&", "&dryRun=All&")})
		}
	}
	return out
}

// Finalize ends the deletion of a namespace, as the controller of a cluster does when the
// namespace is empty.
func (r *Real) Finalize(t testing.TB, name string) {
	t.Helper()
	path := "/api/v1/namespaces/" + name
	code, raw := r.Send(t, "admin", http.MethodGet, path, "", "")
	if code == http.StatusNotFound {
		return
	}
	body, err := decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	if dig(body, "metadata")["deletionTimestamp"] == nil {
		return
	}
	dig(body, "spec")["finalizers"] = []any{}
	if code, raw := r.Send(t, "admin", http.MethodPut, path+"/finalize", "application/json",
		string(encode(body))); code != http.StatusOK && code != http.StatusConflict && code != http.StatusNotFound {
		t.Fatalf("finalizing %s: %d %s", name, code, raw)
	}
}
