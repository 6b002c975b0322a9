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

// Limits of time, and of the size of answers in bytes.
const (
	connectTimeout = 10 * time.Second
	maxAnswer      = 64 << 20
	maxRefusal     = 64 << 10
	maxArchive     = 100 << 20
	maxRedirects   = 5
	maxCAFile      = 4 << 20
)

// errTooLarge reports that an answer is larger than allowed.
var errTooLarge = retry.Permanent(errors.New("the answer is larger than allowed"))

// newTransport returns a transport that limits the size of answers.
func newTransport(o Options) (http.RoundTripper, error) {
	if o.Transport != nil {
		return limitedTransport{o.Transport}, nil
	}
	t := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: connectTimeout,
		IdleConnTimeout:     time.Minute,
		ForceAttemptHTTP2:   true,
	}
	if o.CAFile != "" {
		pool, err := readCertificates(o.CAFile)
		if err != nil {
			return nil, fmt.Errorf("CI_SERVER_TLS_CA_FILE: %w", err)
		}
		t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return limitedTransport{t}, nil
}

// readCertificates returns the certificates of the system and those in a file.
func readCertificates(name string) (*x509.CertPool, error) {
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

// A limitedTransport is a transport whose answers end with errTooLarge if they are too large.
type limitedTransport struct{ http.RoundTripper }

// RoundTrip sends a request and limits the size of its answer.
func (b limitedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := b.RoundTripper.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	res.Header.Del("Link")            // the library panics on some values, and does not need it for pages
	res.Header.Del("RateLimit-Limit") // the library would slow down its requests
	limit := int64(maxAnswer)
	switch {
	case res.StatusCode >= http.StatusBadRequest:
		limit = maxRefusal
	case isArtifactRequest(req):
		limit = maxArchive
	}
	res.Body = &limitedBody{ReadCloser: res.Body, left: limit}
	return res, nil
}

// A limitedBody ends with errTooLarge if it is larger than allowed.
type limitedBody struct {
	io.ReadCloser
	left int64
}

// Read reads from the body until the limit.
func (b *limitedBody) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}

// An artifactsKey is the key of a context value that marks requests for artifacts.
type artifactsKey struct{}

// isArtifactRequest reports whether a request is for artifacts.
func isArtifactRequest(req *http.Request) bool { return req.Context().Value(artifactsKey{}) != nil }

// checkRedirect allows redirects of requests for artifacts only, since GitLab may keep
// artifacts in an object store. Another host does not get the token.
func checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch {
	case !isArtifactRequest(req):
		return retry.Permanent(fmt.Errorf("it redirects to %s://%s, which is not followed: CI_API_V4_URL must be the final "+
			"address", req.URL.Scheme, req.URL.Host))
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
