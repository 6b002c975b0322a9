package gql

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A tokenKind says what a token is.
type tokenKind uint8

const (
	tokenStart tokenKind = iota
	tokenEnd
	tokenPunctuator // one character, or a spread
	tokenName
	tokenInt
	tokenFloat
	tokenString
	tokenBlockString
)

// tokenKinds are the words that messages have for kinds of tokens.
var tokenKindWords = [...]string{"<SOF>", "<EOF>", "", "Name", "Int", "Float", "String", "BlockString"}

// A token is a word of the text. Its value is the punctuator, the text of a
// name or number, or what a string means.
type token struct {
	kind       tokenKind
	start, end int
	value      string
}

// String describes the token as messages do.
func (t *token) String() string {
	switch t.kind {
	case tokenStart, tokenEnd:
		return tokenKindWords[t.kind]
	case tokenPunctuator:
		return `"` + t.value + `"`
	}
	return tokenKindWords[t.kind] + ` "` + t.value + `"`
}

// A lexer cuts a text into tokens. What it refuses, and in which words, is
// what graphql-js 16 refuses.
type lexer struct {
	*sourceText
}

// complain returns the error of a text that is not GraphQL.
func (t *sourceText) syntaxError(pos int, format string, args ...any) *Error {
	return &Error{Code: CodeParse, Message: "Syntax Error: " + fmt.Sprintf(format, args...), Locations: []Location{t.locate(pos)}}
}

// describe names the character at an offset as messages do.
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

// scalar tells whether the character at an offset is a whole one, not half of
// a surrogate pair and not a broken byte.
func (t *sourceText) validChar(pos int) (size int, ok bool) {
	if t.src[pos] < utf8.RuneSelf {
		return 1, true
	}
	r, n := utf8.DecodeRuneInString(t.src[pos:])
	return n, r != utf8.RuneError || n > 1
}

// byteAt returns the byte at an offset, 0 behind the end.
func (t *sourceText) byteAt(pos int) byte {
	if pos < len(t.src) {
		return t.src[pos]
	}
	return 0
}

// next returns the token at or behind an offset.
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

// stray is the complaint about a character that begins no token.
func (l *lexer) unexpectedChar(pos int) *Error {
	if l.src[pos] == '\'' {
		return l.syntaxError(pos, `Unexpected single quote character ('), did you mean to use a double quote (")?`)
	}
	if _, ok := l.validChar(pos); !ok {
		return l.syntaxError(pos, "Invalid character: %s.", l.describeChar(pos))
	}
	return l.syntaxError(pos, "Unexpected character: %s.", l.describeChar(pos))
}

// comment returns the end of a comment.
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

// number reads an integer or a number with a fraction or an exponent.
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

// digits returns the end of one or more digits.
func (l *lexer) skipDigits(pos int) (int, *Error) {
	if !isDigit(l.byteAt(pos)) {
		return 0, l.syntaxError(pos, "Invalid number, expected digit but got: %s.", l.describeChar(pos))
	}
	for isDigit(l.byteAt(pos)) {
		pos++
	}
	return pos, nil
}
