package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/internal/retry"
)

// Limits of time, of the size of answers in bytes, and of connections.
const (
	connectTimeout  = 10 * time.Second
	headerTimeout   = 2 * time.Minute // a query over all datafiles is evaluated before the first byte
	requestTimeout  = 5 * time.Minute
	maxAnswer       = 1 << 30
	maxRefusalBytes = 4 << 10
	maxConnections  = 8
	maxRedirects    = 5
)

// A Connection says how to reach a server. The zero value works.
type Connection struct {
	// Authorization is the value of the Authorization header. "" sends no such
	// header. The value appears in no error.
	Authorization string
	// Transport sends the requests. nil means a transport with timeouts that uses
	// the proxy of the environment.
	Transport http.RoundTripper
}

// A Client sends requests to one server.
type Client struct {
	server string
	auth   string
	masker *mask.Masker // hides the authorization in what the server says
	http   *http.Client
}

// NewClient returns a client of a server, which is given by its address.
func NewClient(server string, opts Connection) *Client {
	transport := opts.Transport
	if transport == nil {
		transport = &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout:   connectTimeout,
			ResponseHeaderTimeout: headerTimeout,
			IdleConnTimeout:       time.Minute,
			MaxConnsPerHost:       maxConnections,
			MaxIdleConnsPerHost:   maxConnections,
			ForceAttemptHTTP2:     true,
		}
	}
	return &Client{
		server: server, auth: opts.Authorization, masker: mask.New(secretsOf(opts.Authorization)),
		http: &http.Client{Transport: transport, CheckRedirect: checkRedirect},
	}
}

// checkRedirect allows redirects only to the server of the first request.
func checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	if req.URL.Scheme != first.Scheme || req.URL.Host != first.Host {
		return errOtherServer
	}
	if len(via) > maxRedirects {
		return errTooManyRedirects
	}
	return nil
}

var (
	errOtherServer = errors.New("it redirects to another server, which is not followed: give the address of that " +
		"server if it is the right one")
	errTooManyRedirects = errors.New("it redirects too often")
)

// A StatusError is an answer with an unexpected status.
type StatusError struct {
	Status int
	Text   string        // the beginning of the answer
	after  time.Duration // how long the server asks to wait; 0 if it does not
}

// Error returns the status, the beginning of the answer, and how to send a password.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("status %d: %.200q", e.Status, e.Text)
	if e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden {
		text += "; put what it wants as Authorization into PRCHECK_AUTHORIZATION"
	}
	return text
}

// IsSilent reports whether an error says that a server does not answer at present: it cannot be reached, it breaks off,
// or it says itself that it is not able to answer. A server that refuses is not silent.
func IsSilent(err error) bool {
	var refused *StatusError
	if errors.As(err, &refused) {
		_, ok := mayPass(err)
		return ok
	}
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// A call is a request to the server, with the rules for its answer.
type call struct {
	method, path string // the path is escaped
	body         []byte
	accept       func(status int) bool // reports which statuses beside 200 are expected; may be nil
	limit        int64                 // maximal size of the answer in bytes
}

// do sends a request, repeats it if it may succeed later, and returns status and body of
// the answer.
func (c *Client) do(ctx context.Context, x call) (int, []byte, error) {
	var status int
	var body []byte
	err := requests.Do(ctx, func(ctx context.Context) (err error) {
		status, body, err = c.sendOnce(ctx, x)
		return err
	}, mayPass)
	switch {
	case err == nil:
		return status, body, nil
	case ctx.Err() != nil:
		return 0, nil, context.Cause(ctx)
	}
	return 0, nil, fmt.Errorf("asking %s%s: %w", c.server, x.path, err)
}

// mayPass reports whether the next attempt may succeed after an error, and how long
// the server asked to wait.
func mayPass(err error) (after time.Duration, ok bool) {
	var refused *StatusError
	if !errors.As(err, &refused) {
		return 0, true
	}
	return refused.after, refused.Status == http.StatusTooManyRequests || refused.Status >= http.StatusInternalServerError
}

// sendOnce sends a request once.
func (c *Client) sendOnce(ctx context.Context, x call) (int, []byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, requestTimeout,
		errors.New("the answer took more than "+requestTimeout.String()))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, x.method, c.server+x.path, bytes.NewReader(x.body))
	if err != nil {
		return 0, nil, err
	}
	if x.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json")
	if c.auth != "" {
		req.Header.Set("Authorization", c.auth)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return 0, nil, plainError(ctx, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK && (x.accept == nil || !x.accept(res.StatusCode)) {
		text, _ := io.ReadAll(io.LimitReader(res.Body, maxRefusalBytes)) // a part of the text is enough
		return 0, nil, &StatusError{Status: res.StatusCode, Text: c.masker.Text(string(text)), after: retryAfter(res.Header)}
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, x.limit+1))
	switch {
	case err != nil:
		return 0, nil, fmt.Errorf("the answer was cut short: %w", plainError(ctx, err))
	case int64(len(body)) > x.limit:
		return 0, nil, retry.Permanent(fmt.Errorf("the answer is larger than %d bytes", x.limit))
	}
	return res.StatusCode, body, nil
}

