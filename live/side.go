package live

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/app-sre/prcheck/gql"
)

// A Side lets the server answer over one bundle.
type Side struct {
	client *Client
	sha    string
	vague  map[string]bool

	lock    sync.Mutex
	trouble error
}

// NewSide returns what answers over the bundle of a reference.
func NewSide(ref Ref, opts Options) *Side {
	return &Side{client: NewClient(ref.Server, opts), sha: ref.SHA256}
}

// Answer answers a request. When the server gives no answer to it, the response
// has that as its only error, and Trouble returns it.
func (s *Side) Answer(ctx context.Context, req gql.Request) *gql.Response {
	res, err := s.ask(ctx, req)
	if err == nil {
		return res
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.trouble == nil {
		s.trouble = err
	}
	return &gql.Response{Status: http.StatusBadGateway, Errors: []gql.Error{{Message: err.Error(), Code: gql.CodeInternal}}}
}

// Vague tells whether, for one of the GraphQL types, it is not known which fields
// are back references, so that what a change can reach through it is not either.
func (s *Side) Vague(types []string) bool {
	return slices.ContainsFunc(types, func(name string) bool { return s.vague[name] })
}

// Trouble returns the first error because of which there was no answer, nil
// when there was none.
func (s *Side) Trouble() error {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.trouble
}

// ask sends a request. Only a failure to get an answer to it is an error.
func (s *Side) ask(ctx context.Context, req gql.Request) (*gql.Response, error) {
	path := "/graphqlsha/" + s.sha
	status, answer, err := s.client.do(ctx, exchange{method: http.MethodPost, path: path, body: req.JSON(), limit: maxAnswer,
		accept: func(status int) bool { return status == http.StatusBadRequest }})
	if err != nil {
		return nil, s.client.explain(err, s.sha)
	}
	res, err := gql.ReadResponse(status, answer)
	if err != nil {
		return nil, fmt.Errorf("asking %s%s: the answer is not one of GraphQL: %w", s.client.server, path, err)
	}
	for i := range res.Errors {
		res.Errors[i].Message = s.client.masker.Text(res.Errors[i].Message)
	}
	return res, nil
}
