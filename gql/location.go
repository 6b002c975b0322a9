package gql

import (
	"unicode/utf16"
	"unicode/utf8"
)

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

func isNameStart(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// hexDigit returns the value of a hexadecimal digit, or -1.
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

// surrogate reads a lone surrogate that a string holds as three bytes, as
// bundles do.
func surrogate(s string) (rune, bool) {
	if len(s) >= 3 && s[0] == 0xED && 0xA0 <= s[1] && s[1] <= 0xBF && 0x80 <= s[2] && s[2] <= 0xBF {
		return rune(s[0]&0x0F)<<12 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), true
	}
	return utf8.RuneError, false
}
