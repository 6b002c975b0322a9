package server

import (
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
)

// route answers what is not GraphQL; nil when nobody does. Words are found
// whatever their case, and a slash at the end does not count.
func (s *site) route(r *http.Request, path string, x *Exchange) *reply {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	whole := path // with what a path at the end may keep
	if n := len(parts); n > 1 && parts[n-1] == "" {
		parts = parts[:n-1]
	}
	name := strings.ToLower(parts[0])
	method, answer := http.MethodGet, (func() *reply)(nil)
	var params []string // parts of the path that are decoded
	own, isOwn := s.own[name]
	switch n := len(parts); {
	case isOwn && n == 1:
		method, answer = own.method, func() *reply { return own.answer(r) }
	case n == 1 && name == "sha256":
		answer = s.ofLatest(x, func(b *bundle.Bundle) *reply { return sent(http.StatusOK, typeHTML, b.SHA256()) })
	case n == 1 && name == "git-commit":
		answer = s.ofLatest(x, commit)
	case n == 1 && name == "git-commit-info":
		answer = s.ofLatest(x, commitInfo)
	case n == 1 && name == "healthz":
		answer = empty
	case n == 1 && name == "":
		answer = func() *reply { return redirect(r) }
	case n == 2 && parts[1] != "" && name == "git-commit":
		params, answer = parts[1:], s.ofSHA(x, parts[1], commit)
	case n == 2 && parts[1] != "" && name == "git-commit-info":
		params, answer = parts[1:], s.ofSHA(x, parts[1], commitInfo)
	case n >= 3 && name == "diff" && parts[1] != "" && parts[2] != "" && (n == 3 || parts[3] != ""):
		params = strings.SplitN(whole, "/", 6)[2:]
		answer = func() *reply { return s.diff(r, params, x) }
	default:
		return nil
	}
	for _, part := range params {
		if _, ok := unescapePart(part); !ok {
			return refusedPage(http.StatusBadRequest) // whatever the method
		}
	}
	return withMethod(r, method, answer)
}

// withMethod answers a request for a route that knows one method.
func withMethod(r *http.Request, method string, answer func() *reply) *reply {
	switch {
	case r.Method == method, r.Method == http.MethodHead && method == http.MethodGet:
		return answer()
	case r.Method != http.MethodOptions:
		return nil
	}
	allowed := method
	if method == http.MethodGet {
		allowed = "GET, HEAD"
	}
	return &reply{
		status: http.StatusOK, kind: "text/plain", body: []byte(allowed),
		header: [][2]string{{"Allow", allowed}, {"X-Content-Type-Options", "nosniff"}},
	}
}

func (s *site) ofLatest(x *Exchange, answer func(*bundle.Bundle) *reply) func() *reply {
	return func() *reply {
		latest := s.latest()
		if latest == nil {
			return sent(http.StatusServiceUnavailable, typeHTML, "No loaded data.")
		}
		x.SHA256 = latest.Bundle.SHA256()
		return answer(latest.Bundle)
	}
}

func (s *site) ofSHA(x *Exchange, part string, answer func(*bundle.Bundle) *reply) func() *reply {
	return func() *reply {
		sha, _ := unescapePart(part)
		found := s.find(sha)
		if found == nil {
			return noBundle(sha)
		}
		x.SHA256 = sha
		return answer(found.Bundle)
	}
}

// noBundle is what the real server says; it is text that a browser could take
// for a page, so what is foreign in it is escaped.
func noBundle(sha string) *reply {
	return sent(http.StatusNotFound, typeHTML, "Bundle "+escapeHTML(sha)+" not found")
}

// unescapePart decodes a part of a path; it fails where decodeURIComponent
// does.
func unescapePart(part string) (string, bool) {
	for i := range len(part) {
		if part[i] == '%' && (i+2 >= len(part) || !isHex(part[i+1:i+3])) {
			return "", false
		}
	}
	out := unescapePercent(part)
	return out, utf8.ValidString(out)
}

// commit answers with the commit of a bundle; without one there is nothing to
// send.
func commit(b *bundle.Bundle) *reply {
	if b.Commit() == "" {
		return empty()
	}
	return sent(http.StatusOK, typeHTML, b.Commit())
}

func commitInfo(b *bundle.Bundle) *reply {
	info := &bundle.Object{}
	if b.Commit() != "" {
		info.Set("commit", b.Commit())
	}
	if b.Timestamp() != "" {
		info.Set("timestamp", b.Timestamp())
	}
	return sent(http.StatusOK, typeJSON, string(gql.AppendJSON(nil, info)))
}

// redirect leads from the root to GraphQL.
func redirect(r *http.Request) *reply {
	const says = "Found. Redirecting to /graphql"
	p := &reply{status: http.StatusFound, header: [][2]string{{"Location", "/graphql"}, {"Vary", "Accept"}}}
	switch preferred(r.Header.Get("Accept"), []string{"text/plain", "text/html"}) {
	case "text/plain":
		p.kind, p.body = typeText, []byte(says)
	case "text/html":
		p.kind, p.body = typeHTML, []byte("<p>"+says+"</p>")
	}
	return p
}
