package gql

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A Location is a place in the text of a query. Line and column are counted from 1. A
// column is one UTF-16 code unit wide, as in graphql-js.
type Location struct {
	Line, Column int
}

// A sourceText is the text of a document. It indexes its lines, so that finding many
// locations takes linear time. The index is built on first use, which is not safe for
// several goroutines: call buildIndex before sharing a sourceText.
type sourceText struct {
	src         string
	ascii       bool  // every character is one byte and one UTF-16 unit
	lineOffsets []int // byte offset of every line, built on first use
	unitCounts  []int // number of UTF-16 units before every block; nil if ascii
}

// unitBlock is the number of bytes after which the count of UTF-16 units is stored.
const unitBlock = 256

func newSourceText(src string) *sourceText {
	t := &sourceText{src: src, ascii: true}
	for i := range len(src) {
		if src[i] >= utf8.RuneSelf {
			t.ascii = false
			break
		}
	}
	return t
}

// locate converts a byte offset into a location.
func (t *sourceText) locate(pos int) Location {
	pos = min(pos, len(t.src))
	lines := t.lineStarts()
	low, high := 0, len(lines)
	for high-low > 1 {
		if middle := (low + high) / 2; lines[middle] <= pos {
			low = middle
		} else {
			high = middle
		}
	}
	return Location{low + 1, t.unitsBefore(pos) - t.unitsBefore(lines[low]) + 1}
}

// lineStarts returns the byte offset of every line.
func (t *sourceText) lineStarts() []int {
	if t.lineOffsets != nil {
		return t.lineOffsets
	}
	lines := make([]int, 1, 1+strings.Count(t.src, "\n"))
	for i := range len(t.src) {
		if c := t.src[i]; c == '\n' || c == '\r' && (i+1 >= len(t.src) || t.src[i+1] != '\n') {
			lines = append(lines, i+1)
		}
	}
	t.lineOffsets = lines
	return lines
}

// buildIndex builds the index that locate needs, so that several goroutines can call
// locate.
func (t *sourceText) buildIndex() { t.locate(0) }

// unitsBefore returns the number of UTF-16 units before a byte offset.
func (t *sourceText) unitsBefore(pos int) int {
	if t.ascii {
		return pos
	}
	if t.unitCounts == nil {
		t.unitCounts = make([]int, 1, len(t.src)/unitBlock+2)
		n := 0
		for i := range len(t.src) {
			if i > 0 && i%unitBlock == 0 {
				t.unitCounts = append(t.unitCounts, n)
			}
			n += unitsOfByte(t.src[i])
		}
	}
	block := min(pos/unitBlock, len(t.unitCounts)-1)
	n := t.unitCounts[block]
	for i := block * unitBlock; i < pos; i++ {
		n += unitsOfByte(t.src[i])
	}
	return n
}

// sliceUnits returns n UTF-16 units, beginning at a byte offset. If the last unit is the
// first half of a surrogate pair, it is written as three bytes, like every lone surrogate
// in a bundle.
func (t *sourceText) sliceUnits(pos, n int) string {
	var out strings.Builder
	for n > 0 && pos < len(t.src) {
		size := charSize(t.src[pos:])
		if n == 1 && size == 4 {
			r, _ := utf8.DecodeRuneInString(t.src[pos:])
			high, _ := utf16.EncodeRune(r)
			out.Write([]byte{0xE0 | byte(high>>12), 0x80 | byte(high>>6&0x3F), 0x80 | byte(high&0x3F)})
			break
		}
		out.WriteString(t.src[pos : pos+size])
		n -= unitsOfByte(t.src[pos])
		pos += size
	}
	return out.String()
}

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
