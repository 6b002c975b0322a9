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

// A call is one request about objects of a resource.
type call struct {
	method string
	verbs  string // what a role must allow, such as "get"
	ref    integration.ObjectRef
	path   []string // of the address, if the call is not about objects
	query  url.Values
	kind   string // media type of the body
	accept string // media types of the answer; "" is JSON
	body   []byte
}

// String returns what the call does, for messages.
func (c call) String() string {
	if c.path != nil {
		return c.verbs + " /" + strings.Join(c.path, "/")
	}
	text := c.verbs + " " + resourceName(c.ref.Resource)
	if c.ref.Name != "" {
		text += fmt.Sprintf(" %q", c.ref.Name)
	}
	if c.ref.Namespace != "" {
		text += fmt.Sprintf(" in namespace %q", c.ref.Namespace)
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
func (c *connection) address(of call) (*url.URL, error) {
	r := of.ref
	path := []string{"api", r.Version}
	if r.Group != "" {
		path = []string{"apis", r.Group, r.Version}
	}
	if r.Namespace != "" {
		path = append(path, "namespaces", r.Namespace)
	}
	path = append(path, r.Plural)
	if of.method != http.MethodGet || r.Name != "" {
		path = append(path, r.Name)
	}
	if of.path != nil {
		path = of.path
	}
	for _, part := range path {
		if !segment.MatchString(part) {
			return nil, fmt.Errorf("%.100q cannot be a part of the name of an object", part)
		}
	}
	u := c.base.JoinPath(path...)
	u.RawQuery = of.query.Encode()
	return u, nil
}

// send sends a request, again if that may help, and returns the answer.
//
// A request that reads is sent again after every failure that may pass by itself. A request
// that writes is sent again only if the server says that it did nothing (429), or asks to come
// back (503 with Retry-After). All writes are conditional, so none is done twice.
func (c *connection) send(ctx context.Context, of call) ([]byte, error) {
	u, err := c.address(of)
	if err != nil {
		return nil, c.refuse(of, err.Error())
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
		again := of.method == http.MethodGet || t.code == http.StatusTooManyRequests || t.code == http.StatusServiceUnavailable && t.after > 0
		return t.after, again
	})
	if err != nil {
		return nil, c.explain(of, err)
	}
	return raw, nil
}

// try sends a request once. A failure is a trouble, or that of the context.
func (c *connection) try(ctx context.Context, of call, u *url.URL) ([]byte, error) {
	if err := c.limit.Wait(ctx); err != nil {
		return nil, &trouble{text: err.Error(), class: integration.FailureTransient}
	}
	req, err := http.NewRequestWithContext(ctx, of.method, u.String(), bytes.NewReader(of.body))
	if err != nil {
		return nil, &trouble{text: err.Error()}
	}
	req.Header.Set("User-Agent", c.manager)
	req.Header.Set("Accept", cmp.Or(of.accept, "application/json"))
	if of.kind != "" {
		req.Header.Set("Content-Type", of.kind)
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
