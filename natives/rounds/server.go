package rounds

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/qontract/live"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/source"
)

// A liveServer is the source of a running qontract-server. A round asks it which bundle is the
// newest, and sends all queries to that bundle.
type liveServer struct {
	latest func(ctx context.Context) (*live.BundleClient, error)
}

func newServer(open source.Opener, ref string) (*liveServer, error) {
	opts := live.Connection{Authorization: open.Authorization}
	if strings.Contains(ref, "/graphqlsha/") {
		fixed, err := open.LiveSide(ref)
		return &liveServer{func(context.Context) (*live.BundleClient, error) { return fixed, nil }}, err
	}
	at, err := live.ParseServer(ref, opts)
	if err != nil {
		return nil, cli.Usage(fmt.Errorf("--bundle: %w", err))
	}
	return &liveServer{at.Latest}, nil
}

// Open implements [Source].
func (s *liveServer) Open(ctx context.Context, _ *settings.Settings) (*Data, error) {
	side, err := s.latest(ctx)
	if err != nil {
		return nil, err
	}
	commit, timestamp, err := side.Commit(ctx)
	if err != nil {
		return nil, err
	}
	return &Data{
		Bundle: BundleName{SHA256: side.SHA256(), Commit: commit, Timestamp: timestamp},
		Where:  func(_ context.Context, file, _ string) string { return file },
		Query: func(ctx context.Context, name string) (integration.QueryFunc, func() error, error) {
			rights, err := readRights(ctx, side, name)
			if err != nil {
				return nil, nil, err
			}
			return rights.query, func() error { return nil }, nil
		},
	}, nil
}

// Rights are the schemas that an integration may read on a server.
type rights struct {
	name    string
	side    *live.BundleClient
	allowed []bundle.SchemaPath
}

// definitionQueries ask for the definitions of all integrations, in the words of qontract-server
// and in shorter ones.
var definitionQueries = []string{
	"{ definitions: integrations_v1 { name schemas } }",
	"{ definitions: integrations { name schemas } }",
}

// readRights reads the definition of an integration from a server.
func readRights(ctx context.Context, side *live.BundleClient, name string) (*rights, error) {
	var raw []byte
	var err error
	for _, query := range definitionQueries {
		var rejected bool
		if raw, _, rejected, err = ask(ctx, side, query, nil); !rejected {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("reading the definitions of integrations: %w", err)
	}
	var answer struct {
		Definitions []struct {
			Name    string              `json:"name"`
			Schemas []bundle.SchemaPath `json:"schemas,omitempty"`
		} `json:"definitions"`
	}
	if err := integration.DecodeAnswer(raw, &answer); err != nil {
		return nil, fmt.Errorf("reading the definitions of integrations: %w", err)
	}
	var known []string
	for _, d := range answer.Definitions {
		if d.Name == name {
			return &rights{name, side, d.Schemas}, nil
		}
		known = append(known, d.Name)
	}
	return nil, newUnknownError(name, known)
}

// query is an [integration.QueryFunc]. An answer with data of a forbidden schema is an error.
func (r *rights) query(ctx context.Context, query string, variables map[string]any) ([]byte, error) {
	raw, schemas, _, err := ask(ctx, r.side, query, variables)
	for _, s := range schemas { // also of an answer that is not whole
		if !slices.Contains(r.allowed, s) {
			return nil, integration.Failure(integration.FailureOfConfig,
				fmt.Errorf("%s reads %s, which its definition does not allow; add it to its schemas", r.name, s))
		}
	}
	return raw, err
}

// ask sends a query to a server. Only a whole answer is an answer: data and no errors. The
// result rejected tells that the server does not know what the query asks for.
func ask(ctx context.Context, side *live.BundleClient, query string,
	variables map[string]any) (data []byte, schemas []bundle.SchemaPath, rejected bool, err error) {
	req := gql.Request{Query: query}
	if req.Variables, err = object(variables); err != nil {
		return nil, nil, false, fmt.Errorf("variables of the query: %w", err)
	}
	res := side.Answer(ctx, req)
	switch {
	case ctx.Err() != nil:
		return nil, nil, false, context.Cause(ctx)
	case len(res.Errors) > 0 && res.Data != nil:
		return nil, res.Schemas, false, partial(res)
	case len(res.Errors) > 0:
		return nil, nil, res.Status == 400, errors.New(res.Errors[0].Message)
	case res.Data == nil:
		return nil, nil, false, errors.New("the answer has no data")
	}
	return gql.AppendJSON(nil, res.Data), res.Schemas, false, nil
}

// partial returns an answer that is not whole as an error.
func partial(res *gql.Response) error {
	out := &integration.AnswerError{Data: gql.AppendJSON(nil, res.Data)}
	for _, e := range res.Errors {
		path := slices.Clone(e.Path)
		for i, p := range path {
			if at, ok := p.(int); ok {
				path[i] = float64(at)
			}
		}
		out.Errors = append(out.Errors, integration.FieldError{Message: e.Message, Path: path})
	}
	return out
}

// object returns the variables of a query as a request has them.
func object(variables map[string]any) (*bundle.Object, error) {
	if len(variables) == 0 {
		return nil, nil
	}
	raw, err := json.Marshal(variables)
	if err != nil {
		return nil, err
	}
	v, err := bundle.ParseValue(raw)
	if err != nil {
		return nil, err
	}
	out, ok := v.(*bundle.Object)
	if !ok {
		return nil, errors.New("they are not an object")
	}
	return out, nil
}
