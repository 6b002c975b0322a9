package gql

import (
	"strings"
	"unicode/utf8"
)

// readString reads a string between single double quotes, which stands on one line.
func (l *lexer) readString(start int) (token, *Error) {
	var out []byte
	pos := start + 1
	from := pos // start of the text that is not yet copied to out
	for pos < len(l.src) {
		switch l.src[pos] {
		case '"':
			value := l.src[from:pos]
			if out != nil {
				value = string(append(out, value...))
			}
			return token{tokenString, start, pos + 1, value}, nil
		case '\n', '\r':
			return token{}, l.syntaxError(pos, "Unterminated string.")
		case '\\':
			out = append(out, l.src[from:pos]...)
			r, size, err := l.readEscape(pos)
			if err != nil {
				return token{}, err
			}
			out = utf8.AppendRune(out, r)
			pos += size
			from = pos
		default:
			size, ok := l.validChar(pos)
			if !ok {
				return token{}, l.syntaxError(pos, "Invalid character within String: %s.", l.describeChar(pos))
			}
			pos += size
		}
	}
	return token{}, l.syntaxError(pos, "Unterminated string.")
}

// readEscape reads an escape sequence. It returns the character and the size of the
// sequence.
func (l *lexer) readEscape(pos int) (r rune, size int, err *Error) {
	c := l.byteAt(pos + 1)
	if c == 'u' && l.byteAt(pos+2) == '{' {
		return l.readBracedEscape(pos)
	}
	if c == 'u' {
		return l.readFixedEscape(pos)
	}
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 && pos+1 < len(l.src) {
		return rune("\"\\/\b\f\n\r\t"[i]), 2, nil
	}
	return 0, 0, l.syntaxError(pos, `Invalid character escape sequence: "%s".`, l.sliceUnits(pos, 2))
}

// readBracedEscape reads an escape of the form \u{1F600}.
func (l *lexer) readBracedEscape(pos int) (rune, int, *Error) {
	const longest = len(`\u{00000000}`)
	r := rune(0)
	size := len(`\u{`)
	for size < longest {
		c := l.byteAt(pos + size)
		size++
		if c == '}' && size > len(`\u{}`) && utf8.ValidRune(r) {
			return r, size, nil
		}
		digit := hexDigit(c)
		if digit < 0 {
			break
		}
		if r = r<<4 | digit; r < 0 {
			break
		}
	}
	return 0, 0, l.syntaxError(pos, `Invalid Unicode escape sequence: "%s".`, l.sliceUnits(pos, size))
}

// readFixedEscape reads an escape of the form \u00e9, or two of them that form a surrogate
// pair.
func (l *lexer) readFixedEscape(pos int) (rune, int, *Error) {
	const one, two = len(`\u0000`), len(`\u0000\u0000`)
	r := l.fourHexDigits(pos + 2)
	if r >= 0 && utf8.ValidRune(r) {
		return r, one, nil
	}
	if 0xD800 <= r && r <= 0xDBFF && strings.HasPrefix(l.src[min(pos+one, len(l.src)):], `\u`) {
		if low := l.fourHexDigits(pos + one + 2); 0xDC00 <= low && low <= 0xDFFF {
			return (r-0xD800)<<10 + (low - 0xDC00) + 0x10000, two, nil
		}
	}
	return 0, 0, l.syntaxError(pos, `Invalid Unicode escape sequence: "%s".`, l.sliceUnits(pos, one))
}

// fourHexDigits returns the value of four hexadecimal digits, or -1.
func (l *lexer) fourHexDigits(pos int) rune {
	r := rune(0)
	for i := range 4 {
		digit := hexDigit(l.byteAt(pos + i))
		if digit < 0 {
			return -1
		}
		r = r<<4 | digit
	}
	return r
}

// readBlockString reads a string between triple quotes.
func (l *lexer) readBlockString(start int) (token, *Error) {
	pos := start + 3
	var lines []string
	var line strings.Builder
	from := pos
	for pos < len(l.src) {
		rest := l.src[pos:]
		switch c := rest[0]; {
		case strings.HasPrefix(rest, `"""`):
			line.WriteString(l.src[from:pos])
			return token{tokenBlockString, start, pos + 3, dedentBlock(append(lines, line.String()))}, nil
		case strings.HasPrefix(rest, `\"""`):
			line.WriteString(l.src[from:pos])
			from = pos + 1
			pos += 4
		case c == '\n' || c == '\r':
			line.WriteString(l.src[from:pos])
			lines = append(lines, line.String())
			line.Reset()
			if pos++; strings.HasPrefix(rest, "\r\n") {
				pos++
			}
			from = pos
		default:
			size, ok := l.validChar(pos)
			if !ok {
				return token{}, l.syntaxError(pos, "Invalid character within String: %s.", l.describeChar(pos))
			}
			pos += size
		}
	}
	return token{}, l.syntaxError(pos, "Unterminated string.")
}

// dedentBlock returns the value of a block string. It removes the indentation that all
// lines but the first share, and the blank lines at the beginning and the end.
func dedentBlock(lines []string) string {
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
