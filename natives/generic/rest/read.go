package rest

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/operation"
)

// Read reads a resource. A resource that is not there is no error.
func (c *Client) Read(ctx context.Context, t Target) (Live, error) {
	return c.get(ctx, t, t.Address.URI())
}

// Join reads a part of the status of a resource that is read for itself, such as instanceView.
func (c *Client) Join(ctx context.Context, t Target, part string) (Live, error) {
	path, query, hasQuery := strings.Cut(t.Address.URI(), "?")
	path += "/" + url.PathEscape(part)
	if hasQuery {
		path += "?" + query
	}
	return c.get(ctx, t, path)
}

func (c *Client) get(ctx context.Context, t Target, uri string) (Live, error) {
	a, err := c.send(ctx, c.question(t, c.path(uri)))
	var e *Error
	switch {
	case errors.As(err, &e) && e.Class == Gone:
		return Live{}, nil
	case err != nil:
		return Live{}, err
	}
	return c.live(a)
}

// question is a request that reads something of a resource.
func (c *Client) question(t Target, uri string) request {
	return request{method: http.MethodGet, uri: uri, root: t.Address.Root, about: t.Type}
}

// live returns the resource of an answer.
func (c *Client) live(a operation.Answer) (Live, error) {
	if _, ok := a.Body.(map[string]any); !ok {
		return Live{}, refusal(a.Status, "the answer is no JSON object")
	}
	return Live{Found: true, Body: a.Body, ETag: c.etag(a)}, nil
}

// etag returns the version of a resource: of the header, else of the body.
func (c *Client) etag(a operation.Answer) string {
	if tag := a.Header.Get("ETag"); tag != "" && !c.Family.LocksInBody {
		return tag
	}
	if c.Family.LockAt == "" {
		return ""
	}
	v, _ := body.Get(a.Body, c.Family.LockAt)
	tag, _ := v.(string)
	return tag
}

// maxPages is how many pages of a collection are read.
const maxPages = 1000

// List reads all items of a collection, page by page. The path has no query.
func (c *Client) List(ctx context.Context, t Target, path string) ([]any, error) {
	query := url.Values{}
	for name, values := range t.Address.Query {
		query[name] = values
	}
	uri := c.path(path)
	if len(query) > 0 {
		uri += "?" + query.Encode()
	}
	var out []any
	for range maxPages {
		a, err := c.send(ctx, c.question(t, uri))
		if err != nil {
			return nil, err
		}
		items, ok := member(a.Body, c.Family.ItemsAt).([]any)
		if list, isList := a.Body.([]any); isList && c.Family.ItemsAt == "" {
			items, ok = list, true
		}
		if !ok {
			return nil, refusal(a.Status, "the answer of the collection has no list %q", c.Family.ItemsAt)
		}
		out = append(out, items...)
		next, _ := member(a.Body, c.Family.NextAt).(string)
		switch {
		case next == "":
			return out, nil
		case c.Family.NextQuery != "":
			query.Set(c.Family.NextQuery, next)
			next = c.path(path) + "?" + query.Encode()
		}
		if next == uri {
			return nil, refusal(a.Status, "the next page of the collection is the same page")
		}
		uri = next
	}
	return nil, refusal(0, "the collection has more than %d pages", maxPages)
}

// member returns what stands at a path of names with slashes, nil if nothing does.
func member(v any, path string) any {
	if path == "" {
		return nil
	}
	out, _ := body.Get(v, "/"+path)
	return out
}

// decode reads JSON.
func decode(raw []byte) (any, error) {
	v, err := body.Parse(raw)
	if err != nil && isCut(raw) {
		return nil, errCut
	}
	return v, err
}
