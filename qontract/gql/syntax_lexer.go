package gql

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A tokenKind is the kind of a token.
type tokenKind uint8

const (
	tokenStart tokenKind = iota
	tokenEnd
	tokenPunctuator // one character, or "..."
	tokenName
	tokenInt
	tokenFloat
	tokenString
	tokenBlockString
)

// tokenKindWords are the names of the token kinds in error messages.
var tokenKindWords = [...]string{"<SOF>", "<EOF>", "", "Name", "Int", "Float", "String", "BlockString"}

// A token is one lexical token of the text. Its value is the punctuator itself, the text of
// a name or a number, or the content of a string with its escapes resolved.
type token struct {
	kind       tokenKind
	start, end int
	value      string
}

// String describes the token for an error message.
func (t *token) String() string {
	switch t.kind {
	case tokenStart, tokenEnd:
		return tokenKindWords[t.kind]
	case tokenPunctuator:
		return `"` + t.value + `"`
	}
	return tokenKindWords[t.kind] + ` "` + t.value + `"`
}

// A lexer splits a text into tokens. It rejects the same texts as graphql-js 16, with the
// same messages.
type lexer struct {
	*sourceText
}

// syntaxError returns the error for a text that is not valid GraphQL.
func (t *sourceText) syntaxError(pos int, format string, args ...any) *Error {
	return &Error{Code: CodeParse, Message: "Syntax Error: " + fmt.Sprintf(format, args...),
		Locations: []Location{t.locate(pos)}}
}

// describeChar names the character at an offset for an error message.
func (t *sourceText) describeChar(pos int) string {
	if pos >= len(t.src) {
		return "<EOF>"
	}
	r, _ := utf8.DecodeRuneInString(t.src[pos:])
	if half, ok := decodeSurrogate(t.src[pos:]); ok {
		r = half
	}
	switch {
	case r == '"':
		return `'"'`
	case 0x20 <= r && r <= 0x7E:
		return `"` + string(r) + `"`
	}
	return fmt.Sprintf("U+%04X", r)
}

// validChar returns the size of the character at an offset in bytes. It is not ok for a
// lone surrogate and for a byte that is not valid UTF-8.
func (t *sourceText) validChar(pos int) (size int, ok bool) {
	if t.src[pos] < utf8.RuneSelf {
		return 1, true
	}
	r, n := utf8.DecodeRuneInString(t.src[pos:])
	return n, r != utf8.RuneError || n > 1
}

// byteAt returns the byte at an offset, or 0 after the end of the text.
func (t *sourceText) byteAt(pos int) byte {
	if pos < len(t.src) {
		return t.src[pos]
	}
	return 0
}

// nextToken returns the first token at or after an offset.
func (l *lexer) nextToken(pos int) (token, *Error) {
	for pos < len(l.src) {
		switch c := l.src[pos]; {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == ',':
			pos++
		case c == '#':
			pos = l.skipComment(pos)
		case c == 0xEF && strings.HasPrefix(l.src[pos:], "\ufeff"):
			pos += 3
		case isNameStart(c):
			end := pos + 1
			for end < len(l.src) && (isNameStart(l.src[end]) || isDigit(l.src[end])) {
				end++
			}
			return token{tokenName, pos, end, l.src[pos:end]}, nil
		case strings.IndexByte("{}():!$=@[]|&", c) >= 0:
			return token{tokenPunctuator, pos, pos + 1, l.src[pos : pos+1]}, nil
		case strings.HasPrefix(l.src[pos:], "..."):
			return token{tokenPunctuator, pos, pos + 3, "..."}, nil
		case strings.HasPrefix(l.src[pos:], `"""`):
			return l.readBlockString(pos)
		case c == '"':
			return l.readString(pos)
		case isDigit(c) || c == '-':
			return l.readNumber(pos)
		default:
			return token{}, l.unexpectedChar(pos)
		}
	}
	return token{kind: tokenEnd, start: len(l.src), end: len(l.src)}, nil
}

// unexpectedChar returns the error for a character that cannot begin a token.
func (l *lexer) unexpectedChar(pos int) *Error {
	if l.src[pos] == '\'' {
		return l.syntaxError(pos, `Unexpected single quote character ('), did you mean to use a double quote (")?`)
	}
	if _, ok := l.validChar(pos); !ok {
		return l.syntaxError(pos, "Invalid character: %s.", l.describeChar(pos))
	}
	return l.syntaxError(pos, "Unexpected character: %s.", l.describeChar(pos))
}

// skipComment returns the offset after a comment.
func (l *lexer) skipComment(pos int) int {
	for pos < len(l.src) && l.src[pos] != '\n' && l.src[pos] != '\r' {
		size, ok := l.validChar(pos)
		if !ok {
			break
		}
		pos += size
	}
	return pos
}

// readNumber reads an Int or a Float token.
func (l *lexer) readNumber(start int) (token, *Error) {
	kind, pos := tokenInt, start
	if l.src[pos] == '-' {
		pos++
	}
	var err *Error
	if l.byteAt(pos) == '0' {
		if pos++; isDigit(l.byteAt(pos)) {
			return token{}, l.syntaxError(pos, "Invalid number, unexpected digit after 0: %s.", l.describeChar(pos))
		}
	} else if pos, err = l.skipDigits(pos); err != nil {
		return token{}, err
	}
	if l.byteAt(pos) == '.' {
		kind = tokenFloat
		if pos, err = l.skipDigits(pos + 1); err != nil {
			return token{}, err
		}
	}
	if c := l.byteAt(pos); c == 'e' || c == 'E' {
		kind = tokenFloat
		if c := l.byteAt(pos + 1); c == '+' || c == '-' {
			pos++
		}
		if pos, err = l.skipDigits(pos + 1); err != nil {
			return token{}, err
		}
	}
	if c := l.byteAt(pos); c == '.' || isNameStart(c) {
		return token{}, l.syntaxError(pos, "Invalid number, expected digit but got: %s.", l.describeChar(pos))
	}
	return token{kind, start, pos, l.src[start:pos]}, nil
}

// skipDigits returns the offset after one or more digits.
func (l *lexer) skipDigits(pos int) (int, *Error) {
	if !isDigit(l.byteAt(pos)) {
		return 0, l.syntaxError(pos, "Invalid number, expected digit but got: %s.", l.describeChar(pos))
	}
	for isDigit(l.byteAt(pos)) {
		pos++
	}
	return pos, nil
}

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
