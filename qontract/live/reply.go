package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// A Reply is an answer of a server as it was sent, apart from the line break at its end and
// from what [WithoutStacks] cuts out.
type Reply struct {
	Status int // 200, or 400 for a rejected request
	Body   []byte
}

// Ask returns the answer of the server to a request. It is an error if there is no answer, if
// the answer is larger than limit bytes, or if it is not one of GraphQL: a JSON object with data
// or errors. Whether these are as they should be is not looked at.
func (s *BundleClient) Ask(ctx context.Context, req gql.Request, limit int64) (Reply, error) {
	status, body, err := s.post(ctx, req, limit)
	if err != nil {
		return Reply{}, err
	}
	v, err := bundle.ParseValue(body)
	if o, ok := v.(*bundle.Object); err == nil && (!ok || !o.Has("data") && !o.Has("errors")) {
		err = errors.New("it has neither data nor errors")
	}
	if err != nil {
		return Reply{}, s.noGraphQL(err)
	}
	return Reply{status, bytes.TrimSuffix(WithoutStacks(body), []byte("\n"))}, nil
}

// post sends a request and returns status and body of the answer. A rejected request has an
// answer, too.
func (s *BundleClient) post(ctx context.Context, req gql.Request, limit int64) (status int, body []byte, err error) {
	status, body, err = s.client.do(ctx, call{method: http.MethodPost, path: s.path(), body: req.JSON(), limit: limit,
		accept: func(status int) bool { return status == http.StatusBadRequest }})
	if err != nil {
		return 0, nil, s.client.explainNotFound(err, s.sha)
	}
	return status, body, nil
}

// path is where the server answers queries over the bundle.
func (s *BundleClient) path() string {
	if s.sha == "" {
		return "/graphql"
	}
	return "/graphqlsha/" + s.sha
}

// noGraphQL returns the error for an answer that is not one of GraphQL.
func (s *BundleClient) noGraphQL(err error) error {
	return fmt.Errorf("asking %s%s: the answer is not one of GraphQL: %w", s.client.server, s.path(), err)
}

// WithoutStacks returns an answer without the stack traces in its errors, which a
// qontract-server adds unless it runs in production. All other bytes stay as they are. An
// answer that cannot be read is returned as it is.
func WithoutStacks(body []byte) []byte {
	if !bytes.Contains(body, []byte(`"stacktrace"`)) {
		return body
	}
	c := stackCutter{body: body, d: json.NewDecoder(bytes.NewReader(body))}
	err := c.members(func(key string) error {
		if key != "errors" {
			return c.skip()
		}
		return c.errors()
	})
	if err != nil {
		return body
	}
	out, done := make([]byte, 0, len(body)), 0
	for _, at := range c.cuts {
		out, done = append(out, body[done:at[0]]...), at[1]
	}
	return append(out, body[done:]...)
}

// A stackCutter finds the places of stack traces in an answer.
type stackCutter struct {
	body []byte
	d    *json.Decoder
	cuts [][2]int // where each one begins and ends
}

// errors reads the list of errors.
func (c *stackCutter) errors() error {
	if err := c.open('['); err != nil {
		return err
	}
	for c.d.More() {
		err := c.members(func(key string) error {
			if key != "extensions" {
				return c.skip()
			}
			return c.extensions()
		})
		if err != nil {
			return err
		}
	}
	_, err := c.d.Token()
	return err
}

// extensions reads the extensions of an error, and notes where the stack trace stands, with
// one of the commas beside it.
func (c *stackCutter) extensions() error {
	from := int(c.d.InputOffset()) // of a member that comes first: of its object
	isFirst := true
	return c.members(func(key string) error {
		if isFirst {
			from = bytes.IndexByte(c.body[from:], '{') + from + 1
		}
		if err := c.skip(); err != nil {
			return err
		}
		to := int(c.d.InputOffset())
		if key == "stacktrace" {
			cut := [2]int{from, to}
			if isFirst && to < len(c.body) && c.body[to] == ',' {
				cut[1]++
			}
			c.cuts = append(c.cuts, cut)
		}
		from, isFirst = to, false
		return nil
	})
}

// members reads an object, and calls f after each of its keys to read the value.
func (c *stackCutter) members(f func(key string) error) error {
	if err := c.open('{'); err != nil {
		return err
	}
	for c.d.More() {
		t, err := c.d.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string) // keys of objects are strings
		if err := f(key); err != nil {
			return err
		}
	}
	_, err := c.d.Token()
	return err
}

func (c *stackCutter) open(bracket json.Delim) error {
	if t, err := c.d.Token(); err != nil || t != bracket {
		return errors.Join(errors.New("it does not begin as it should"), err)
	}
	return nil
}

func (c *stackCutter) skip() error {
	var value json.RawMessage
	return c.d.Decode(&value)
}
