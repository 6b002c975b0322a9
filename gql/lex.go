package gql

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A tokenKind says what a token is.
type tokenKind uint8

const (
	tokenEOF tokenKind = iota
	tokenBang
	tokenDollar
	tokenAmp
	tokenParenL
	tokenParenR
	tokenSpread
	tokenColon
	tokenEquals
	tokenAt
	tokenBracketL
	tokenBracketR
	tokenBraceL
	tokenPipe
	tokenBraceR
	tokenName
	tokenInt
	tokenFloat
	tokenString
	tokenBlock
)

// String returns the name that syntax errors use.
func (k tokenKind) String() string {
	names := [...]string{"<EOF>", `"!"`, `"$"`, `"&"`, `"("`, `")"`, `"..."`, `":"`, `"="`, `"@"`,
		`"["`, `"]"`, `"{"`, `"|"`, `"}"`, "Name", "Int", "Float", "String", "BlockString"}
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("token %d", k)
}

// A token is one lexical unit of a document.
type token struct {
	kind  tokenKind
	start int    // in bytes
	value string // of names, numbers and strings
}

func (t token) String() string {
	if t.kind < tokenName {
		return t.kind.String()
	}
	return t.kind.String() + ` "` + t.value + `"`
}

// A syntaxError says where and why a document cannot be read.
type syntaxError struct {
	pos int
	msg string
}

func (e *syntaxError) Error() string { return "Syntax Error: " + e.msg }

// A lexer splits a document into tokens as graphql-js 16 does.
type lexer struct {
	src string
	pos int
}

func (l *lexer) fail(pos int, format string, args ...any) error {
	return &syntaxError{pos, fmt.Sprintf(format, args...)}
}

// next returns the next token; comments are left out.
func (l *lexer) next() (token, error) {
	l.skip()
	start := l.pos
	if start >= len(l.src) {
		return token{kind: tokenEOF, start: len(l.src)}, nil
	}
	c := l.src[start]
	if k := punctuator(c); k != tokenEOF {
		l.pos++
		return token{kind: k, start: start}, nil
	}
	switch {
	case c == '.' && strings.HasPrefix(l.src[start:], "..."):
		l.pos += 3
		return token{kind: tokenSpread, start: start}, nil
	case isNameStart(c):
		for l.pos < len(l.src) && (isNameStart(l.src[l.pos]) || isDigit(l.src[l.pos])) {
			l.pos++
		}
		return token{tokenName, start, l.src[start:l.pos]}, nil
	case isDigit(c) || c == '-':
		return l.number()
	case strings.HasPrefix(l.src[start:], `"""`):
		return l.block()
	case c == '"':
		return l.text()
	case c == '\'':
		return token{}, l.fail(start, `Unexpected single quote character ('), did you mean to use a double quote (")?`)
	}
	if r, n := utf8.DecodeRuneInString(l.src[start:]); r == utf8.RuneError && n == 1 {
		return token{}, l.fail(start, "Invalid character: %s.", l.describe(start))
	}
	return token{}, l.fail(start, "Unexpected character: %s.", l.describe(start))
}

// skip steps over white space, commas and comments.
func (l *lexer) skip() {
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',':
			l.pos++
		case c == '#':
			l.pos++
			for l.pos < len(l.src) && l.src[l.pos] != '\n' && l.src[l.pos] != '\r' {
				n, ok := scalar(l.src[l.pos:])
				if !ok {
					return
				}
				l.pos += n
			}
		case strings.HasPrefix(l.src[l.pos:], "\ufeff"):
			l.pos += len("\ufeff")
		default:
			return
		}
	}
}

