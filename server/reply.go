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

// A reply is an answer before it is sent.
type reply struct {
	status int
	kind   string      // Content-Type; "" for none
	header [][2]string // beside the usual ones
	body   []byte
	tagged bool // with an ETag, as express sends what a handler gives it

	// stream writes the body instead, always the same one. It is for bodies
	// that may be too large to be held in memory.
	stream func(io.Writer) error

	sealed bool // length and tag are known
	length int64
	tag    string

	lasting bool // the same will always be answered

	done func() // called when the answer was sent; nil for nothing
}

// sent is a text with a content type, as a handler sends it.
func sent(status int, kind, body string) *reply {
	return &reply{status: status, kind: kind, body: []byte(body), tagged: true}
}

// empty is an answer without a body.
func empty() *reply { return &reply{status: http.StatusOK} }

// page is what express answers on its own.
func page(status int, message string) *reply {
	const head = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Error</title>\n</head>\n<body>\n<pre>"
	return &reply{
		status: status, kind: typeHTML, body: []byte(head + escapeHTML(message) + "</pre>\n</body>\n</html>\n"),
		header: [][2]string{{"Content-Security-Policy", "default-src 'none'"}, {"X-Content-Type-Options", "nosniff"}},
	}
}

// refusedPage is what express answers when a handler fails with a status.
func refusedPage(status int) *reply {
	if status == http.StatusRequestEntityTooLarge {
		return page(status, "Payload Too Large") // which Go calls otherwise
	}
	return page(status, http.StatusText(status))
}

func escapeHTML(s string) string {
	return strings.NewReplacer("&", "&amp;", `"`, "&quot;", "'", "&#39;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// write sends the answer to a request.
func (p *reply) write(w http.ResponseWriter, r *http.Request) {
	p.seal()
	h := w.Header()
	for _, line := range p.header {
		h.Set(line[0], line[1])
	}
	if p.kind != "" {
		h.Set("Content-Type", p.kind)
	} else {
		h["Content-Type"] = nil // no guess
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if p.tag != "" {
		h.Set("ETag", p.tag)
	}
	if reads && p.status == http.StatusOK && unchanged(r.Header, p.tag) {
		h["Content-Type"] = nil
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if r.Method != http.MethodHead || p.kind != "" || len(p.header) > 0 { // or Node does not count what it never had
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

// seal finds the length of the body and its ETag.
func (p *reply) seal() {
	if p.sealed {
		return
	}
	p.sealed, p.length = true, int64(len(p.body))
	if !p.tagged {
		return
	}
	sum := sha1.New() //nolint:gosec // the tag that express makes; it protects nothing
	if p.stream != nil {
		size := &counter{}
		_ = p.stream(io.MultiWriter(sum, size)) // neither fails
		p.length = size.n
	} else {
		_, _ = sum.Write(p.body) // never fails
	}
	text := base64.StdEncoding.EncodeToString(sum.Sum(nil))
	p.tag = fmt.Sprintf(`W/"%x-%s"`, p.length, text[:27])
}

// A counter counts bytes.
type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// unchanged tells whether the client has the answer with a tag already.
func unchanged(h http.Header, tag string) bool {
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

// encodeURL writes what a URL may not hold as escapes, and leaves the escapes
// that are there.
func encodeURL(path string) string {
	var out strings.Builder
	for i := range len(path) {
		c := path[i]
		switch {
		case c == '%' && (i+2 >= len(path) || !isHex(path[i+1:i+3])):
			out.WriteString("%25")
		case c >= 0x80: // a byte is a character to Node
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

func isHex(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil
}
