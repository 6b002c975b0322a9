package kube

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/internal/retry"
)

// A Call is one request about objects of a resource.
type Call struct {
	Method string
	Verbs  string // what a role must allow, such as "get"
	Ref    integration.ObjectRef
	Path   []string // of the address, if the call is not about objects
	Query  url.Values
	Kind   string // media type of the body
	Accept string // media types of the answer; "" is JSON
	Body   []byte
}

// String returns what the call does, for messages.
func (c Call) String() string {
	if c.Path != nil {
		return c.Verbs + " /" + strings.Join(c.Path, "/")
	}
	text := c.Verbs + " " + resourceName(c.Ref.Resource)
	if c.Ref.Name != "" {
		text += fmt.Sprintf(" %q", c.Ref.Name)
	}
	if c.Ref.Namespace != "" {
		text += fmt.Sprintf(" in namespace %q", c.Ref.Namespace)
	}
	return text
}

// resourceName returns the name that a resource has in a role, with its group.
func resourceName(r integration.Resource) string {
	if r.Group == "" {
		return r.Plural
	}
	return r.Plural + "." + r.Group
}

// segment matches a part of an address that has no meaning of its own.
var segment = lazyregexp.New(`^[A-Za-z0-9][-A-Za-z0-9._:]{0,252}$`)

// address returns the URL of a call.
func (c *Connection) address(of Call) (*url.URL, error) {
	r := of.Ref
	path := []string{"api", r.Version}
	if r.Group != "" {
		path = []string{"apis", r.Group, r.Version}
	}
	if r.Namespace != "" {
		path = append(path, "namespaces", r.Namespace)
	}
	path = append(path, r.Plural)
	if of.Method != http.MethodGet || r.Name != "" {
		path = append(path, r.Name)
	}
	if of.Path != nil {
		path = of.Path
	}
	for _, part := range path {
		if !segment.MatchString(part) {
			return nil, fmt.Errorf("%.100q cannot be a part of the name of an object", part)
		}
	}
	u := c.base.JoinPath(path...)
	u.RawQuery = of.Query.Encode()
	return u, nil
}

// Send sends a request, again if that may help, and returns the answer.
//
// A request that reads is sent again after every failure that may pass by itself. A request
// that writes is sent again only if the server says that it did nothing (429), or asks to come
// back (503 with Retry-After). All writes are conditional, so none is done twice.
func (c *Connection) Send(ctx context.Context, of Call) ([]byte, error) {
	u, err := c.address(of)
	if err != nil {
		return nil, c.Refuse(of, err.Error())
	}
	var raw []byte
	err = c.retries.Do(ctx, func(ctx context.Context) error {
		raw, err = c.try(ctx, of, u)
		return err
	}, func(err error) (time.Duration, bool) {
		var t *trouble
		if !errors.As(err, &t) || t.class != integration.FailureTransient {
			return 0, false
		}
		again := of.Method == http.MethodGet || t.code == http.StatusTooManyRequests ||
			t.code == http.StatusServiceUnavailable && t.after > 0
		return t.after, again
	})
	if err != nil {
		return nil, c.explain(of, err)
	}
	return raw, nil
}

// try sends a request once. A failure is a trouble, or that of the context.
func (c *Connection) try(ctx context.Context, of Call, u *url.URL) ([]byte, error) {
	if err := c.limit.Wait(ctx); err != nil {
		return nil, &trouble{text: err.Error(), class: integration.FailureTransient}
	}
	req, err := http.NewRequestWithContext(ctx, of.Method, u.String(), bytes.NewReader(of.Body))
	if err != nil {
		return nil, &trouble{text: err.Error()}
	}
	req.Header.Set("User-Agent", c.manager)
	req.Header.Set("Accept", cmp.Or(of.Accept, "application/json"))
	if of.Kind != "" {
		req.Header.Set("Content-Type", of.Kind)
	}
	answer, err := c.client.Do(req)
	if err != nil {
		return nil, unreachable(err)
	}
	defer func() { _ = answer.Body.Close() }() // nothing is written through it
	raw, err := io.ReadAll(io.LimitReader(answer.Body, int64(c.largest)+1))
	switch {
	case err != nil:
		return nil, &trouble{text: "the answer ended early: " + err.Error(), class: integration.FailureTransient}
	case len(raw) > c.largest:
		return nil, &trouble{text: fmt.Sprintf("the answer has more than %d MB", c.largest>>20)}
	case answer.StatusCode >= 200 && answer.StatusCode <= http.StatusAccepted:
		return raw, nil
	}
	after, _ := retry.After(answer.Header, time.Now())
	return nil, readTrouble(answer.StatusCode, raw, after)
}
