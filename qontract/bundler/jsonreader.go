package bundler

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// readJSON reads a .json file as Python's json does. The result is nil for null.
func readJSON(raw []byte) (*node, []Problem) {
	if p := checkEncoding(raw); p != nil {
		return nil, p
	}
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	r := jsonReader{raw: raw, line: 1}
	v := r.readValue(0)
	if r.skipSpace(); r.problems == nil && r.at < len(raw) {
		r.addProblem(r.at, "there is more text after the end of the JSON value: remove it")
	}
	if r.problems != nil {
		return nil, r.problems
	}
	if v.kind == null {
		return nil, nil
	}
	return v, nil
}

// A jsonReader reads JSON and collects problems. It stops at the first error in the
// syntax, but goes on after problems such as a duplicate key.
type jsonReader struct {
	raw       []byte
	at        int
	line      int // the line of at, from 1
	lineStart int // where this line begins
	broken    bool
	problems  []Problem
}

// addProblem adds a problem at a place in the file, and returns an empty node.
func (r *jsonReader) addProblem(at int, msg string) *node {
	if !r.broken && len(r.problems) < maxProblems {
		r.problems = append(r.problems, newProblemAt(r.raw, min(at, len(r.raw)), msg))
	}
	return &node{}
}

// failSyntax adds an error in the syntax, after which nothing more is read.
func (r *jsonReader) failSyntax(msg string) *node {
	v := r.addProblem(r.at, "this is not JSON: "+msg)
	r.broken = true
	return v
}

// skipSpace skips white space.
func (r *jsonReader) skipSpace() {
	for ; r.at < len(r.raw); r.at++ {
		switch r.raw[r.at] {
		case ' ', '\t', '\r':
		case '\n':
			r.line, r.lineStart = r.line+1, r.at+1
		default:
			return
		}
	}
}

// peekByte skips white space and returns the next byte, 0 at the end.
func (r *jsonReader) peekByte() byte {
	if r.skipSpace(); r.at < len(r.raw) {
		return r.raw[r.at]
	}
	return 0
}

// readValue reads a value of any kind.
func (r *jsonReader) readValue(depth int) *node {
	c := r.peekByte()
	v := &node{line: int32(r.line), column: int32(r.at - r.lineStart + 1)}
	switch {
	case depth > maxDepth:
		return r.failSyntax("it is more than " + strconv.Itoa(maxDepth) + " levels deep")
	case c == '{':
		v.kind = mapping
		r.readMembers(v, depth)
	case c == '[':
		v.kind = list
		r.readItems(v, depth)
	case c == '"':
		v.kind, v.text = text, r.readString()
	default:
		return r.readLiteral(v)
	}
	return v
}

// readItems reads the items of a list.
func (r *jsonReader) readItems(v *node, depth int) {
	r.at++
	if r.peekByte() == ']' {
		r.at++
		return
	}
	for !r.broken {
		v.items = append(v.items, r.readValue(depth+1))
		if !r.readSeparator(']') {
			return
		}
	}
}

// readSeparator reads a comma or the end of a list or mapping. It reports whether
// another item follows.
func (r *jsonReader) readSeparator(end byte) bool {
	switch r.peekByte() {
	case ',':
		r.at++
		return true
	case end:
		r.at++
		return false
	}
	r.failSyntax("a comma or " + string(end) + " is missing")
	return false
}

// readMembers reads the members of a mapping.
func (r *jsonReader) readMembers(v *node, depth int) {
	r.at++
	if r.peekByte() == '}' {
		r.at++
		return
	}
	for !r.broken {
		if r.peekByte() != '"' {
			r.failSyntax("a key in quotes is missing")
			return
		}
		k := &node{kind: text, line: int32(r.line), column: int32(r.at - r.lineStart + 1)}
		k.text = r.readString()
		if r.peekByte() != ':' {
			r.failSyntax("a colon is missing")
			return
		}
		r.at++
		v.members = append(v.members, member{k, r.readValue(depth + 1)})
		if !r.readSeparator('}') {
			break
		}
	}
	findDuplicates(v.members, func(again, first *node) {
		r.problems = addDuplicateProblem(r.problems, again, first)
	})
}

var (
	jsonNumber = lazyregexp.New(`^-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?`)
	jsonWords  = []struct {
		word string
		kind kind
	}{{"null", null}, {"true", boolean}, {"false", boolean}}
)

// readLiteral reads null, true, false or a number.
func (r *jsonReader) readLiteral(v *node) *node {
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
		return r.failSyntax("a value is missing")
	}
	var err error
	if v.text = string(m[0]); len(m[1])+len(m[2]) > 0 {
		v.kind = float
		f, _ := strconv.ParseFloat(v.text, 64)
		v.text, err = formatFloat(f)
	} else if v.kind = integer; v.text == "-0" {
		v.text = "0"
	} else {
		v.text, err = limitDigits(v.text)
	}
	if err != nil {
		r.addProblem(r.at, quoteShort(string(m[0]))+" "+err.Error())
	}
	r.at += len(m[0])
	return v
}

// readString reads a string.
func (r *jsonReader) readString() string {
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
			r.failSyntax("a string contains a control character")
			return ""
		case c == '\\':
			b = r.readEscape(b)
		default:
			b = append(b, c)
		}
	}
	r.failSyntax("a string has no end")
	return ""
}

// readEscape reads the rest of an escape after its backslash and appends its
// character to b.
func (r *jsonReader) readEscape(b []byte) []byte {
	if r.at >= len(r.raw) {
		return b
	}
	c := r.raw[r.at]
	r.at++
	switch c {
	case '"', '\\', '/':
		return append(b, c)
	case 'u':
		return r.readUnicodeEscape(b)
	}
	if i := bytes.IndexByte([]byte("bfnrt"), c); i >= 0 {
		return append(b, "\b\f\n\r\t"[i])
	}
	r.at--
	r.failSyntax("this escape does not exist")
	r.at = len(r.raw)
	return b
}

// readUnicodeEscape reads the digits of \u, and the second half of a surrogate pair
// if there is one.
func (r *jsonReader) readUnicodeEscape(b []byte) []byte {
	u, ok := r.parseHex(r.at)
	if !ok {
		r.failSyntax(`\u needs four hexadecimal digits`)
		r.at = len(r.raw)
		return b
	}
	r.at += 4
	if u>>10 == 0xd800>>10 && bytes.HasPrefix(r.raw[r.at:], []byte(`\u`)) {
		if low, ok := r.parseHex(r.at + 2); ok && low>>10 == 0xdc00>>10 {
			r.at += 6
			return utf8.AppendRune(b, 0x10000+(u&0x3ff)<<10|low&0x3ff)
		}
	}
	if u>>11 == 0xd800>>11 { // half of a surrogate pair: Python keeps it, so it is kept
		return append(b, 0xe0|byte(u>>12), 0x80|byte(u>>6&0x3f), 0x80|byte(u&0x3f))
	}
	return utf8.AppendRune(b, u)
}

// parseHex returns the number that four hexadecimal digits at a place stand for.
func (r *jsonReader) parseHex(at int) (rune, bool) {
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
