package systems

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/app-sre/prcheck/settings"
)

// What the fake server knows.
const (
	theValue    = "the-value-of-the-secret"
	theRoleID   = "role-id-1"
	theSecretID = "secret-id-of-the-role"
	theToken    = "hvs.token-of-the-environment"
	theJWT      = "jwt-of-the-service-account"
)

// A fakeVault stands in for a Vault server with the KV engines "team" and "kv/two".
type fakeVault struct {
	url string

	mu        sync.Mutex
	valid     map[string]bool // tokens
	lease     int             // seconds
	renewable bool
	logins    int
	renewals  int
	requests  int
	strange   string                                            // what a login sent beside its proof
	namespace string                                            // of the last request
	before    func(w http.ResponseWriter, r *http.Request) bool // answers in place of the server, if it returns true
}

func startVault(t *testing.T) *fakeVault {
	t.Helper()
	f := &fakeVault{valid: map[string]bool{theToken: true}, lease: 3600}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	f.url = s.URL
	for _, name := range []string{"VAULT_TOKEN", "VAULT_NAMESPACE"} {
		t.Setenv(name, "of-the-user") // must not count
	}
	t.Setenv("VAULT_ADDR", "https://elsewhere.invalid")
	return f
}

func (f *fakeVault) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests++
	f.namespace = r.Header.Get("X-Vault-Namespace")
	if f.before != nil && f.before(w, r) {
		return
	}
	token := r.Header.Get("X-Vault-Token")
	switch {
	case strings.HasSuffix(r.URL.Path, "/login"):
		f.login(w, r)
	case !f.valid[token]:
		answer(w, 403, `{"errors":["permission denied for `+token+`"]}`)
	case r.URL.Path == "/v1/auth/token/renew-self":
		f.renewals++
		answer(w, 200, fmt.Sprintf(`{"auth":{"client_token":%q,"lease_duration":%d,"renewable":true}}`, token, f.lease))
	default:
		f.read(w, r)
	}
}

func (f *fakeVault) login(w http.ResponseWriter, r *http.Request) {
	var proof map[string]string
	raw, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(raw, &proof)
	f.strange = r.Header.Get("X-Vault-Token") + r.Header.Get("X-Vault-Namespace")
	ok := r.URL.Path == "/v1/auth/approle/login" && proof["role_id"] == theRoleID && proof["secret_id"] == theSecretID ||
		r.URL.Path == "/v1/auth/kubernetes/east/login" && proof["role"] == "checker" && proof["jwt"] == theJWT
	if !ok {
		answer(w, 400, `{"errors":["invalid secret id `+proof["secret_id"]+`"]}`)
		return
	}
	f.logins++
	token := fmt.Sprintf("hvs.token-of-login-%d", f.logins)
	f.valid[token] = true
	answer(w, 200, fmt.Sprintf(`{"auth":{"client_token":%q,"lease_duration":%d,"renewable":%v}}`, token, f.lease,
		f.renewable))
}

func (f *fakeVault) read(w http.ResponseWriter, r *http.Request) {
	document := func(version string) string {
		return fmt.Sprintf(`{"data":{"data":{"token":"%s-%s","port":5432,"on":true,"empty":"","object":{"a":1}},"metadata":{"version":%s,"created_time":"2026-01-02T03:04:05Z","deletion_time":"","destroyed":false}}}`, theValue, version, version)
	}
	switch at := r.URL.Path + "?" + r.URL.Query().Encode(); at {
	case "/v1/team/data/creds/db?", "/v1/kv/two/data/creds/db?", "/v1/team/data/creds/ä b%25?":
		answer(w, 200, document("3"))
	case "/v1/team/data/creds/db?version=2":
		answer(w, 200, document("2"))
	case "/v1/team/data/creds/db?version=1":
		answer(w, 404,
			`{"data":{"data":null,"metadata":{"version":1,"created_time":"2026-01-02T03:04:05Z","deletion_time":"2026-02-02T03:04:05Z","destroyed":false}}}`)
	case "/v1/team/data/gone?":
		answer(w, 404,
			`{"data":{"data":null,"metadata":{"version":7,"created_time":"2026-01-02T03:04:05Z","deletion_time":"","destroyed":true}}}`)
	case "/v1/team/data/forbidden?":
		answer(w, 403, `{"errors":["1 error occurred: permission denied: `+theValue+`"]}`)
	default:
		answer(w, 404, `{"errors":[]}`)
	}
}

func answer(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body) // the client may have gone away
}

// set changes the fake while it serves.
func (f *fakeVault) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// A clock is moved by hand.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.at }

func (c *clock) move(by time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.at = c.at.Add(by) }

// A learner notes the secrets that are learned.
type learner struct {
	mu    sync.Mutex
	words map[string]bool
}

func (l *learner) learn(secret string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.words == nil {
		l.words = map[string]bool{}
	}
	l.words[secret] = true
}

func (l *learner) knows(words ...string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range words {
		if !l.words[w] {
			return false
		}
	}
	return true
}

// readSettings returns settings with a source of secrets.
func readSettings(t *testing.T, secrets string) *settings.Settings {
	t.Helper()
	s, err := settings.Read("prcheck.yaml", []byte("version: 1\nsecrets: "+secrets+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The ways to log in.
const (
	byAppRole    = "{approle: {role_id_env: ROLE, secret_id_env: SECRET}}"
	byToken      = "{token_env: TOKEN}"
	byKubernetes = "{kubernetes: {role: checker, mount: kubernetes/east, token_file: FILE}}"
)

// connected returns systems with this server, and the clock of both caches.
func (f *fakeVault) connected(t *testing.T, auth string, more ...string) (*Systems, *clock, *learner) {
	t.Helper()
	l := &learner{}
	environ := map[string]string{"ROLE": theRoleID, "SECRET": theSecretID, "TOKEN": theToken}
	s := New(Sources{
		Settings: readSettings(t, "{vault: {server: '"+f.url+"', auth: "+auth+strings.Join(more, "")+"}}"),
		Getenv:   func(name string) string { return environ[name] }, Learn: l.learn,
	})
	c := &clock{at: time.Now()}
	v := s.source.(*vault)
	s.now, v.now, v.pause, v.timeout = c.now, c.now, 2*time.Millisecond, 10*time.Second
	return s, c, l
}
