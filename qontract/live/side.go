package live

import (
	"context"
	"net/http"
	"slices"
	"sync"

	"github.com/app-sre/prcheck/qontract/gql"
)

// A BundleClient sends queries over one bundle to the server.
type BundleClient struct {
	client     *Client
	sha        string // "" for the newest bundle, whichever that is when it is asked
	vagueTypes map[string]bool

	lock     sync.Mutex
	firstErr error
}

// NewSide returns the Side of a bundle.
func NewSide(ref Ref, opts Connection) *BundleClient {
	return &BundleClient{client: NewClient(ref.Server, opts), sha: ref.SHA256}
}

// Answer returns the answer of the server to a request. If there is no answer, the response
// has the reason as its only error, and Err returns it as well.
func (s *BundleClient) Answer(ctx context.Context, req gql.Request) *gql.Response {
	res, err := s.ask(ctx, req)
	if err == nil {
		return res
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.firstErr == nil {
		s.firstErr = err
	}
	return &gql.Response{Status: http.StatusBadGateway,
		Errors: []gql.Error{{Message: err.Error(), Code: gql.CodeInternal}}}
}

// Vague reports whether the back references of one of the GraphQL types are not known. It is
// then also not known what a change can reach through this type. Package affected finds this
// method by a type assertion, so it must keep its name.
func (s *BundleClient) Vague(types []string) bool {
	return slices.ContainsFunc(types, func(name string) bool { return s.vagueTypes[name] })
}

// Err returns the first error of a request without an answer, nil if all had one.
func (s *BundleClient) Err() error {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.firstErr
}

// ask sends a request. It is an error if there is no answer. An answer with GraphQL errors
// is none.
func (s *BundleClient) ask(ctx context.Context, req gql.Request) (*gql.Response, error) {
	status, answer, err := s.post(ctx, req, maxAnswer)
	if err != nil {
		return nil, err
	}
	res, err := gql.ReadResponse(status, answer)
	if err != nil {
		return nil, s.noGraphQL(err)
	}
	for i := range res.Errors {
		res.Errors[i].Message = s.client.masker.Text(res.Errors[i].Message)
	}
	return res, nil
}