// minSecretWord is the size in bytes below which a word of the authorization is no
// secret, such as Basic or Bearer.
const minSecretWord = 7

// secretsOf returns the secrets of an Authorization header, which a server may repeat:
// its whole value, and the words in it.
func secretsOf(authorization string) []string {
	secrets := []string{authorization}
	for _, word := range strings.Fields(authorization) {
		if len(word) >= minSecretWord {
			secrets = append(secrets, word)
		}
	}
	return secrets
}

// plainError returns an error of net/http without the address, which the caller adds.
func plainError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, never := range []error{errOtherServer, errTooManyRedirects} {
		if errors.Is(err, never) {
			return retry.Permanent(never)
		}
	}
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// get requests a path by GET and returns the body of the answer.
func (c *Client) get(ctx context.Context, path string) ([]byte, error) {
	_, body, err := c.do(ctx, call{method: http.MethodGet, path: path, limit: maxAnswer})
	return body, err
}

// badAnswer returns the error for an answer that cannot be parsed.
func (c *Client) badAnswer(path string, err error) error {
	return fmt.Errorf("asking %s%s: the answer is not what a qontract-server gives: %w", c.server, path, err)
}

// explainNotFound returns an UnknownBundleError if err means that the server does not have a
// bundle, and err otherwise.
func (c *Client) explainNotFound(err error, sha string) error {
	var status *StatusError
	if sha == "" || !errors.As(err, &status) || status.Status != http.StatusNotFound {
		return err
	}
	gone := strings.Contains(status.Text, "Bundle "+sha) || strings.Contains(status.Text, "/graphqlsha/"+sha)
	if !gone {
		return err
	}
	return &UnknownBundleError{Server: c.server, SHA256: sha}
}

// An UnknownBundleError reports that a server does not have a bundle.
type UnknownBundleError struct {
	Server, SHA256 string
	Known          []string // sha256 of bundles that the server has, as far as it shows them
}

// Error returns a message that says what to do.
func (e *UnknownBundleError) Error() string {
	text := fmt.Sprintf("%s does not have bundle %s: it has expired there or was never loaded; let the server load "+
		"it again", e.Server, e.SHA256)
	if len(e.Known) > 0 {
		text += ", or take one that it has: " + strings.Join(e.Known, ", ")
	}
	return text
}

// maxKnownBundles is the largest number of bundles in an UnknownBundleError.
const maxKnownBundles = 10

// explainUnknownBundle does the same as explainNotFound, and adds the bundles that the server
// has to an UnknownBundleError.
func (c *Client) explainUnknownBundle(ctx context.Context, err error, sha string) error {
	err = c.explainNotFound(err, sha)
	var missing *UnknownBundleError
	if !errors.As(err, &missing) {
		return err
	}
	raw, failure := c.get(ctx, "/cache")
	var cache struct{ Bundles []string }
	if failure != nil || json.Unmarshal(raw, &cache) != nil {
		return err
	}
	known := slices.DeleteFunc(cache.Bundles, func(s string) bool { return !sha256Form.MatchString(s) })
	missing.Known = known[:min(len(known), maxKnownBundles)]
	return missing
}

// maxAfter is the longest time to wait if a server asks to wait.
const maxAfter = 30 * time.Second

// requests is how requests to a server are repeated.
var requests = retry.Policy{Attempts: 5, FirstPause: 200 * time.Millisecond, MaxPause: 5 * time.Second}

// retryAfter returns how long a server asks to wait, up to [maxAfter].
func retryAfter(header http.Header) time.Duration {
	after, _ := retry.After(header, time.Now())
	return min(after, maxAfter)
}
