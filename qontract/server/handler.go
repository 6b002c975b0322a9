package server

import (
	"bytes"
	"net/http"
	"strings"
)

// A snapshotStore has the bundles over which a handler answers.
type snapshotStore interface {
	// latest returns the snapshot for requests without a sha256, nil if there is
	// none.
	latest() *Snapshot
	// find returns the snapshot of the bundle with a sha256, nil if there is none.
	find(sha string) *Snapshot
}

// A handler answers the requests that qontract-server answers. Endpoints and hubs use it
// with different snapshots, limits and extra routes.
type handler struct {
	snapshotStore
	onQuery       func(*Snapshot, *http.Request) // called with the snapshot of each GraphQL request; may be nil
	checkResponse responseCheck                  // may be nil
	observe       func(Exchange)                 // may be nil
	limiter       *evaluationLimiter             // nil for no limit
	persisted     *queryCache
	answers       *answerCache          // nil for no cache
	extraRoutes   map[string]extraRoute // by path in lower case, without slashes
}

// An extraRoute is a route that not every handler has.
type extraRoute struct {
	method string
	answer func(r *http.Request) *reply
}

// ServeHTTP answers one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := Exchange{Path: r.URL.Path}
	p := h.respond(r, &x)
	if h.observe != nil {
		x.Status, x.Body = p.status, p.body
		if x.Request != nil {
			x.Body = bytes.TrimSuffix(p.body, []byte("\n"))
		}
		h.observe(x)
	}
	if p.afterSend != nil {
		defer p.afterSend()
	}
	p.write(w, r)
}

// respond answers a request. As in qontract-server, the body is read before the route is
// chosen: a bad body is refused on every route.
func (h *handler) respond(r *http.Request, x *Exchange) *reply {
	path := rawPath(r)
	on, asks := h.queriedSnapshot(path)
	if asks && h.onQuery != nil {
		h.onQuery(on, r)
	}
	body, refused := readBody(r)
	if refused != nil {
		return refused
	}
	if asks {
		return h.answerGraphQL(r, body, on, x)
	}
	if p := h.answerRoute(r, path, x); p != nil {
		return p
	}
	return errorPage(http.StatusNotFound, "Cannot "+r.Method+" "+encodeURL(path))
}

// queriedSnapshot returns the snapshot that a GraphQL path names, if path is such a path.
// The rest of the path after the sha256 is ignored.
func (h *handler) queriedSnapshot(path string) (*Snapshot, bool) {
	var on *Snapshot
	if path == "/graphql" {
		on = h.latest()
	} else if rest, ok := strings.CutPrefix(path, "/graphqlsha/"); ok {
		sha, _, _ := strings.Cut(rest, "/")
		on = h.find(sha)
	}
	return on, on != nil
}

// rawPath returns the path of a request with its escapes.
func rawPath(r *http.Request) string {
	path, _, _ := strings.Cut(r.RequestURI, "?")
	if !strings.HasPrefix(path, "/") {
		return r.URL.EscapedPath()
	}
	return path
}