// number reads an integer or a float.
func (l *lexer) number() (token, error) {
	start := l.pos
	kind := tokenInt
	if l.at(l.pos) == '-' {
		l.pos++
	}
	if l.at(l.pos) == '0' {
		l.pos++
		if isDigit(l.at(l.pos)) {
			return token{}, l.fail(l.pos, "Invalid number, unexpected digit after 0: %s.", l.describe(l.pos))
		}
	} else if err := l.digits(); err != nil {
		return token{}, err
	}
	if l.at(l.pos) == '.' {
		kind = tokenFloat
		l.pos++
		if err := l.digits(); err != nil {
			return token{}, err
		}
	}
	if c := l.at(l.pos); c == 'e' || c == 'E' {
		kind = tokenFloat
		l.pos++
		if c := l.at(l.pos); c == '+' || c == '-' {
			l.pos++
		}
		if err := l.digits(); err != nil {
			return token{}, err
		}
	}
	if c := l.at(l.pos); c == '.' || isNameStart(c) {
		return token{}, l.fail(l.pos, "Invalid number, expected digit but got: %s.", l.describe(l.pos))
	}
	return token{kind, start, l.src[start:l.pos]}, nil
}

func (l *lexer) digits() error {
	if !isDigit(l.at(l.pos)) {
		return l.fail(l.pos, "Invalid number, expected digit but got: %s.", l.describe(l.pos))
	}
	for isDigit(l.at(l.pos)) {
		l.pos++
	}
	return nil
}

// at returns the byte at a position, or 0 at the end.
func (l *lexer) at(pos int) byte {
	if pos < len(l.src) {
		return l.src[pos]
	}
	return 0
}

// describe names the character at a position for an error message.
func (l *lexer) describe(pos int) string {
	if pos >= len(l.src) {
		return "<EOF>"
	}
	r, n := utf8.DecodeRuneInString(l.src[pos:])
	switch {
	case r == '"':
		return `'"'`
	case 0x20 <= r && r <= 0x7e:
		return fmt.Sprintf("%q", string(r))
	case r == utf8.RuneError && n == 1:
		r, _ = surrogate(l.src[pos:])
	}
	return fmt.Sprintf("U+%04X", r)
}

// scalar returns the length of the character that a text begins with, and
// whether it is a Unicode scalar value.
func scalar(s string) (int, bool) {
	if s[0] < utf8.RuneSelf {
		return 1, true
	}
	r, n := utf8.DecodeRuneInString(s)
	return n, r != utf8.RuneError || n > 1
}

// surrogate decodes half a surrogate pair that was written as three bytes,
// which is how decoded JSON keeps it.
func surrogate(s string) (rune, bool) {
	if len(s) >= 3 && s[0] == 0xED && 0xA0 <= s[1] && s[1] <= 0xBF && 0x80 <= s[2] && s[2] <= 0xBF {
		return rune(s[0]&0x0F)<<12 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), true
	}
	return utf8.RuneError, false
}

func punctuator(c byte) tokenKind {
	switch c {
	case '!':
		return tokenBang
	case '$':
		return tokenDollar
	case '&':
		return tokenAmp
	case '(':
		return tokenParenL
	case ')':
		return tokenParenR
	case ':':
		return tokenColon
	case '=':
		return tokenEquals
	case '@':
		return tokenAt
	case '[':
		return tokenBracketL
	case ']':
		return tokenBracketR
	case '{':
		return tokenBraceL
	case '|':
		return tokenPipe
	case '}':
		return tokenBraceR
	}
	return tokenEOF
}

func isNameStart(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// A Location is a place in the text of a query, both counted from one; a
// column is one UTF-16 unit.
type Location struct {
	Line, Column int
}

// locate turns an offset in bytes into a location.
func locate(src string, pos int) Location {
	pos = min(pos, len(src))
	line, start := 1, 0
	for i := 0; i < pos; i++ {
		if src[i] == '\n' || src[i] == '\r' && (i+1 >= len(src) || src[i+1] != '\n') {
			line++
			start = i + 1
		}
	}
	column := 1
	for _, r := range src[start:pos] {
		column += max(1, utf16.RuneLen(r))
	}
	return Location{line, column}
}
