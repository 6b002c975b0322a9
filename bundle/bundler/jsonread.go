package bundler

import (
	"bytes"
	"regexp"
	"strconv"
	"unicode/utf8"
)

// readJSON reads a .json file as Python's json does, nil when it is null.
func readJSON(raw []byte) (*node, []Problem) {
	if p := unreadable(raw); p != nil {
		return nil, p
	}
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	r := jsonReader{raw: raw, line: 1}
	v := r.value(0)
	if r.space(); r.problems == nil && r.at < len(raw) {
		r.fail(r.at, "something follows the end of the JSON value")
	}
	if r.problems != nil {
		return nil, r.problems
	}
	if v.kind == null {
		return nil, nil
	}
	return v, nil
}

// A jsonReader reads JSON up to the first problem of form, and goes on after
// one of content.
type jsonReader struct {
	raw      []byte
	at       int
	line     int // of at
	start    int // of that line
	broken   bool
	problems []Problem
}

func (r *jsonReader) fail(at int, msg string) *node {
	if !r.broken && len(r.problems) < maxProblems {
		r.problems = append(r.problems, problemAt(r.raw, min(at, len(r.raw)), msg))
	}
	return &node{}
}

func (r *jsonReader) stop(msg string) *node {
	v := r.fail(r.at, "this is no JSON: "+msg)
	r.broken = true
	return v
}

func (r *jsonReader) space() {
	for ; r.at < len(r.raw); r.at++ {
		switch r.raw[r.at] {
		case ' ', '\t', '\r':
		case '\n':
			r.line, r.start = r.line+1, r.at+1
		default:
			return
		}
	}
}

// next is the next byte that counts, 0 at the end.
func (r *jsonReader) next() byte {
	if r.space(); r.at < len(r.raw) {
		return r.raw[r.at]
	}
	return 0
}

func (r *jsonReader) value(depth int) *node {
	c := r.next()
	v := &node{line: int32(r.line), column: int32(r.at - r.start + 1)}
	switch {
	case depth > maxDepth:
		return r.stop("it is more than " + strconv.Itoa(maxDepth) + " levels deep")
	case c == '{':
		v.kind = mapping
		r.members(v, depth)
	case c == '[':
		v.kind = list
		r.items(v, depth)
	case c == '"':
		v.kind, v.text = text, r.text()
	default:
		return r.literal(v)
	}
	return v
}

func (r *jsonReader) items(v *node, depth int) {
	r.at++
	if r.next() == ']' {
		r.at++
		return
	}
	for !r.broken {
		v.items = append(v.items, r.value(depth+1))
		if !r.more(']') {
			return
		}
	}
}

// more reads a comma, or the end of a list or mapping.
func (r *jsonReader) more(end byte) bool {
	switch r.next() {
	case ',':
		r.at++
		return true
	case end:
		r.at++
		return false
	}
	r.stop("a comma or " + string(end) + " is missing")
	return false
}

func (r *jsonReader) members(v *node, depth int) {
	r.at++
	if r.next() == '}' {
		r.at++
		return
	}
	for !r.broken {
		if r.next() != '"' {
			r.stop("a key in quotes is missing")
			return
		}
		k := &node{kind: text, line: int32(r.line), column: int32(r.at - r.start + 1)}
		k.text = r.text()
		if r.next() != ':' {
			r.stop("a colon is missing")
			return
		}
		r.at++
		v.members = append(v.members, member{k, r.value(depth + 1)})
		if !r.more('}') {
			break
		}
	}
	duplicates(v.members, func(again, first *node) {
		r.problems = addDuplicate(r.problems, again, first)
	})
}

var (
	jsonNumber = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?`)
	jsonWords  = []struct {
		word string
		kind kind
	}{{"null", null}, {"true", boolean}, {"false", boolean}}
)

func (r *jsonReader) literal(v *node) *node {
	rest := r.raw[r.at:]
	for _, w := range jsonWords {
		if bytes.HasPrefix(rest, []byte(w.word)) {
			v.kind, v.text = w.kind, w.word
			r.at += len(w.word)
			return v
		}
	}
	m := jsonNumber.FindSubmatch(rest)
	if m == nil {
		return r.stop("a value is missing")
	}
	var err error
	if v.text = string(m[0]); len(m[1])+len(m[2]) > 0 {
		v.kind = float
		f, _ := strconv.ParseFloat(v.text, 64)
		v.text, err = floatLiteral(f)
	} else if v.kind = integer; v.text == "-0" {
		v.text = "0"
	} else {
		v.text, err = bounded(v.text)
	}
	if err != nil {
		r.fail(r.at, clip(string(m[0]))+" "+err.Error())
	}
	r.at += len(m[0])
	return v
}

// text reads a string.
func (r *jsonReader) text() string {
	r.at++
	start := r.at
	for r.at < len(r.raw) && r.raw[r.at] != '"' && r.raw[r.at] != '\\' && r.raw[r.at] >= ' ' {
		r.at++
	}
	if r.at < len(r.raw) && r.raw[r.at] == '"' {
		r.at++
		return string(r.raw[start : r.at-1])
	}
	b := bytes.Clone(r.raw[start:r.at])
	for r.at < len(r.raw) {
		c := r.raw[r.at]
		r.at++
		switch {
		case c == '"':
			return string(b)
		case c < ' ':
			r.at--
			r.stop("a control character stands in a string")
			return ""
		case c == '\\':
			b = r.escape(b)
		default:
			b = append(b, c)
		}
	}
	r.stop("a string has no end")
	return ""
}

func (r *jsonReader) escape(b []byte) []byte {
	if r.at >= len(r.raw) {
		return b
	}
	c := r.raw[r.at]
	r.at++
	switch c {
	case '"', '\\', '/':
		return append(b, c)
	case 'u':
		return r.unicode(b)
	}
	if i := bytes.IndexByte([]byte("bfnrt"), c); i >= 0 {
		return append(b, "\b\f\n\r\t"[i])
	}
	r.at--
	r.stop("there is no such escape")
	r.at = len(r.raw)
	return b
}

// unicode reads the digits of \u, and the second half of a pair.
func (r *jsonReader) unicode(b []byte) []byte {
	u, ok := r.unit(r.at)
	if !ok {
		r.stop(`\u needs four hexadecimal digits`)
		r.at = len(r.raw)
		return b
	}
	r.at += 4
	if u>>10 == 0xd800>>10 && bytes.HasPrefix(r.raw[r.at:], []byte(`\u`)) {
		if low, ok := r.unit(r.at + 2); ok && low>>10 == 0xdc00>>10 {
			r.at += 6
			return utf8.AppendRune(b, 0x10000+(u&0x3ff)<<10|low&0x3ff)
		}
	}
	if u>>11 == 0xd800>>11 { // half a pair, kept as Python keeps it
		return append(b, 0xe0|byte(u>>12), 0x80|byte(u>>6&0x3f), 0x80|byte(u&0x3f))
	}
	return utf8.AppendRune(b, u)
}

func (r *jsonReader) unit(at int) (rune, bool) {
	if at+4 > len(r.raw) {
		return 0, false
	}
	for _, c := range r.raw[at : at+4] {
		if !bytes.ContainsRune([]byte("0123456789abcdefABCDEF"), rune(c)) {
			return 0, false
		}
	}
	u, err := strconv.ParseUint(string(r.raw[at:at+4]), 16, 32)
	return rune(u), err == nil
}
