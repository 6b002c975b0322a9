package server

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
)

// A guard looks at an answer before it is sent, and returns what is sent
// instead, or nil. Nil is no guard.
type guard func(*Snapshot, *gql.Query, *gql.Response) []byte

// graphql answers a request for GraphQL over one bundle.
func (s *site) graphql(r *http.Request, body any, on *Snapshot, x *Exchange) *reply {
	x.SHA256 = on.Bundle.SHA256()
	accept := r.Header.Get("Accept")
	if r.Method == http.MethodGet && accept != "" && preferred(accept, pageTypes) == "text/html" {
		return sent(http.StatusOK, typeHTML, landingPage)
	}
	a, refused := request(r, body)
	if refused != nil {
		return refused
	}
	kind := preferred(accept, answerTypes)
	if kind == "" {
		return refuse(r, http.StatusNotAcceptable, saysAccept)
	}
	if refused := s.persist(a, on); refused != nil {
		refused.kind = kind
		return refused
	}
	x.Request = &a.Request
	p := s.known(r, a, on, x)
	if p.kind == "" {
		p.kind = kind
	}
	return p
}

// known answers a request from memory when it can. Persisted queries are always
// evaluated, to remember their text, and so is everything that is observed.
func (s *site) known(r *http.Request, a *asked, on *Snapshot, x *Exchange) *reply {
	evaluate := func(ctx context.Context) *reply { return s.evaluate(ctx, r, a, on, x) }
	if s.answers == nil || s.observe != nil || s.guard != nil || a.persisted != nil {
		return s.gate.pass(r.Context(), evaluate)
	}
	q := questionOf(on, &a.Request)
	if p := s.answers.get(q); p != nil {
		return p
	}
	return s.gate.pass(r.Context(), func(ctx context.Context) *reply {
		p := evaluate(ctx)
		if p.lasting && ctx.Err() == nil {
			s.answers.put(q, p)
		}
		return p
	})
}

// evaluate compiles and executes a request.
func (s *site) evaluate(ctx context.Context, r *http.Request, a *asked, on *Snapshot, x *Exchange) *reply {
	q, err := on.compile(a.Request)
	if err != nil {
		return rejected(err)
	}
	x.Query = q
	if r.Method == http.MethodGet && q.Kind() != "query" {
		p := failed(http.StatusMethodNotAllowed, gql.Error{Code: gql.CodeRequest,
			Message: "GET requests only support query operations, not " + q.Kind() + " operations"})
		p.header = append(p.header, [2]string{"Allow", "POST"})
		return p
	}
	if a.persisted != nil {
		s.persisted.put(on, a.Query)
	}
	var res *gql.Response
	if s.observe != nil {
		res = on.Engine.Observe(ctx, q)
		x.Response = res
	} else {
		res = on.Engine.Execute(ctx, q)
	}
	x.Cut = ctx.Err() != nil
	if s.guard != nil {
		if instead := s.guard(on, q, res); instead != nil {
			return answered(http.StatusOK, instead)
		}
	}
	p := answered(res.Status, text(res))
	p.lasting = len(res.Errors) == 0
	return p
}

// scratch are buffers for answers in the making; their size is not known
// before.
var scratch = sync.Pool{New: func() any { return new([]byte) }}

// maxScratch is the largest buffer that is kept for the next answer.
const maxScratch = 8 << 20

// text is an answer as JSON with a line break, in no more memory than it needs.
func text(res *gql.Response) []byte {
	buffer, _ := scratch.Get().(*[]byte)
	*buffer = append(res.AppendJSON((*buffer)[:0]), '\n')
	out := slices.Clip(slices.Clone(*buffer))
	if cap(*buffer) <= maxScratch {
		scratch.Put(buffer)
	}
	return out
}

// answered is an answer of GraphQL. Its type is what the client prefers.
func answered(status int, body []byte) *reply {
	return &reply{status: status, body: body, tagged: true, header: [][2]string{{"Cache-Control", "no-store"}}}
}

// failed is an answer that holds errors alone.
func failed(status int, list ...gql.Error) *reply {
	res := gql.Response{Errors: list}
	return answered(status, text(&res))
}

// rejected says why a request cannot be executed.
func rejected(err error) *reply {
	var why *gql.Rejection
	if errors.As(err, &why) {
		return failed(http.StatusBadRequest, why.Errors...)
	}
	return failed(http.StatusInternalServerError, gql.Error{Code: gql.CodeInternal, Message: err.Error()})
}

// persist fills in the query that a client refers to by its sha256 alone, as
// Apollo's automatic persisted queries do.
func (s *site) persist(a *asked, on *Snapshot) *reply {
	if a.persisted == nil {
		return nil
	}
	if version, _ := field(a.persisted, "version").(bundle.Number); version != "1" {
		return failed(http.StatusBadRequest, gql.Error{Code: gql.CodeInternal, Message: "Unsupported persisted query version"})
	}
	sum := a.persisted.String("sha256Hash")
	if !a.hasQuery {
		query, ok := s.persisted.get(on, sum)
		if !ok {
			p := failed(http.StatusOK, gql.Error{Code: "PERSISTED_QUERY_NOT_FOUND", Message: "PersistedQueryNotFound"})
			p.header = [][2]string{{"Cache-Control", "private, no-cache, must-revalidate"}}
			return p
		}
		a.Query = query
		return nil
	}
	if sum != sumOf(a.Query) {
		return failed(http.StatusBadRequest, gql.Error{Code: gql.CodeInternal, Message: "provided sha does not match query"})
	}
	return nil
}

// landingPage is what browsers are shown.
const landingPage = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>qontract GraphQL</title>
</head>
<body>
<p>This address answers GraphQL: send <code>{"query": "{ __typename }"}</code> as application/json by POST.</p>
</body>
</html>
`
