package server

import (
	"crypto/sha1"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

const (
	typeHTML = "text/html; charset=utf-8"
	typeJSON = "application/json; charset=utf-8"
	typeText = "text/plain; charset=utf-8"
)

// A reply is an answer to an HTTP request before it is sent.
type reply struct {
	status      int
	contentType string      // "" for no Content-Type
	header      [][2]string // further headers
	body        []byte
	hasETag     bool // whether it has an ETag, as the replies of handlers of express

	// stream writes the body, if it is set; body is then empty. It serves bodies
	// that may be too large for the memory. Each call writes the same bytes.
	stream func(io.Writer) error

	prepared bool // whether length and etag are set
	length   int64
	etag     string

	cacheable bool // whether equal requests always have this answer

	afterSend func() // called after the reply was sent; may be nil
}

// newReply returns a reply with a body, as a handler of express sends it.
func newReply(status int, contentType, body string) *reply {
	return &reply{status: status, contentType: contentType, body: []byte(body), hasETag: true}
}

// emptyReply returns a reply without a body.
func emptyReply() *reply { return &reply{status: http.StatusOK} }

// errorPage returns the page with which express reports an error.
func errorPage(status int, message string) *reply {
	const head = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta " +
		"charset=\"utf-8\">\n<title>Error</title>\n</head>\n<body>\n<pre>"
	return &reply{
		status: status, contentType: typeHTML, body: []byte(head + escapeHTML(message) + "</pre>\n</body>\n</html>\n"),
		header: [][2]string{{"Content-Security-Policy", "default-src 'none'"}, {"X-Content-Type-Options", "nosniff"}},
	}
}

// statusPage returns the page that express sends if a handler fails with a status.
func statusPage(status int) *reply {
	if status == http.StatusRequestEntityTooLarge {
		return errorPage(status, "Payload Too Large") // Go has another text for it
	}
	return errorPage(status, http.StatusText(status))
}

// escapeHTML escapes a text for HTML with the entities that express uses.
func escapeHTML(s string) string {
	return strings.NewReplacer("&", "&amp;", `"`, "&quot;", "'", "&#39;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// write sends the reply to a request.
func (p *reply) write(w http.ResponseWriter, r *http.Request) {
	p.prepare()
	h := w.Header()
	for _, line := range p.header {
		h.Set(line[0], line[1])
	}
	if p.contentType != "" {
		h.Set("Content-Type", p.contentType)
	} else {
		h["Content-Type"] = nil // keeps Go from guessing one
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if p.etag != "" {
		h.Set("ETag", p.etag)
	}
	if reads && p.status == http.StatusOK && isNotModified(r.Header, p.etag) {
		h["Content-Type"] = nil
		w.WriteHeader(http.StatusNotModified)
		return
	}
	// For a HEAD request Node sends no Content-Length if there is no body at all.
	if r.Method != http.MethodHead || p.contentType != "" || len(p.header) > 0 {
		h.Set("Content-Length", strconv.FormatInt(p.length, 10))
	}
	w.WriteHeader(p.status)
	if r.Method == http.MethodHead {
		return
	}
	if p.stream != nil {
		_ = p.stream(w) // the client may be gone
		return
	}
	_, _ = w.Write(p.body) // the client may be gone
}

// prepare computes the length of the body and its ETag. Later calls do nothing.
func (p *reply) prepare() {
	if p.prepared {
		return
	}
	p.prepared, p.length = true, int64(len(p.body))
	if !p.hasETag {
		return
	}
	sum := sha1.New() //nolint:gosec // express makes its ETags with SHA-1; they protect nothing
	if p.stream != nil {
		size := &byteCounter{}
		_ = p.stream(io.MultiWriter(sum, size)) // both writers never fail
		p.length = size.n
	} else {
		_, _ = sum.Write(p.body) // never fails
	}
	text := base64.StdEncoding.EncodeToString(sum.Sum(nil))
	p.etag = fmt.Sprintf(`W/"%x-%s"`, p.length, text[:27])
}

// A byteCounter counts the bytes that are written to it.
type byteCounter struct{ n int64 }

func (c *byteCounter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// isNotModified reports whether the client already has the answer with an ETag, by the
// headers of its request.
func isNotModified(h http.Header, tag string) bool {
	known := h.Get("If-None-Match")
	if known == "" || strings.Contains(h.Get("Cache-Control"), "no-cache") {
		return false
	}
	if known == "*" {
		return true
	}
	for item := range strings.SplitSeq(known, ",") {
		if item = strings.Trim(item, " "); tag != "" && (item == tag || "W/"+item == tag || item == "W/"+tag) {
			return true
		}
	}
	return false
}

// encodeURL escapes the characters that a URL must not contain. Existing escapes stay.
func encodeURL(path string) string {
	var out strings.Builder
	for i := range len(path) {
		c := path[i]
		switch {
		case c == '%' && (i+2 >= len(path) || !isHex(path[i+1:i+3])):
			out.WriteString("%25")
		case c >= 0x80: // Node takes each byte for a character
			for _, b := range []byte(string(rune(c))) {
				fmt.Fprintf(&out, "%%%02X", b)
			}
		case c <= 0x20 || strings.IndexByte("\"<>`{}\x7f", c) >= 0:
			fmt.Fprintf(&out, "%%%02X", c)
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

// isHex reports whether s consists of pairs of hex digits.
func isHex(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil
}
