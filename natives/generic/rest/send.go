package rest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/retry"
	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/generic/operation"
)

const (
	defaultAttempts = 6
	maxBusy         = 30       // answers that tell when to come back, before they count as failures
	defaultMaxBody  = 16 << 20 // bytes
	longestWait     = 10 * time.Minute
	longestPause    = 3 * time.Minute
	firstPause      = 10 * time.Second
)

// A request is sent as often as needed.
type request struct {
	method string
	uri    string // path and query below the endpoint, or a whole address of it
	body   []byte
	media  string
	header map[string]string
	root   string // whose limit counts
	about  string // the type, for messages
	// isOnce says that it must not be sent again if it may have been carried out.
	isOnce bool
}

func (r request) kind() family.Kind {
	switch r.method {
	case http.MethodGet, http.MethodHead:
		return family.Reads
	case http.MethodDelete:
		return family.Deletes
	}
	return family.Writes
}

// attempts is how often a request is sent at most.
func (c *Client) attempts() int {
	if c.Attempts == 0 {
		return defaultAttempts
	}
	return c.Attempts
}

// send sends a request until there is an answer that is no failure, or a failure that another
// attempt does not mend. A write that may have been carried out is not repeated: the error is
// doubtful then, and the caller looks at the resource first.
func (c *Client) send(ctx context.Context, r request) (operation.Answer, error) {
	for failures, busy := 1, 0; ; failures++ {
		a, err := c.once(ctx, r)
		var e *Error
		switch {
		case err == nil:
			return a, nil
		case ctx.Err() != nil:
			return a, context.Cause(ctx)
		case !errors.As(err, &e) || e.Class != Retry:
			return a, err
		case r.kind() != family.Reads && !e.isUnheard:
			e.isDoubtful = !r.isOnce
			return a, err
		case failures >= c.attempts():
			return a, retry.Tried(err, failures)
		}
		pause := c.pause(failures, e.After)
		if e.Status == http.StatusTooManyRequests && e.After > 0 { // the service knows when it has time
			pause = e.After + time.Duration(c.random()*float64(time.Second))
			if busy++; busy < maxBusy {
				failures--
			}
		}
		if c.Patience != nil && r.kind() == family.Reads && pause > c.readTime(c.Clock.Fill().Now()) {
			return a, retry.Tried(err, failures)
		}
		if err := c.Clock.Fill().Sleep(ctx, pause); err != nil {
			return a, err
		}
	}
}

// pause returns how long to wait after some failures: 10 s, each time half as much again, up to
// 180 s, by chance up to half more or less, and at least what the service asks for.
func (c *Client) pause(failures int, after time.Duration) time.Duration {
	pause := firstPause
	for range min(failures-1, 20) {
		pause = min(pause*3/2, longestPause)
	}
	random := c.random()
	pause = min(pause/2+time.Duration(random*float64(pause)), longestPause)
	return max(pause, min(after, longestWait))
}

// once sends a request one time. A status of 300 and more is an error.
func (c *Client) once(ctx context.Context, r request) (operation.Answer, error) {
	if err := c.Throttle.wait(ctx, c.Clock.Fill(), c.Family, r.root, r.kind()); err != nil {
		return operation.Answer{}, err
	}
	if c.Patience != nil && r.kind() == family.Reads {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, max(c.readTime(c.Clock.Fill().Now()), lastTry), errPatience)
		defer cancel()
	}
	var l line
	req, err := c.build(l.watch(ctx), r)
	if err != nil {
		return operation.Answer{}, err
	}
	res, err := c.Transport.RoundTrip(req)
	if err != nil {
		return operation.Answer{}, c.unanswered(ctx, &l, err)
	}
	defer func() { _ = res.Body.Close() }() // all that is needed of it was read
	now := c.Clock.Fill().Now()
	if c.Patience != nil && res.StatusCode < 500 && res.StatusCode != http.StatusTooManyRequests {
		c.Patience.hear(now)
	}
	after, hasAfter := retry.After(res.Header, now)
	c.Throttle.learn(now, c.Family, r.root, r.kind(), res, min(after, longestWait))
	a := operation.Answer{Status: res.StatusCode, Header: res.Header}
	body, err := c.read(res)
	a.Body = body
	switch {
	case res.StatusCode >= 300 && res.StatusCode < 400 && res.StatusCode != http.StatusNotModified:
		return a, refusal(res.StatusCode, "%s answers with a redirect, which is not followed: check the endpoint",
			c.Endpoint.Host)
	case res.StatusCode < 300:
		return a, err
	}
	e := readFailure(res.StatusCode, body).error(r.about, c.text)
	if hasAfter {
		e.After = min(after, longestWait)
	}
	e.isUnheard = res.StatusCode < 500 && res.StatusCode != http.StatusRequestTimeout
	if err != nil && e.Code == "" {
		e.Message, e.isForeign = "the answer is no JSON", true
	}
	var unread *Error
	if errors.As(err, &unread) && e.isForeign && e.Class == Gone { // who answers may not know the resource at all
		e.Class, e.Message = unread.Class, unread.Message
	}
	c.reclassify(e, r.about)
	return a, e
}

