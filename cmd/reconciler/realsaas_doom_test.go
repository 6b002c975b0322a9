//go:build !race

package main

import (
	"crypto/tls"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// A doom stands between the program and what it writes to. At some writes it kills all programs
// that run, before the write or after it, so that the answer of a write that was made gets lost.
type doom struct {
	mu      sync.Mutex
	random  *rand.Rand
	off     bool
	running map[*exec.Cmd]bool
	before  int // kills before a write
	after   int // kills after a write
}

// guard returns the address of a server that passes requests on to another one.
func (d *doom) guard(t *testing.T, target string, isSecure bool) string {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, MaxIdleConnsPerHost: 32}, //nolint:gosec // its own certificate
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host
			r.Out.Host = r.In.Host // it is signed
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		isWrite := r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "/pipelineruns/") ||
			r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/saas/v1/")
		if isWrite && d.strikes(&d.before) {
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
		if isWrite {
			d.strikes(&d.after)
		}
	})
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // programs that are killed leave connections behind
	if isSecure {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s.URL
}

// strikes kills all programs at some of the calls.
func (d *doom) strikes(count *int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.off || len(d.running) == 0 || d.random.IntN(12) > 0 {
		return false
	}
	for cmd := range d.running {
		_ = cmd.Process.Kill() // it may have ended
	}
	*count++
	return true
}

// watch takes a program among those that are killed; it returns what takes it out again.
func (d *doom) watch(cmd *exec.Cmd) func() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running[cmd] = true
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.running, cmd)
	}
}

// calm ends the kills.
func (d *doom) calm() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.off = true
}
