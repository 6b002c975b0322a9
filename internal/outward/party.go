package outward

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/origin"
)

// A Party is one server that may be asked, with what may be sent there.
type Party struct {
	At            origin.Origin            // where the server is
	May           func(*http.Request) bool // whether a request may be sent that is neither GET nor HEAD; nil is never
	Authorization string                   // the credential: the value of the header of this name; "" for none
	Header        string                   // the name of the header of the credential; "" is Authorization
	Insecure      bool                     // the certificate of the server is not checked
	Follows       int                      // how many redirects a request may follow on the server
	Timeout       time.Duration            // of a request of [Party.Client] with its answer; 0 is for ever
	Largest       int64                    // how many bytes an answer may have; 0 is 64 MiB
	Remedy        string                   // what to do if another server is meant
}

// The remedies of parties that data name.
const (
	// NameInData is the remedy if data name the server.
	NameInData = "name that one in the data, if you trust it"
	// AddToHosts is the remedy if settings can name the server.
	AddToHosts = "add it to hosts in the settings, if it is trusted"
)

// largest is how many bytes an answer may have if the party does not say it.
const largest = 64 << 20

// Anything is for [Party.May]: everything may be sent.
func Anything(*http.Request) bool { return true }

// A RefusedError says why something is not sent, or an answer is not followed. It has the class config.
type RefusedError struct{ why string }

// Error returns the reason with what to do.
func (r *RefusedError) Error() string { return r.why }

// FailureClass returns the class, as package integration names it.
func (r *RefusedError) FailureClass() string { return "config" }

// IsRefused reports whether something was not sent, or an answer was not followed.
func IsRefused(err error) bool { return errors.As(err, new(*RefusedError)) }

// refuse returns the error of something that is not sent.
func (p Party) refuse(format string, args ...any) error {
	why := fmt.Sprintf(format, args...)
	if p.Remedy != "" {
		why += ": " + p.Remedy
	}
	return &RefusedError{why}
}

// Check returns why a request is not sent, nil if it may be.
func (p Party) Check(req *http.Request) error {
	at, err := origin.Any(req.URL)
	if err != nil || at != p.At {
		return p.refuse("nothing is sent to %.200q, which is another server than %s", req.URL.Host, p.At)
	}
	if req.Host != "" && !strings.EqualFold(req.Host, req.URL.Host) {
		return p.refuse("nothing is sent for %.200q, which is another server than %s", req.Host, p.At)
	}
	if err := p.checkCredential(); err != nil {
		return err
	}
	switch req.Method {
	case http.MethodGet, http.MethodHead, "":
		return nil
	}
	if p.May == nil || !p.May(req) {
		return &RefusedError{fmt.Sprintf("a connection that does not write sends no %.20s", req.Method)}
	}
	return nil
}

// checkCredential returns why the credential is sent to nobody.
func (p Party) checkCredential() error {
	if p.Authorization == "" {
		return nil
	}
	if !p.At.IsPrivate() {
		return &RefusedError{fmt.Sprintf("%s would get a credential over http: name it with https", p.At)}
	}
	if p.Header != "" {
		return p.checkHeader()
	}
	scheme, value, _ := strings.Cut(p.Authorization, " ")
	if scheme == "" || value == "" || strings.ContainsFunc(scheme+value, func(c rune) bool {
		return c <= ' ' || c > '~'
	}) {
		return &RefusedError{"the credential is empty, or has characters that no header has"}
	}
	return nil
}

// checkHeader returns why no request gets a header with the credential.
func (p Party) checkHeader() error {
	isToken := func(c rune) bool {
		return c > ' ' && c <= '~' && !strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c)
	}
	switch {
	case strings.ContainsFunc(p.Header, func(c rune) bool { return !isToken(c) }),
		reserved[http.CanonicalHeaderKey(p.Header)]:
		return &RefusedError{fmt.Sprintf("no credential has the name %.100q of a header", p.Header)}
	case strings.TrimSpace(p.Authorization) != p.Authorization,
		strings.ContainsFunc(p.Authorization, func(c rune) bool { return c < ' ' || c > '~' }):
		return &RefusedError{"the credential has characters that no header has"}
	}
	return nil
}

// reserved are headers that say what a request is, and so hold no credential.
var reserved = map[string]bool{"Host": true, "Content-Length": true, "Content-Type": true, "Transfer-Encoding": true,
	"Connection": true, "Accept": true, "If-Match": true, "If-None-Match": true, "Te": true, "Trailer": true,
	"Upgrade": true, "Expect": true, "Proxy-Authorization": true, "Content-Encoding": true, "Accept-Encoding": true,
	"Location": true}

// CheckAddress returns why a program that sends requests by itself, such as git, is not given an address of the server
// with the credential, nil if it is. The program must follow no redirect to another server.
func (p Party) CheckAddress(address string) error {
	req, err := http.NewRequest(http.MethodGet, address, http.NoBody) //nolint:noctx // nobody sends it
	if err != nil {
		return p.refuse("nothing is sent to an address that is none")
	}
	return p.Check(req)
}

// Offline returns variables of the environment with which a program that heeds proxies asks nobody but this machine:
// all proxies are one that is not there.
func Offline() []string {
	var out []string
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		out = append(out, name+"=http://127.0.0.1:1")
	}
	return append(out, "NO_PROXY=", "no_proxy=")
}

// A failedError is an error of a connection with its class.
type failedError struct {
	error
	class string
}

// Unwrap returns the error of the connection.
func (f failedError) Unwrap() error { return f.error }

// FailureClass returns the class, as package integration names it.
func (f failedError) FailureClass() string { return f.class }

// lost returns the error of an answer that did not come.
func lost(format string, args ...any) error {
	return failedError{fmt.Errorf(format, args...), "transient"}
}

// Explain returns the error of a request for people: without the address, which they know, and without words of the
// server. who is the server, such as "it".
func Explain(ctx context.Context, who string, err error) error {
	var refused *RefusedError
	var certificate *tls.CertificateVerificationError
	var connection *net.OpError
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.Is(err, context.DeadlineExceeded):
		return lost("%s does not answer in time", who)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &certificate):
		return failedError{fmt.Errorf("the certificate of %s cannot be trusted: %w; let SSL_CERT_FILE name its authority",
			who, certificate), "config"}
	case errors.As(err, &connection):
		return lost("reaching %s: %w", who, connection)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return lost("%s ends its answer early", who)
	}
	return lost("%s gives no answer that can be read", who)
}