// reclassify asks the hooks about a failure.
func (c *Client) reclassify(e *Error, typeName string) {
	if c.Classify == nil {
		return
	}
	if class := c.Classify(typeName, e.Status, e.Code, e.Message, e.Target); class != "" {
		e.Class = class
	}
}

// build makes a request to the host of the endpoint.
func (c *Client) build(ctx context.Context, r request) (*http.Request, error) {
	u, err := c.address(r.uri)
	if err != nil {
		return nil, err
	}
	if c.Trial && r.method != http.MethodGet {
		query := u.Query()
		query.Set("dryRun", "All")
		u.RawQuery = query.Encode()
	}
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, u.String(), body)
	if err != nil {
		return nil, refusal(0, "making the request: %s", c.text(err.Error()))
	}
	req.Header.Set("Accept", mediaJSON)
	if r.body != nil {
		req.Header.Set("Content-Type", r.media)
	}
	for name, value := range r.header {
		if strings.ContainsAny(value, "\r\n\x00") {
			return nil, refusal(0, "the header %s has a line break in it", name)
		}
		req.Header.Set(name, value)
	}
	return req, nil
}

// address returns the address of a path below the endpoint, or checks that a whole address is
// one of the endpoint.
func (c *Client) address(uri string) (*url.URL, error) {
	u, err := operation.Resolve(c.Endpoint, uri)
	if err != nil {
		return nil, &Error{Class: Fatal, Code: operation.CodeHost, Message: err.Error()}
	}
	return u, nil
}

// unanswered returns the error of a request that got no answer.
func (c *Client) unanswered(ctx context.Context, l *line, err error) error {
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), errPatience) {
		return context.Cause(ctx)
	}
	e := &Error{Class: Retry, Message: "no answer: " + c.text(err.Error()), err: err, isUnheard: l.isDead()}
	if integration.ClassOfFailure(err) == integration.FailureOfConfig { // our own transport refused it
		e.Class = Fatal
	}
	return e
}

// errPatience ends a read for which there is no more patience.
var errPatience = errors.New("the service takes too long")

// A line notes whether a request reached the service at all.
type line struct{ failed, connected atomic.Bool }

// watch returns a context in which a request tells the line.
func (l *line) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { l.connected.Store(true) },
		ConnectDone: func(_, _ string, err error) {
			if err != nil {
				l.failed.Store(true)
			}
		},
		DNSDone: func(info httptrace.DNSDoneInfo) {
			if info.Err != nil {
				l.failed.Store(true)
			}
		},
	})
}

// isDead reports whether there was certainly no connection.
func (l *line) isDead() bool { return l.failed.Load() && !l.connected.Load() }

// read reads the JSON body of an answer, nil if it is empty.
func (c *Client) read(res *http.Response) (any, error) {
	most := c.MaxBody
	if most == 0 {
		most = defaultMaxBody
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, most+1))
	switch {
	case err != nil:
		return nil, &Error{Class: Retry, Status: res.StatusCode, Message: "the answer is cut: " + c.text(err.Error()),
			err: err}
	case int64(len(raw)) > most:
		return nil, refusal(res.StatusCode, "the answer has more than %d MiB", most>>20)
	case len(bytes.TrimSpace(raw)) == 0:
		return nil, nil
	}
	if media, _, err := mime.ParseMediaType(res.Header.Get("Content-Type")); err != nil ||
		media != mediaJSON && !strings.HasSuffix(media, "+json") && media != "text/json" {
		return nil, refusal(res.StatusCode, "the answer of %s is %q, not JSON: check the endpoint", c.Endpoint.Host,
			c.text(res.Header.Get("Content-Type")))
	}
	body, err := decode(raw)
	if err != nil {
		e := refusal(res.StatusCode, "the answer is no JSON: %s", c.text(err.Error()))
		if errors.Is(err, errCut) {
			e.Class, e.Message = Retry, "the answer is cut"
		}
		return nil, e
	}
	return body, nil
}

// path returns the path and query of an address below the endpoint, for requests.
func (c *Client) path(uri string) string {
	return strings.TrimSuffix(c.Endpoint.EscapedPath(), "/") + uri
}
