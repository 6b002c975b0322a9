package server

import (
	"bytes"
	"net/http"
	"strings"
)

// A shelf holds the bundles that a site answers over.
type shelf interface {
	// latest returns the snapshot that is asked when no sha256 is given, nil
	// when there is none.
	latest() *Snapshot
	// find returns the snapshot of a sha256, nil when it is not there.
	find(sha string) *Snapshot
}

// A site answers the requests that qontract-server answers. Task endpoints and
// hubs differ in their bundles and in what they do besides.
type site struct {
	shelf
	touch     func(*Snapshot, *http.Request) // told that a bundle is asked; nil for nobody
	guard     guard
	observe   func(Exchange)
	gate      *gate // nil for no limit
	persisted *persisted
	answers   *answers            // nil for no memory
	own       map[string]ownRoute // by lower-case path
}

// An ownRoute is one of a site's own beside those of all sites.
type ownRoute struct {
	method string
	answer func(r *http.Request) *reply
}

// ServeHTTP answers one request.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := Exchange{Path: r.URL.Path}
	p := s.answer(r, &x)
	if s.observe != nil {
		x.Status, x.Body = p.status, p.body
		if x.Request != nil {
			x.Body = bytes.TrimSuffix(p.body, []byte("\n"))
		}
		s.observe(x)
	}
	if p.done != nil {
		defer p.done()
	}
	p.write(w, r)
}

// answer finds who answers a request. The order is that of the middleware of
// qontract-server: bodies are read before anybody asks what they are for.
func (s *site) answer(r *http.Request, x *Exchange) *reply {
	path := rawPath(r)
	on, asks := s.queried(path)
	if asks && s.touch != nil {
		s.touch(on, r)
	}
	body, refused := body(r)
	if refused != nil {
		return refused
	}
	if asks {
		return s.graphql(r, body, on, x)
	}
	if p := s.route(r, path, x); p != nil {
		return p
	}
	return page(http.StatusNotFound, "Cannot "+r.Method+" "+encodeURL(path))
}

// queried returns the bundle of which a path asks GraphQL, if it does. What
// follows the sha256 does not count.
func (s *site) queried(path string) (*Snapshot, bool) {
	var on *Snapshot
	if path == "/graphql" {
		on = s.latest()
	} else if rest, ok := strings.CutPrefix(path, "/graphqlsha/"); ok {
		sha, _, _ := strings.Cut(rest, "/")
		on = s.find(sha)
	}
	return on, on != nil
}

// rawPath returns the path of a request as it was written.
func rawPath(r *http.Request) string {
	path, _, _ := strings.Cut(r.RequestURI, "?")
	if !strings.HasPrefix(path, "/") {
		return r.URL.EscapedPath()
	}
	return path
}
