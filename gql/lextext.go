package gql

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// text reads a string between single quotes marks.
func (l *lexer) text() (token, error) {
	start := l.pos
	l.pos++
	var out strings.Builder
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; c {
		case '"':
			l.pos++
			return token{tokenString, start, out.String()}, nil
		case '\n', '\r':
			return token{}, l.fail(l.pos, "Unterminated string.")
		case '\\':
			if err := l.escape(&out); err != nil {
				return token{}, err
			}
		default:
			n, ok := scalar(l.src[l.pos:])
			if !ok {
				return token{}, l.fail(l.pos, "Invalid character within String: %s.", l.describe(l.pos))
			}
			out.WriteString(l.src[l.pos : l.pos+n])
			l.pos += n
		}
	}
	return token{}, l.fail(l.pos, "Unterminated string.")
}

// escape reads one escape sequence.
func (l *lexer) escape(out *strings.Builder) error {
	c := l.at(l.pos + 1)
	if c == 'u' {
		if l.at(l.pos+2) == '{' {
			return l.braced(out)
		}
		return l.fixed(out)
	}
	i := strings.IndexByte(`"\/bfnrt`, c)
	if i < 0 || c == 0 {
		end := min(l.pos+2, len(l.src))
		return l.fail(l.pos, `Invalid character escape sequence: "%s".`, l.src[l.pos:end])
	}
	out.WriteByte("\"\\/\b\f\n\r\t"[i])
	l.pos += 2
	return nil
}

// fixed reads an escape of four hex digits, or two of them that form a pair.
func (l *lexer) fixed(out *strings.Builder) error {
	r, ok := hex(l.src, l.pos+2, l.pos+6)
	n := 6
	if ok && utf16.IsSurrogate(r) {
		low, more := hex(l.src, l.pos+8, l.pos+12)
		r = utf16.DecodeRune(r, low)
		ok = more && l.src[l.pos+6:l.pos+8] == `\u` && r != utf8.RuneError
		n = 12
	}
	if !ok {
		return l.fail(l.pos, `Invalid Unicode escape sequence: "%s".`, l.src[l.pos:min(l.pos+6, len(l.src))])
	}
	out.WriteRune(r)
	l.pos += n
	return nil
}

// braced reads an escape of up to eight hex digits between braces.
func (l *lexer) braced(out *strings.Builder) error {
	first := l.pos + 3
	end := first
	for end < first+8 && end < len(l.src) && hexDigit(l.src[end]) >= 0 {
		end++
	}
	r, ok := hex(l.src, first, end)
	if !ok || end == first || l.at(end) != '}' || !utf8.ValidRune(r) {
		return l.fail(l.pos, `Invalid Unicode escape sequence: "%s".`, l.src[l.pos:min(end+1, len(l.src))])
	}
	out.WriteRune(r)
	l.pos = end + 1
	return nil
}

// hex decodes the digits between two positions.
func hex(s string, from, to int) (rune, bool) {
	if to > len(s) {
		return 0, false
	}
	var r rune
	for _, c := range []byte(s[from:to]) {
		d := hexDigit(c)
		if d < 0 {
			return 0, false
		}
		r = r<<4 | d
	}
	return r, true
}

func hexDigit(c byte) rune {
	switch {
	case isDigit(c):
		return rune(c - '0')
	case 'a' <= c && c <= 'f':
		return rune(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return rune(c-'A') + 10
	}
	return -1
}

// block reads a string between triple quotation marks.
func (l *lexer) block() (token, error) {
	start := l.pos
	l.pos += 3
	var lines []string
	var line strings.Builder
	for l.pos < len(l.src) {
		rest := l.src[l.pos:]
		switch {
		case strings.HasPrefix(rest, `"""`):
			l.pos += 3
			return token{tokenBlock, start, dedent(append(lines, line.String()))}, nil
		case strings.HasPrefix(rest, `\"""`):
			line.WriteString(`"""`)
			l.pos += 4
		case rest[0] == '\n' || rest[0] == '\r':
			lines = append(lines, line.String())
			line.Reset()
			l.pos++
			if strings.HasPrefix(rest, "\r\n") {
				l.pos++
			}
		default:
			n, ok := scalar(rest)
			if !ok {
				return token{}, l.fail(l.pos, "Invalid character within String: %s.", l.describe(l.pos))
			}
			line.WriteString(rest[:n])
			l.pos += n
		}
	}
	return token{}, l.fail(l.pos, "Unterminated string.")
}

// dedent takes the indentation that all lines but the first share, and the
// blank lines at both ends, away.
func dedent(lines []string) string {
	shared, first, last := -1, -1, -1
	for i, line := range lines {
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		if indent == len(line) {
			continue
		}
		if first < 0 {
			first = i
		}
		last = i
		if i > 0 && (shared < 0 || indent < shared) {
			shared = indent
		}
	}
	if first < 0 {
		return ""
	}
	for i := 1; i < len(lines) && shared > 0; i++ {
		lines[i] = lines[i][min(shared, len(lines[i])):]
	}
	return strings.Join(lines[first:last+1], "\n")
}
