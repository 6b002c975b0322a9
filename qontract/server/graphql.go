package server

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// A responseCheck looks at a response before it is sent. It returns the body to send
// instead, or nil.
type responseCheck func(*Snapshot, *gql.Query, *gql.Response) []byte

// answerGraphQL answers a GraphQL request over one bundle.
func (h *handler) answerGraphQL(r *http.Request, body any, on *Snapshot, x *Exchange) *reply {
	x.SHA256 = on.Bundle.SHA256()
	accept := r.Header.Get("Accept")
	if r.Method == http.MethodGet && accept != "" && preferredType(accept, browserTypes) == "text/html" {
		return newReply(http.StatusOK, typeHTML, landingPage)
	}
	a, refused := parseRequest(r, body)
	if refused != nil {
		return refused
	}
	kind := preferredType(accept, graphqlTypes)
	if kind == "" {
		return refusal(r, http.StatusNotAcceptable, messageAccept)
	}
	if refused := h.resolvePersistedQuery(a, on); refused != nil {
		refused.contentType = kind
		return refused
	}
	x.Request = &a.Request
	p := h.answerFromCache(r, a, on, x)
	if p.contentType == "" {
		p.contentType = kind
	}
	return p
}

// answerFromCache answers a request from the cache, or evaluates it. Requests with a
// persisted query are always evaluated, so that their text is kept. A handler with an
// observer or a check evaluates all requests.
func (h *handler) answerFromCache(r *http.Request, a *graphqlRequest, on *Snapshot, x *Exchange) *reply {
	evaluate := func(ctx context.Context) *reply { return h.evaluate(ctx, r, a, on, x) }
	if h.answers == nil || h.observe != nil || h.checkResponse != nil || a.persistedQuery != nil {
		return h.limiter.run(r.Context(), evaluate)
	}
	q := cacheKeyOf(on, &a.Request)
	if p := h.answers.get(q); p != nil {
		return p
	}
	return h.limiter.run(r.Context(), func(ctx context.Context) *reply {
		p := evaluate(ctx)
		if p.cacheable && ctx.Err() == nil {
			h.answers.put(q, p)
		}
		return p
	})
}

// evaluate compiles and executes a request.
func (h *handler) evaluate(ctx context.Context, r *http.Request, a *graphqlRequest, on *Snapshot, x *Exchange) *reply {
	q, err := on.compile(a.Request)
	if err != nil {
		return rejectionReply(err)
	}
	x.Query = q
	if r.Method == http.MethodGet && q.Kind() != "query" {
		p := errorReply(http.StatusMethodNotAllowed, gql.Error{Code: gql.CodeRequest,
			Message: "GET requests only support query operations, not " + q.Kind() + " operations"})
		p.header = append(p.header, [2]string{"Allow", "POST"})
		return p
	}
	if a.persistedQuery != nil {
		h.persisted.put(on, a.Query)
	}
	var res *gql.Response
	if h.observe != nil || h.checkResponse != nil {
		res = on.Engine.Observe(ctx, q)
		x.Response = res
	} else {
		res = on.Engine.Execute(ctx, q)
	}
	x.Aborted = ctx.Err() != nil
	if h.checkResponse != nil {
		if instead := h.checkResponse(on, q, res); instead != nil {
			return graphqlReply(http.StatusOK, instead)
		}
	}
	p := graphqlReply(res.Status, responseText(res))
	p.cacheable = len(res.Errors) == 0
	return p
}

// responseBuffers are buffers in which responses are encoded, since the size of a response
// is not known before.
var responseBuffers = sync.Pool{New: func() any { return new([]byte) }}

// maxPooledBuffer is the size in bytes of the largest buffer that is kept for reuse.
const maxPooledBuffer = 8 << 20

// responseText returns a response as JSON with a line break. The slice has no spare
// capacity.
func responseText(res *gql.Response) []byte {
	buffer, _ := responseBuffers.Get().(*[]byte)
	*buffer = append(res.AppendJSON((*buffer)[:0]), '\n')
	out := slices.Clip(slices.Clone(*buffer))
	if cap(*buffer) <= maxPooledBuffer {
		responseBuffers.Put(buffer)
	}
	return out
}

// graphqlReply returns a reply with a GraphQL body. Its content type is set later, to the
// type that the client prefers.
func graphqlReply(status int, body []byte) *reply {
	return &reply{status: status, body: body, hasETag: true, header: [][2]string{{"Cache-Control", "no-store"}}}
}

// errorReply returns a GraphQL reply that has nothing but errors.
func errorReply(status int, list ...gql.Error) *reply {
	res := gql.Response{Errors: list}
	return graphqlReply(status, responseText(&res))
}

// rejectionReply answers a request that did not compile.
func rejectionReply(err error) *reply {
	var why *gql.Rejection
	if errors.As(err, &why) {
		return errorReply(http.StatusBadRequest, why.Errors...)
	}
	return errorReply(http.StatusInternalServerError, gql.Error{Code: gql.CodeInternal, Message: err.Error()})
}

// resolvePersistedQuery sets the text of a query that the client names by its sha256 only,
// as Apollo's automatic persisted queries do. If it cannot, the reply says why.
func (h *handler) resolvePersistedQuery(a *graphqlRequest, on *Snapshot) *reply {
	if a.persistedQuery == nil {
		return nil
	}
	if version, _ := field(a.persistedQuery, "version").(bundle.Number); version != "1" {
		return errorReply(http.StatusBadRequest,
			gql.Error{Code: gql.CodeInternal, Message: "Unsupported persisted query version"})
	}
	sum := a.persistedQuery.String("sha256Hash")
	if !a.hasQuery {
		query, ok := h.persisted.get(on, sum)
		if !ok {
			p := errorReply(http.StatusOK, gql.Error{Code: "PERSISTED_QUERY_NOT_FOUND", Message: "PersistedQueryNotFound"})
			p.header = [][2]string{{"Cache-Control", "private, no-cache, must-revalidate"}}
			return p
		}
		a.Query = query
		return nil
	}
	if sum != sha256Hex(a.Query) {
		return errorReply(http.StatusBadRequest,
			gql.Error{Code: gql.CodeInternal, Message: "provided sha does not match query"})
	}
	return nil
}

// landingPage is the page that a browser gets.
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
