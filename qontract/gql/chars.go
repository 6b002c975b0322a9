package gql

import "unicode/utf8"

// unitsOfByte returns the number of UTF-16 units of the character that begins with this
// byte, or 0 if the byte does not begin a character.
func unitsOfByte(c byte) int {
	switch {
	case c >= 0xF0:
		return 2
	case c >= 0xC0 || c < utf8.RuneSelf:
		return 1
	}
	return 0
}

// charSize returns the number of bytes of the first character of s.
func charSize(s string) int {
	if s[0] < utf8.RuneSelf {
		return 1
	}
	if _, ok := decodeSurrogate(s); ok {
		return 3
	}
	_, n := utf8.DecodeRuneInString(s)
	return n
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

// decodeSurrogate decodes a lone surrogate at the beginning of s. Package bundle stores a
// lone surrogate as three bytes, which are not valid UTF-8.
func decodeSurrogate(s string) (rune, bool) {
	if len(s) >= 3 && s[0] == 0xED && 0xA0 <= s[1] && s[1] <= 0xBF && 0x80 <= s[2] && s[2] <= 0xBF {
		return rune(s[0]&0x0F)<<12 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), true
	}
	return utf8.RuneError, false
}
