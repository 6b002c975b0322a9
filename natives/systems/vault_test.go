package systems

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
)

var (
	theRef = integration.SecretRef{Path: "team/creds/db", Field: "token"}
	latest = theValue + "-3"
)

// checkSilent fails the test if an error shows something secret.
func checkSilent(t *testing.T, err error) {
	t.Helper()
	for _, secret := range []string{theValue, theSecretID, theToken, theJWT, "hvs."} {
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("the error shows %q: %v", secret, err)
		}
	}
}

// Each way to log in leads to the secret, and everything secret is learned.
func TestVaultLogins(t *testing.T) {
	dir := t.TempDir()
	// as in a pod
	fill(t, dir, map[string]string{"..2026/token": theJWT + "\n", "..data": "->..2026", "token": "->..data/token"})
	file := filepath.Join(dir, "token")
	for name, c := range map[string]struct {
		auth    string
		learned []string
	}{
		"AppRole":    {byAppRole, []string{theSecretID, "hvs.token-of-login-1"}},
		"token":      {byToken, []string{theToken}},
		"Kubernetes": {strings.Replace(byKubernetes, "FILE", file, 1), []string{theJWT, "hvs.token-of-login-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := startVault(t)
			s, _, l := f.connected(t, c.auth, ", namespace: a/b")
			got, err := s.Secret(t.Context(), theRef)
			if err != nil || got != latest || !l.knows(append(c.learned, latest)...) {
				t.Errorf("got %q, %v, learned %v", got, err, l.words)
			}
			if f.namespace != "a/b/" && f.namespace != "a/b" {
				t.Errorf("the namespace is %q", f.namespace)
			}
		})
	}
}

