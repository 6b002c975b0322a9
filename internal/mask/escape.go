package mask

import (
	"bytes"
	"html"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// The longest escapes that are read.
const (
	maxBackslashes = 31 // before one character; five levels of JSON in JSON
	maxEntity      = 36 // bytes of an HTML entity
)

// An escaped is a character that is written as an escape.
type escaped struct {
	char   rune
	isByte bool // whether char may also be one byte of a character in UTF-8
	size   int  // bytes of the escape; 0 if there is none
	open   bool // whether more text may make it an escape, or a longer one
}

// countBackslashes returns the number of backslashes that text begins with.
func countBackslashes(text []byte) int {
	n := 0
	for n < len(text) && n < maxBackslashes && text[n] == '\\' {
		n++
	}
	return n
}

// controlLetters are pairs of a letter and the character that the letter stands for after a
// backslash.
const controlLetters = "n\nr\rt\tb\bf\fv\va\ae\x1b"

// readBackslashed reads an escape such as \n, \u00e4, \xe4 or \303, with any number of
// backslashes.
func readBackslashed(text []byte) escaped {
	n := countBackslashes(text)
	if n == len(text) {
		return escaped{open: true}
	}
	rest := text[n:]
	var e escaped
	switch c := rest[0]; {
	case c == 'u':
		e = readUnicode(rest)
	case c == 'U':
		e = readDigits(rest, 1, 8)
	case c == 'x':
		e = readDigits(rest, 1, 2)
		e.isByte = true
	case c >= '0' && c <= '7':
		e = readOctal(rest)
	default:
		for i := 0; i < len(controlLetters); i += 2 {
			if c == controlLetters[i] {
				e = escaped{char: rune(controlLetters[i+1]), size: 1}
			}
		}
	}
	if e.size > 0 {
		e.size += n
	}
	return e
}

// readDigits reads a number of exactly n hexadecimal digits that begins at from.
func readDigits(text []byte, from, n int) escaped {
	var value uint32
	for i := from; i < from+n; i++ {
		if i >= len(text) {
			return escaped{open: true}
		}
		digit, ok := hexDigit(text[i])
		if !ok {
			return escaped{}
		}
		value = value<<4 | digit
	}
	return escaped{char: rune(value & 0x1fffff), size: from + n} //nolint:gosec // 21 bits fit
}

func hexDigit(c byte) (uint32, bool) {
	switch {
	case c >= '0' && c <= '9':
		return uint32(c - '0'), true
	case c >= 'a' && c <= 'f':
		return uint32(c - 'a' + 10), true
	case c >= 'A' && c <= 'F':
		return uint32(c - 'A' + 10), true
	}
	return 0, false
}

// readOctal reads one to three digits, as in \0 or \303.
func readOctal(text []byte) escaped {
	n := skipRange(text[:min(len(text), 3)], 0, '0', '7')
	value, _ := strconv.ParseUint(string(text[:n]), 8, 16)                                  // three digits always fit
	return escaped{char: rune(value), isByte: true, size: n, open: n == len(text) && n < 3} //nolint:gosec // at most 0777
}

// readUnicode reads u00e4, u{e4} or the two halves of a surrogate pair, ud83d\ude00.
func readUnicode(text []byte) escaped {
	if len(text) > 1 && text[1] == '{' {
		return readBraced(text)
	}
	first := readDigits(text, 1, 4)
	if first.size == 0 || !utf16.IsSurrogate(first.char) {
		return first
	}
	rest := text[first.size:]
	n := countBackslashes(rest)
	switch {
	case n == len(rest):
		return escaped{open: true}
	case n == 0 || rest[n] != 'u':
		return escaped{}
	}
	second := readDigits(rest, n+1, 4)
	if second.size == 0 {
		return second
	}
	return escaped{char: utf16.DecodeRune(first.char, second.char), size: first.size + second.size}
}

// readBraced reads u{e4}, as JavaScript writes it.
func readBraced(text []byte) escaped {
	const longest = len("u{10ffff}")
	end := bytes.IndexByte(text[:min(len(text), longest)], '}')
	if end < 0 {
		return escaped{open: len(text) < longest}
	}
	e := readDigits(text, 2, end-2)
	if e.size > 0 {
		e.size++
	}
	return e
}

// readPercent reads %22.
func readPercent(text []byte) escaped {
	e := readDigits(text, 1, 2)
	e.isByte = true
	return e
}

// commonEntities are the names of the characters that HTML has to escape. The other names
// take longer to look up.
var commonEntities = map[string]rune{"amp": '&', "lt": '<', "gt": '>', "quot": '"', "apos": '\''}

// readEntity reads &quot;, &#34; or &#x22;.
func readEntity(text []byte) escaped {
	for at := 1; at < maxEntity; at++ {
		switch {
		case at == len(text):
			return escaped{open: true}
		case text[at] == ';':
			if char, ok := commonEntities[string(text[1:at])]; ok {
				return escaped{char: char, size: at + 1}
			}
			char := html.UnescapeString(string(text[:at+1]))
			if r, size := utf8.DecodeRuneInString(char); size == len(char) {
				return escaped{char: r, size: at + 1}
			}
			return escaped{}
		case !isNameByte(text[at]):
			return escaped{}
		}
	}
	return escaped{}
}

// isNameByte reports whether a byte may be part of the name of an HTML entity.
func isNameByte(c byte) bool { return c == '#' || isAlphanumeric(c) }

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
