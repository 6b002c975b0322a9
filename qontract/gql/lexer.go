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