// Each secret has its value or an error that says what is wrong, with a class. No error shows
// a secret, and what failed is asked as often as makes sense.
func TestVaultReads(t *testing.T) {
	config, transient := integration.FailureOfConfig, integration.FailureTransient
	reply := func(status int, body string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if strings.Contains(r.URL.Path, "/login") {
				return false
			}
			answer(w, status, body)
			return true
		}
	}
	for name, c := range map[string]struct {
		ref      integration.SecretRef
		before   func(http.ResponseWriter, *http.Request) bool
		want     string // the value, or a part of the error
		class    integration.FailureClass
		requests int // with the login
	}{
		"latest": {ref: theRef, want: latest, requests: 2},
		"a version": {ref: integration.SecretRef{Path: theRef.Path, Field: "token", Version: "2"},
			want: theValue + "-2", requests: 2},
		"a number":      {ref: integration.SecretRef{Path: theRef.Path, Field: "port"}, want: "5432", requests: 2},
		"a truth value": {ref: integration.SecretRef{Path: theRef.Path, Field: "on"}, want: "true", requests: 2},
		"an odd path": {ref: integration.SecretRef{Path: "team/creds/ä b%25", Field: "token"}, want: latest,
			requests: 2},
		"no such field": {ref: integration.SecretRef{Path: theRef.Path, Field: "tokn"},
			want: `secret "team/creds/db", field "tokn": the secret is there, but it has no such field`, class: config,
			requests: 2},
		"empty": {ref: integration.SecretRef{Path: theRef.Path, Field: "empty"},
			want: "it is empty: store a value there", class: config, requests: 2},
		"no text": {ref: integration.SecretRef{Path: theRef.Path, Field: "object"},
			want: "its value is not a text", class: config, requests: 2},
		"no such secret": {ref: integration.SecretRef{Path: "team/creds/no", Field: "token"},
			want: "store it in a KV engine of version 2, or correct path and version in the data", class: config, requests: 2},
		"no such version": {ref: integration.SecretRef{Path: theRef.Path, Field: "token", Version: "9"},
			want: "there is none at", class: config, requests: 2},
		"a deleted version": {ref: integration.SecretRef{Path: theRef.Path, Field: "token", Version: "1"},
			want: "its version 1 was deleted: store it again", class: config, requests: 2},
		"a destroyed one": {ref: integration.SecretRef{Path: "team/gone", Field: "token"},
			want: "its version 7 was destroyed", class: config, requests: 2},
		"no number": {ref: integration.SecretRef{Path: theRef.Path, Field: "token", Version: "latest"},
			want: `its version "latest" is no number`, class: config, requests: 1},
		"no mount": {ref: integration.SecretRef{Path: "creds", Field: "token"},
			want: "must begin with the mount of its engine", class: config},
		"forbidden": {ref: integration.SecretRef{Path: "team/forbidden", Field: "token"},
			want: "forbids it: let the policy of the login read team/data/forbidden", class: config, requests: 2},
		"sealed": {theRef, reply(503, `{"errors":["Vault is sealed `+theValue+`"]}`),
			"is sealed or not ready (503)", transient, 4},
		"its own fault":     {theRef, reply(500, `{"errors":["`+theValue+`"]}`), "answers 500", transient, 4},
		"too many requests": {theRef, reply(429, `{"errors":["`+theValue+`"]}`), "answers 429", transient, 4},
		"teapot":            {theRef, reply(418, theValue), "answers 418: look at the server", config, 2},
		"a page":            {theRef, reply(200, "<html>"+theValue), "gives no answer that can be read", transient, 2},
		"half an answer": {theRef, reply(200, `{"data":{"data":{"token":"`+theValue), "ends its answer early",
			transient, 2},
		"nothing": {theRef, reply(200, ""), "there is none at", config, 2},
		"null":    {theRef, reply(200, `{"data":null}`), "it has no such field", config, 2},
		"data of a wrong kind": {theRef, reply(200, `{"data":{"data":"`+theValue+`"}}`), "gives no answer that can be read",
			transient, 2},
		"too long": {theRef, reply(200, `{"data":{"x":"`+strings.Repeat(theValue, 1<<17)+`"}}`), "its answer is too long",
			config, 2},
		"a long value": {theRef,
			reply(200, `{"data":{"data":{"token":"`+strings.Repeat("x", maxSecret+1)+
				`"},"metadata":{"version":1,"created_time":"2026-01-02T03:04:05Z","deletion_time":"","destroyed":false}}}`),
			"it has more than 65536 bytes", config, 2},
		"redirect": {theRef, func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, "https://elsewhere.invalid/"+theValue, http.StatusTemporaryRedirect)
			return true
		}, "it sends us to another address", config, 1},
		"cut": {theRef, func(w http.ResponseWriter, r *http.Request) bool {
			if strings.Contains(r.URL.Path, "/login") {
				return false
			}
			panic(http.ErrAbortHandler)
		}, "ends its answer early", transient, 5}, // once more because the connection of the login had been open
	} {
		t.Run(name, func(t *testing.T) {
			f := startVault(t)
			f.before = c.before
			s, _, _ := f.connected(t, byAppRole)
			got, err := s.Secret(t.Context(), c.ref)
			if c.class == "" && (err != nil || got != c.want) {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
			if c.class != "" && (err == nil || got != "" || !strings.Contains(err.Error(), c.want) ||
				integration.ClassOfFailure(err) != c.class) {
				t.Errorf("got %q, class %q, %v\nwant class %q and %q", got, integration.ClassOfFailure(err), err, c.class, c.want)
			}
			checkSilent(t, err)
			f.set(func() {
				if f.strange != "" || f.namespace != "" {
					t.Errorf("the environment counts: a login has %q, and the namespace is %q", f.strange, f.namespace)
				}
				if f.requests != c.requests {
					t.Errorf("got %d requests, want %d", f.requests, c.requests)
				}
			})
		})
	}
}

