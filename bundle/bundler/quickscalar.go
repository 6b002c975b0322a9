package bundler

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Classes of ASCII characters, as bits.
const (
	keyFirst  = 1 << iota // may begin a key
	keyRest               // may follow in one
	flowFirst             // may begin a plain value inside of brackets
	flowRest              // may follow in one
	lineFirst             // may begin a plain value on a line of its own
)

// class tells what a character may do in text without quotes.
var class = classes()

func classes() (t [256]uint8) {
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

// maxKey is how long a key may be; the limit of YAML is 1024 characters.
const maxKey = 200

// key reads a key and its colon. When there is none it does not move.
func (q *quick) key() (*node, bool) {
	start := q.at
	var n *node
	if c := q.peek(0); c == '"' || c == '\'' {
		s, ok := q.quoted()
		n = q.node(text, s)
		if !ok || q.at-start > maxKey {
			q.at = start
			return nil, false
		}
		q.spaces()
	} else {
		if class[c]&keyFirst == 0 {
			return nil, false
		}
		for q.at < len(q.s) && class[q.s[q.at]]&keyRest != 0 {
			q.at++
		}
		var ok bool
		if n, ok = q.resolve(q.s[start:q.at]); !ok || q.at-start > maxKey {
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

// resolve decides what text without quotes is.
func (q *quick) resolve(s string) (*node, bool) {
	s = strings.TrimRight(s, " ")
	k, lit, err := plain(s)
	if err != nil || s == "" {
		return nil, false
	}
	return q.node(k, lit), true
}

// plainLine reads text without quotes up to the end of the line.
func (q *quick) plainLine() *node {
	start := q.at
	if c := q.peek(0); class[c]&lineFirst == 0 && (c != '-' || class[q.peek(1)]&lineFirst == 0) {
		return q.fail()
	}
	q.toLineEnd()
	s := q.s[start:q.at]
	if i := strings.Index(s, " #"); i >= 0 {
		s = s[:i]
	}
	s = strings.TrimRight(s, " ")
	if strings.Contains(s, ": ") || strings.HasSuffix(s, ":") {
		return q.fail()
	}
	n, ok := q.resolve(s)
	if !ok {
		return q.fail()
	}
	return n
}

// quoted reads text in quotes that ends on its line.
func (q *quick) quoted() (string, bool) {
	quote := q.s[q.at]
	rest := q.s[q.at+1:]
	i := strings.IndexByte(rest, quote)
	if i < 0 {
		return "", false
	}
	s := rest[:i]
	switch {
	case quote == '\'' && i+1 < len(rest) && rest[i+1] == '\'':
		return q.doubled(rest)
	case quote == '"' && strings.IndexByte(s, '\\') >= 0:
		return q.escaped(rest)
	case strings.IndexByte(s, '\n') >= 0:
		return "", false
	}
	q.at += i + 2
	return s, true
}

// doubled reads the rest of text in single quotes that has some inside.
func (q *quick) doubled(rest string) (string, bool) {
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

// escaped reads the rest of text in double quotes that has escapes.
func (q *quick) escaped(rest string) (string, bool) {
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
				r, ok := unicodeEscape(rest[i+1:])
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

func unicodeEscape(s string) (rune, bool) {
	if len(s) < 4 || s[0] == '+' || s[0] == '-' {
		return 0, false
	}
	u, err := strconv.ParseUint(s[:4], 16, 16)
	return rune(u), err == nil && (u < 0xd800 || u > 0xdfff)
}
