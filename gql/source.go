package gql

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A Location is a place in the text of a query, both counted from one; a
// column is one UTF-16 unit.
type Location struct {
	Line, Column int
}

// A text is the source of a document. It knows where its lines begin, so that
// finding many locations takes linear time. What it finds out on first use is
// not safe for several goroutines, see index.
type sourceText struct {
	src         string
	ascii       bool
	lineOffsets []int // offsets, made on first use
	unitCounts  []int // the UTF-16 units before every block of the text, unless ascii
}

// unitBlock is the distance of the places for which units are counted once.
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

// locate turns an offset in bytes into a location.
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

// index finds out all that locations need, so that several goroutines can look
// for them at once.
func (t *sourceText) buildIndex() { t.locate(0) }

// unitsBefore returns the number of UTF-16 units before an offset.
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

// unitsOf returns the number of UTF-16 units that a byte stands for: those of
// its character for the first byte, none for the others.
func unitsOfByte(c byte) int {
	switch {
	case c >= 0xF0:
		return 2
	case c >= 0xC0 || c < utf8.RuneSelf:
		return 1
	}
	return 0
}

// slice returns n UTF-16 units from an offset on. Half of a pair is written
// like any other lone surrogate.
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

// sizeOf returns the length of the character that a text begins with.
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

// surrogate reads a lone surrogate that a string holds as three bytes, as
// bundles do.
func decodeSurrogate(s string) (rune, bool) {
	if len(s) >= 3 && s[0] == 0xED && 0xA0 <= s[1] && s[1] <= 0xBF && 0x80 <= s[2] && s[2] <= 0xBF {
		return rune(s[0]&0x0F)<<12 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), true
	}
	return utf8.RuneError, false
}