// The settings may name the mount, and then paths do not.
func TestVaultMount(t *testing.T) {
	f := startVault(t)
	s, _, _ := f.connected(t, byToken, ", mount: kv/two")
	if got, err := s.Secret(t.Context(), integration.SecretRef{Path: "creds/db", Field: "token"}); err != nil ||
		got != latest {
		t.Errorf("got %q, %v", got, err)
	}
}

// A login that is refused says so, and what is missing as well.
func TestVaultRefusals(t *testing.T) {
	for name, c := range map[string]struct{ auth, want string }{
		"wrong secret": {"{approle: {role_id_env: ROLE, secret_id_env: TOKEN}}", "logging in to Vault: http"},
		"no variable": {"{approle: {role_id_env: ROLE, secret_id_env: NONE}}",
			"logging in to Vault: the variable NONE is not set"},
		"no token":    {"{token_env: NONE}", "logging in to Vault: the variable NONE is not set"},
		"wrong token": {"{token_env: SECRET}", "forbids it: let the policy of the login read team/data/creds/db"},
		"no file": {strings.Replace(byKubernetes, "FILE", "/nonexistent/token", 1),
			"reading the token of the service account"},
		"not a file":    {strings.Replace(byKubernetes, "FILE", "/", 1), "reading the token of the service account"},
		"no such mount": {"{approle: {mount: other, role_id_env: ROLE, secret_id_env: SECRET}}", "refuses it (400)"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, _ := startVault(t).connected(t, c.auth)
			got, err := s.Secret(t.Context(), theRef)
			if err == nil || got != "" || !strings.Contains(err.Error(), c.want) ||
				integration.ClassOfFailure(err) != integration.FailureOfConfig {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
			checkSilent(t, err)
		})
	}
}

// A token is renewed or fetched anew when its time is over, and when the server forgot it.
func TestVaultExpiredTokens(t *testing.T) {
	f := startVault(t)
	s, c, _ := f.connected(t, byAppRole)
	step := func(what string, logins, renewals int) {
		t.Helper()
		if got, err := s.Secret(t.Context(), theRef); err != nil || got != latest {
			t.Errorf("%s: got %q, %v", what, got, err)
		}
		if f.logins != logins || f.renewals != renewals {
			t.Errorf("%s: %d logins and %d renewals, want %d and %d", what, f.logins, f.renewals, logins, renewals)
		}
	}
	step("first", 1, 0)
	c.move(20 * time.Minute)
	step("while it is valid", 1, 0)
	c.move(30 * time.Minute)
	f.set(func() { f.renewable = true })
	step("after two thirds", 2, 0)
	c.move(50 * time.Minute)
	step("renewed", 2, 1)
	c.move(5 * time.Minute)
	f.set(func() { clear(f.valid) })
	step("revoked", 3, 1)
	c.move(2 * time.Hour)
	step("over", 4, 1)
	f.set(func() { clear(f.valid) })
	c.move(keepSecret + time.Second)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got, err := s.Secret(t.Context(), theRef); err != nil || got != latest {
				t.Errorf("at once: got %q, %v", got, err)
			}
		})
	}
	all.Wait()
	if f.logins != 5 {
		t.Errorf("at once: %d logins, want 5", f.logins)
	}
}

// A server that does not answer costs the time limit and no more, and a call ends with its
// context.
func TestVaultSlow(t *testing.T) {
	f := startVault(t)
	release := make(chan struct{})
	s, _, _ := f.connected(t, byToken)
	f.set(func() {
		f.before = func(http.ResponseWriter, *http.Request) bool { <-release; return true }
	})
	t.Cleanup(func() { close(release) })
	s.source.(*vault).timeout = 20 * time.Millisecond
	_, err := s.Secret(t.Context(), theRef)
	if err == nil || !strings.Contains(err.Error(), "does not answer within 20ms") ||
		integration.ClassOfFailure(err) != integration.FailureTransient {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("somebody pressed ctrl-C")
	cancel(why)
	if _, err := s.Secret(ctx, theRef); !errors.Is(err, why) {
		t.Errorf("canceled: got %v", err)
	}
}
