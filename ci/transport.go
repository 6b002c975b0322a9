package ci

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/retry"
)

// How long parts of a request may take, and how large answers may be, in bytes.
const (
	connectTimeout = 10 * time.Second
	maxAnswer      = 64 << 20
	maxRefusal     = 64 << 10
	maxArchive     = 100 << 20
	maxRedirects   = 5
	maxCAFile      = 4 << 20
)

// errTooLarge is an answer that does not fit.
var errTooLarge = retry.Permanent(errors.New("the answer is larger than allowed"))

// newTransport returns what sends the requests: it bounds the answers.
func newTransport(o Options) (http.RoundTripper, error) {
	if o.Transport != nil {
		return bounded{o.Transport}, nil
	}
	t := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: connectTimeout,
		IdleConnTimeout:     time.Minute,
		ForceAttemptHTTP2:   true,
	}
	if o.CAFile != "" {
		pool, err := certificates(o.CAFile)
		if err != nil {
			return nil, fmt.Errorf("CI_SERVER_TLS_CA_FILE: %w", err)
		}
		t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return bounded{t}, nil
}

func certificates(name string) (*x509.CertPool, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxCAFile))
	if err != nil {
		return nil, err
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(raw) {
		return nil, fmt.Errorf("%q holds no certificate", name)
	}
	return pool, nil
}

// bounded is a transport whose answers end with an error when they are too large.
type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := b.RoundTripper.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	res.Header.Del("Link")            // the library panics on some, and pages are counted here
	res.Header.Del("RateLimit-Limit") // the library would slow down by itself
	limit := int64(maxAnswer)
	switch {
	case res.StatusCode >= http.StatusBadRequest:
		limit = maxRefusal
	case ofArtifacts(req):
		limit = maxArchive
	}
	res.Body = &capped{ReadCloser: res.Body, left: limit}
	return res, nil
}

// capped ends with errTooLarge where more comes than was allowed.
type capped struct {
	io.ReadCloser
	left int64
}

func (b *capped) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}

// artifactsKey marks the requests for artifacts.
type artifactsKey struct{}

func ofArtifacts(req *http.Request) bool { return req.Context().Value(artifactsKey{}) != nil }

// redirect follows for artifacts only, which may lie in a store of objects that
// the token is not for. Everything else must be answered by whom it was sent to.
func redirect(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch {
	case !ofArtifacts(req):
		return retry.Permanent(fmt.Errorf("it redirects to %s://%s, which is not followed: CI_API_V4_URL must be the final address", req.URL.Scheme, req.URL.Host))
	case len(via) > maxRedirects:
		return retry.Permanent(errors.New("it redirects too often"))
	case first.Scheme == "https" && req.URL.Scheme != "https":
		return retry.Permanent(errors.New("it redirects to an address without encryption, which is not followed"))
	}
	if !strings.EqualFold(req.URL.Host, first.Host) || req.URL.Scheme != first.Scheme {
		for _, h := range tokenHeaders {
			req.Header.Del(h)
		}
	}
	return nil
}
