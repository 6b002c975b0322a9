package server

import (
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// answerRoute answers a request that is not GraphQL. It returns nil if there is no such
// route. The case of names and a slash at the end do not matter.
func (h *handler) answerRoute(r *http.Request, path string, x *Exchange) *reply {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	whole := path // with the slash at the end, which may be part of a file's path
	if n := len(parts); n > 1 && parts[n-1] == "" {
		parts = parts[:n-1]
	}
	name := strings.ToLower(parts[0])
	method, answer := http.MethodGet, (func() *reply)(nil)
	var params []string // parts of the path that will be decoded
	own, isOwn := h.extraRoutes[name]
	switch n := len(parts); {
	case isOwn && n == 1:
		method, answer = own.method, func() *reply { return own.answer(r) }
	case n == 1 && name == "sha256":
		answer = h.forLatest(x, func(b *bundle.Bundle) *reply { return newReply(http.StatusOK, typeHTML, b.SHA256()) })
	case n == 1 && name == "git-commit":
		answer = h.forLatest(x, commitReply)
	case n == 1 && name == "git-commit-info":
		answer = h.forLatest(x, commitInfoReply)
	case n == 1 && name == "healthz":
		answer = emptyReply
	case n == 1 && name == "":
		answer = func() *reply { return redirectToGraphQL(r) }
	case n == 2 && parts[1] != "" && name == "git-commit":
		params, answer = parts[1:], h.forSHA(x, parts[1], commitReply)
	case n == 2 && parts[1] != "" && name == "git-commit-info":
		params, answer = parts[1:], h.forSHA(x, parts[1], commitInfoReply)
	case n >= 3 && name == "diff" && parts[1] != "" && parts[2] != "" && (n == 3 || parts[3] != ""):
		params = strings.SplitN(whole, "/", 6)[2:]
		answer = func() *reply { return h.answerDiff(r, params, x) }
	default:
		return nil
	}
	for _, part := range params {
		if _, ok := unescapePart(part); !ok {
			return statusPage(http.StatusBadRequest) // for every method
		}
	}
	return answerMethod(r, method, answer)
}

// answerMethod answers a request for a route that has one method. It returns nil for
// another method, and lists the method for OPTIONS.
func answerMethod(r *http.Request, method string, answer func() *reply) *reply {
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
		status: http.StatusOK, contentType: "text/plain", body: []byte(allowed),
		header: [][2]string{{"Allow", allowed}, {"X-Content-Type-Options", "nosniff"}},
	}
}

// forLatest returns a function that answers over the latest bundle.
func (h *handler) forLatest(x *Exchange, answer func(*bundle.Bundle) *reply) func() *reply {
	return func() *reply {
		latest := h.latest()
		if latest == nil {
			return newReply(http.StatusServiceUnavailable, typeHTML, "No loaded data.")
		}
		x.SHA256 = latest.Bundle.SHA256()
		return answer(latest.Bundle)
	}
}

// forSHA returns a function that answers over the bundle that a part of the path names.
func (h *handler) forSHA(x *Exchange, part string, answer func(*bundle.Bundle) *reply) func() *reply {
	return func() *reply {
		sha, _ := unescapePart(part)
		found := h.find(sha)
		if found == nil {
			return noBundleReply(sha)
		}
		x.SHA256 = sha
		return answer(found.Bundle)
	}
}

// noBundleReply answers a request for an unknown bundle. A browser shows the answer as
// HTML, so the name from the request is escaped.
func noBundleReply(sha string) *reply {
	return newReply(http.StatusNotFound, typeHTML, "Bundle "+escapeHTML(sha)+" not found")
}

// unescapePart decodes a part of a path. It returns false if decodeURIComponent of
// JavaScript would fail.
func unescapePart(part string) (string, bool) {
	for i := range len(part) {
		if part[i] == '%' && (i+2 >= len(part) || !isHex(part[i+1:i+3])) {
			return "", false
		}
	}
	out := unescapePercent(part)
	return out, utf8.ValidString(out)
}

// commitReply answers with the commit of a bundle. If the commit is unknown, the answer has
// no body.
func commitReply(b *bundle.Bundle) *reply {
	if b.Commit() == "" {
		return emptyReply()
	}
	return newReply(http.StatusOK, typeHTML, b.Commit())
}

// commitInfoReply answers with the commit and the timestamp of a bundle.
func commitInfoReply(b *bundle.Bundle) *reply {
	info := &bundle.Object{}
	if b.Commit() != "" {
		info.Set("commit", b.Commit())
	}
	if b.Timestamp() != "" {
		info.Set("timestamp", b.Timestamp())
	}
	return newReply(http.StatusOK, typeJSON, string(gql.AppendJSON(nil, info)))
}

// redirectToGraphQL answers a request for / with a redirect to /graphql.
func redirectToGraphQL(r *http.Request) *reply {
	const message = "Found. Redirecting to /graphql"
	p := &reply{status: http.StatusFound, header: [][2]string{{"Location", "/graphql"}, {"Vary", "Accept"}}}
	switch preferredType(r.Header.Get("Accept"), []string{"text/plain", "text/html"}) {
	case "text/plain":
		p.contentType, p.body = typeText, []byte(message)
	case "text/html":
		p.contentType, p.body = typeHTML, []byte("<p>"+message+"</p>")
	}
	return p
}
