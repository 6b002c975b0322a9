package systems

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/origin"
)

// maxEndpointAnswer is how many bytes an answer of an API may have.
const maxEndpointAnswer = 64 << 20

// An endpoint sends requests to one API, with its token.
type endpoint struct {
	*Systems
	ref       integration.EndpointRef
	base      *url.URL
	mayWrite  bool
	triesOnly bool // every verb, but only with dryRun=All
}

// EndpointReader returns what sends requests to an API that change nothing.
func (s *Systems) EndpointReader(_ context.Context, ref integration.EndpointRef) (http.RoundTripper, error) {
	return s.endpoint(endpoint{ref: ref})
}

// EndpointTrial returns what sends requests to an API that change nothing, because they are GET
// or HEAD or say dryRun=All.
func (s *Systems) EndpointTrial(_ context.Context, ref integration.EndpointRef) (http.RoundTripper, error) {
	return s.endpoint(endpoint{ref: ref, triesOnly: true})
}

// EndpointWriter returns what sends any request to an API.
func (s *Systems) EndpointWriter(_ context.Context, ref integration.EndpointRef) (http.RoundTripper, error) {
	return s.endpoint(endpoint{ref: ref, mayWrite: true})
}

func (s *Systems) endpoint(e endpoint) (http.RoundTripper, error) {
	var err error
	if e.base, err = parseEndpoint(e.ref.URL); err != nil {
		return nil, asConfig(fmt.Errorf("the API %.100q: %w", e.ref.Name, err))
	}
	if e.ref.Insecure && !origin.IsThisMachine(e.base.Hostname()) && e.ref.Token != (integration.SecretRef{}) {
		return nil, asConfig(fmt.Errorf("the API %.100q: a token is sent only to a server whose certificate is checked: remove insecure", e.ref.Name))
	}
	e.Systems = s
	return e, nil
}

// parseEndpoint reads the address of an API.
func parseEndpoint(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" {
		return nil, errors.New("its address must be https://HOST, without a user and without a query")
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !origin.IsThisMachine(u.Hostname())) {
		return nil, errors.New("its address must begin with https://; http:// is allowed for this machine alone")
	}
	return u, nil
}

// RoundTrip implements [http.RoundTripper].
func (e endpoint) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := e.check(req); err != nil {
		closeBody(req)
		return nil, err
	}
	out := req.Clone(req.Context())
	out.Header.Del("Authorization")
	if e.ref.Token != (integration.SecretRef{}) {
		token, err := e.Secret(req.Context(), e.ref.Token)
		if err != nil {
			closeBody(req)
			return nil, fmt.Errorf("the token of the API %.100q: %w", e.ref.Name, err)
		}
		if token = strings.TrimSpace(token); strings.ContainsFunc(token, isNoHeader) {
			closeBody(req)
			return nil, asConfig(fmt.Errorf("the token of the API %.100q has characters that no header has", e.ref.Name))
		}
		out.Header.Set("Authorization", "Bearer "+token)
	}
	transport := e.checked
	if e.ref.Insecure {
		transport = e.unchecked
	}
	res, err := transport.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= 300 && res.StatusCode < 400 && res.StatusCode != http.StatusNotModified {
		_ = res.Body.Close() // the error says why it is not read
		return nil, asConfig(fmt.Errorf("the API %.100q sends us to another address: name that one in the data, if you trust it", e.ref.Name))
	}
	res.Body = &boundedBody{ReadCloser: res.Body, left: maxEndpointAnswer, tooLong: errLongAnswer}
	return res, nil
}

// errLongAnswer says that an answer has more than maxEndpointAnswer bytes.
var errLongAnswer = fmt.Errorf("the answer has more than %d MiB", maxEndpointAnswer>>20)

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close() // nothing was sent
	}
}

// isNoHeader reports whether a character ends a header or is no part of a token.
func isNoHeader(c rune) bool { return c <= ' ' || c > '~' }

// check returns why a request is not sent.
func (e endpoint) check(req *http.Request) error {
	if req.URL.Scheme != e.base.Scheme || !strings.EqualFold(req.URL.Host, e.base.Host) || req.URL.User != nil {
		return asConfig(fmt.Errorf("the API %.100q is at %s: nothing is sent to %.200q", e.ref.Name, e.base.Host, req.URL.Host))
	}
	if req.Host != "" && !strings.EqualFold(req.Host, e.base.Host) {
		return asConfig(fmt.Errorf("the API %.100q is at %s: nothing is sent for %.200q", e.ref.Name, e.base.Host, req.Host))
	}
	if e.mayWrite || e.isReading(req) {
		return nil
	}
	if e.triesOnly {
		if all := req.URL.Query()["dryRun"]; len(all) == 1 && all[0] == "All" {
			return nil
		}
	}
	return fmt.Errorf("a dry run sends no %s", req.Method)
}

// isReading reports whether a request changes nothing.
func (e endpoint) isReading(req *http.Request) bool {
	switch req.Method {
	case http.MethodGet, http.MethodHead, "":
		return true
	case http.MethodPost:
		path := req.URL.EscapedPath()
		return slices.Contains(e.ref.Reads, path[strings.LastIndexByte(path, '/')+1:])
	}
	return false
}

// newTransports returns what sends requests with and without a look at the certificate of the
// server. An address of a proxy comes from the environment.
func newTransports() (checked, unchecked http.RoundTripper) {
	own, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport, http.DefaultTransport
	}
	plain, open := own.Clone(), own.Clone()
	plain.MaxIdleConnsPerHost, open.MaxIdleConnsPerHost = maxIdle, maxIdle
	open.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} //nolint:gosec // the data say so, and only this machine gets a token
	return plain, open
}

// maxIdle is how many connections to one host are kept.
const maxIdle = 32
