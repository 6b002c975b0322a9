package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// A wire answers all that one run sends, and writes it down. Each host is a handler in memory.
type wire struct {
	hosts map[string]http.Handler // by HOST or HOST:PORT as addresses have them
	other http.Handler            // answers for hosts that nobody has named
	// owned returns the credentials that a host gets by the data or the settings of base: their
	// names by their values.
	owned func(host string) map[string]string

	mu    sync.Mutex
	lines []string
}

// current is the wire of the run that goes on. A process makes one run at a time, because all
// clients of the product share the transport of the process.
var current atomic.Pointer[wire]

// plug makes the transport of the process lead to the current wire. The clients of the product
// are copies of this transport. Each request has a connection of its own, so that no connection
// of one run is used by the next.
func plug() {
	http.DefaultTransport = &http.Transport{DisableKeepAlives: true, DialContext: dialPlain, DialTLSContext: dialTLS}
}

// awayOnce returns a stand-in that is away when it gets a request for the first time whose path has a text.
func awayOnce(of http.Handler, text string) http.Handler {
	var mu sync.Mutex
	seen := map[string]bool{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		key := r.Method + " " + r.URL.RequestURI()
		is := seen[key] || !strings.Contains(r.URL.Path, text)
		seen[key] = true
		mu.Unlock()
		if !is {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		of.ServeHTTP(w, r)
	})
}

// errUnplugged says that something was sent when no run was going on.
var errUnplugged = errors.New("there is no run")

func dialTLS(_ context.Context, _, address string) (net.Conn, error) {
	w := current.Load()
	if w == nil {
		return nil, errUnplugged
	}
	return w.connect("https", address), nil
}

// dialPlain connects without TLS. This machine has the server for queries of the runner, whose
// port nobody knows: what is open there is reached, and everything else is on the wire.
func dialPlain(ctx context.Context, network, address string) (net.Conn, error) {
	w := current.Load()
	if w == nil {
		return nil, errUnplugged
	}
	host, _, _ := net.SplitHostPort(address)
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() && w.hosts[address] == nil {
		if c, err := (&net.Dialer{}).DialContext(ctx, network, address); err == nil {
			return c, nil
		}
	}
	return w.connect("http", address), nil
}

// connect returns one end of a connection. The stand-in of the host answers one request at the
// other end.
func (w *wire) connect(scheme, address string) net.Conn {
	w.note("connect %s %s", scheme, address)
	near, far := net.Pipe()
	go w.serve(scheme, address, far)
	return near
}

// serve reads one request and answers it.
func (w *wire) serve(scheme, address string, c net.Conn) {
	defer func() { _ = c.Close() }() // the client has its answer
	r, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return // nothing was sent
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	host := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(address), ":443"), ":80")
	w.note("%s %s://%s%s host %s headers %s body %s", r.Method, scheme, address, r.URL.RequestURI(), r.Host,
		w.headers(host, r.Header), body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	handler := w.hosts[host]
	if handler == nil {
		handler = w.other
	}
	handler.ServeHTTP(answer, r)
	res := answer.Result()
	res.Request, res.Close, res.ContentLength = r, true, int64(answer.Body.Len())
	_ = res.Write(c) // a client that went away needs no answer
}

// headers returns the headers of a request to a host on one line, sorted. A credential that base
// gives to the host has its name there.
func (w *wire) headers(host string, of http.Header) string {
	var out []string
	for name, values := range of {
		for _, value := range values {
			if name == "Private-Token" {
				value = named(w.owned(host), value)
			}
			out = append(out, name+": "+w.anonymous(host, value))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

// anonymous returns the value of a header with the names of credentials in their place. Only a
// credential as a whole is replaced: as a bearer token, or as a user or a password.
func (w *wire) anonymous(host, value string) string {
	owned := w.owned(host)
	if scheme, rest, ok := strings.Cut(value, " "); ok && scheme == "Basic" {
		raw, err := base64.StdEncoding.DecodeString(rest)
		user, password, ok := strings.Cut(string(raw), ":")
		if err != nil || !ok {
			return value
		}
		return "Basic " + named(owned, user) + ":" + named(owned, password)
	} else if ok && scheme == "Bearer" {
		return "Bearer " + named(owned, rest)
	}
	return value
}

// named returns the name of a credential, and everything else as it is.
func named(owned map[string]string, value string) string {
	if name, ok := owned[value]; ok && value != "" {
		return "(" + name + ")"
	}
	return value
}

// note writes a line down.
func (w *wire) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, fmt.Sprintf(format, args...))
}

// sent returns all lines, sorted: what runs side by side has no order.
func (w *wire) sent() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(slices.Values(w.lines))
}

// forget drops all lines.
func (w *wire) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = nil
}
