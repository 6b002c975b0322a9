package openapi

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// number reads a number and returns its literal.
func (p *parser) number() (string, error) {
	begin := p.at
	if p.peek() == '-' {
		p.at++
	}
	ok := p.peek() == '0'
	if ok {
		p.at++
	} else {
		ok = p.digits()
	}
	if ok && p.peek() == '.' {
		p.at++
		ok = p.digits()
	}
	if c := p.peek(); ok && (c == 'e' || c == 'E') {
		p.at++
		if c := p.peek(); c == '+' || c == '-' {
			p.at++
		}
		ok = p.digits()
	}
	if !ok {
		return "", p.wrong("a number is broken")
	}
	return p.text[begin:p.at], nil
}

func (p *parser) digits() bool {
	begin := p.at
	for c := p.peek(); c >= '0' && c <= '9'; c = p.peek() {
		p.at++
	}
	return p.at > begin
}

// str reads a string and returns what it says. Without escapes that is a part of the text.
func (p *parser) str() (string, error) {
	p.at++
	begin := p.at
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return p.text[begin : p.at-1], nil
		case c == '\\':
			return p.escaped(p.text[begin:p.at])
		case c < ' ':
			return "", p.wrong("a control character stands in a string")
		}
	}
	return "", p.wrong("a string does not end")
}

// escaped reads the rest of a string that has escapes.
func (p *parser) escaped(head string) (string, error) {
	out := []byte(head)
	for p.at < len(p.text) {
		c := p.text[p.at]
		p.at++
		switch {
		case c == '"':
			return string(out), nil
		case c < ' ':
			return "", p.wrong("a control character stands in a string")
		case c != '\\':
			out = append(out, c)
		case p.peek() == 'u':
			r, ok := p.unicode()
			if !ok {
				return "", p.wrong("an escape in a string is broken")
			}
			out = utf8.AppendRune(out, r)
		default:
			i := strings.IndexByte(`"\/bfnrt`, p.peek())
			if i < 0 || p.at >= len(p.text) {
				return "", p.wrong("an escape in a string is broken")
			}
			out = append(out, "\"\\/\b\f\n\r\t"[i])
			p.at++
		}
	}
	return "", p.wrong("a string does not end")
}

// unicode reads the rest of \uXXXX, and a second half if the first is one of a pair. A half
// without its partner is U+FFFD, as in encoding/json.
func (p *parser) unicode() (rune, bool) {
	first, ok := p.hex(p.at + 1)
	if !ok {
		return 0, false
	}
	p.at += 5
	if !utf16.IsSurrogate(first) {
		return first, true
	}
	if strings.HasPrefix(p.text[p.at:], `\u`) {
		if second, ok := p.hex(p.at + 2); ok {
			if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
				p.at += 6
				return r, true
			}
		}
	}
	return utf8.RuneError, true
}

func (p *parser) hex(at int) (rune, bool) {
	if at+4 > len(p.text) {
		return 0, false
	}
	n, err := strconv.ParseUint(p.text[at:at+4], 16, 16)
	return rune(n), err == nil
}

// maxQuoted is the length in bytes up to which foreign text is quoted.
const maxQuoted = 200
