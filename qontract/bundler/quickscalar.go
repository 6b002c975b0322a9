package bundler

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Classes of ASCII characters, as bits.
const (
	keyFirst  = 1 << iota // may begin a key
	keyRest               // may follow in a key
	flowFirst             // may begin a plain value within brackets
	flowRest              // may follow in a plain value within brackets
	lineFirst             // may begin a plain value outside of brackets
)

// charClasses holds the classes of each byte: where it may stand in text without
// quotes.
var charClasses = newCharClasses()

// newCharClasses returns the classes of all bytes.
func newCharClasses() (t [256]uint8) {
	set := func(bits uint8, chars string) {
		for _, c := range []byte(chars) {
			t[c] |= bits
		}
	}
	const alnum = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	set(keyFirst|keyRest|flowFirst|flowRest|lineFirst, alnum+"_$./+")
	set(keyRest, "-@()= ")
	set(flowRest, "-=?&@%~;()!*^<>| ")
	set(lineFirst, "(<=~^;")
	for c := utf8.RuneSelf; c < 256; c++ {
		t[c] = flowFirst | flowRest | lineFirst
	}
	return t
}

// maxKey bounds a key in bytes. It is below the limit of YAML, 1024 characters.
const maxKey = 200

// readKey reads a key and its colon. If there is no key, the position does not
// change.
func (q *quickReader) readKey() (*node, bool) {
	start := q.at
	var n *node
	if c := q.peek(0); c == '"' || c == '\'' {
		s, ok := q.readQuoted()
		n = q.newNode(text, s)
		if !ok || q.at-start > maxKey {
			q.at = start
			return nil, false
		}
		q.skipSpaces()
	} else {
		if charClasses[c]&keyFirst == 0 {
			return nil, false
		}
		for q.at < len(q.s) && charClasses[q.s[q.at]]&keyRest != 0 {
			q.at++
		}
		var ok bool
		if n, ok = q.newPlainNode(q.s[start:q.at]); !ok || q.at-start > maxKey {
			q.at = start
			return nil, false
		}
	}
	if q.peek(0) != ':' || q.peek(1) != ' ' && q.peek(1) != '\n' {
		q.at = start
		return nil, false
	}
	q.at++
	return n, true
}

// newPlainNode returns a scalar from text without quotes.
func (q *quickReader) newPlainNode(s string) (*node, bool) {
	s = strings.TrimRight(s, " ")
	k, lit, err := resolvePlain(s)
	if err != nil || s == "" {
		return nil, false
	}
	return q.newNode(k, lit), true
}

// readPlainLine reads text without quotes up to the end of the line.
func (q *quickReader) readPlainLine() *node {
	start := q.at
	if c := q.peek(0); charClasses[c]&lineFirst == 0 && (c != '-' || charClasses[q.peek(1)]&lineFirst == 0) {
		return q.fail()
	}
	q.skipToLineEnd()
	s := q.s[start:q.at]
	if i := strings.Index(s, " #"); i >= 0 {
		s = s[:i]
	}
	s = strings.TrimRight(s, " ")
	if strings.Contains(s, ": ") || strings.HasSuffix(s, ":") {
		return q.fail()
	}
	n, ok := q.newPlainNode(s)
	if !ok {
		return q.fail()
	}
	return n
}

// readQuoted reads text in quotes that ends on its line.
func (q *quickReader) readQuoted() (string, bool) {
	quote := q.s[q.at]
	rest := q.s[q.at+1:]
	i := strings.IndexByte(rest, quote)
	if i < 0 {
		return "", false
	}
	s := rest[:i]
	switch {
	case quote == '\'' && i+1 < len(rest) && rest[i+1] == '\'':
		return q.readDoubledQuotes(rest)
	case quote == '"' && strings.IndexByte(s, '\\') >= 0:
		return q.readEscapes(rest)
	case strings.IndexByte(s, '\n') >= 0:
		return "", false
	}
	q.at += i + 2
	return s, true
}

// readDoubledQuotes reads the rest of text in single quotes that contains doubled
// single quotes.
func (q *quickReader) readDoubledQuotes(rest string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(rest) && rest[i] != '\n'; i++ {
		if rest[i] != '\'' {
			b.WriteByte(rest[i])
			continue
		}
		if i+1 == len(rest) || rest[i+1] != '\'' {
			q.at += i + 2
			return b.String(), true
		}
		b.WriteByte('\'')
		i++
	}
	return "", false
}

// readEscapes reads the rest of text in double quotes that contains escapes.
func (q *quickReader) readEscapes(rest string) (string, bool) {
	b := make([]byte, 0, 64)
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; c {
		case '\n':
			return "", false
		case '"':
			q.at += i + 2
			return string(b), true
		case '\\':
			i++
			if i < len(rest) && rest[i] == 'u' {
				r, ok := parseUnicodeEscape(rest[i+1:])
				if !ok {
					return "", false
				}
				b = utf8.AppendRune(b, r)
				i += 4
				continue
			}
			at := -1
			if i < len(rest) {
				at = strings.IndexByte(`"\/bfnrt`, rest[i])
			}
			if at < 0 {
				return "", false
			}
			b = append(b, "\"\\/\b\f\n\r\t"[at])
		default:
			b = append(b, c)
		}
	}
	return "", false
}

// parseUnicodeEscape returns the character of the four digits after \u. Halves of
// surrogate pairs are refused.
func parseUnicodeEscape(s string) (rune, bool) {
	if len(s) < 4 || s[0] == '+' || s[0] == '-' {
		return 0, false
	}
	u, err := strconv.ParseUint(s[:4], 16, 16)
	return rune(u), err == nil && (u < 0xd800 || u > 0xdfff)
}
