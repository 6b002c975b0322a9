package mask

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// What may stand between two characters of a secret.
const (
	maxBreak  = 2        // bytes of line breaks at one place
	maxEscape = 4 << 10  // bytes of one terminal escape
	maxGap    = 8 << 10  // bytes of a gap between two characters
	maxGaps   = 16 << 10 // bytes of all gaps in a secret
)

// A gap is a piece of text that a terminal does not show as a character.
type gap struct {
	size   int  // 0 if there is none
	isLine bool // whether it is a byte of a line break
	open   bool // whether more text may make it a gap, or a longer one
}

// readGap returns the gap that text begins with.
func readGap(text []byte) gap {
	switch c := text[0]; {
	case c == '\n' || c == '\r':
		return gap{size: 1, isLine: true}
	case c == '\t':
		return gap{}
	case c == 0x1b:
		return readEscape(text, 1)
	case c < ' ' || c == 0x7f:
		return gap{size: 1}
	case c == '\\':
		return readWrittenEscape(text)
	case c < utf8.RuneSelf:
		return gap{}
	}
	if !utf8.FullRune(text) {
		return gap{open: true}
	}
	if r, size := utf8.DecodeRune(text); unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
		return gap{size: size}
	}
	return gap{}
}

// readWrittenEscape reads a terminal escape whose first byte is written as a program
// writes it: \x1b, \u001b, \033 or \e.
func readWrittenEscape(text []byte) gap {
	e := readBackslashed(text)
	if e.size == 0 || e.char != 0x1b {
		return gap{open: e.open}
	}
	if e.size == len(text) {
		return gap{size: e.size, open: true}
	}
	return readEscape(text, e.size)
}

// readEscape reads a terminal escape after its first byte, which ends at from.
func readEscape(text []byte, from int) gap {
	rest := text[from:min(len(text), maxEscape)]
	if len(rest) == 0 {
		return gap{size: from, open: true}
	}
	switch rest[0] {
	case '[':
		return readControlSequence(rest, from)
	case ']', 'P', 'X', '^', '_':
		return readString(rest, from)
	}
	n := skipRange(rest, 0, ' ', '/')
	if n == len(rest) {
		return gap{size: from + n, open: true}
	}
	if rest[n] >= '0' && rest[n] <= '~' {
		n++
	}
	return gap{size: from + n}
}

// readControlSequence reads a sequence such as [31m.
func readControlSequence(rest []byte, from int) gap {
	n := skipRange(rest, 1, '0', '?')
	n = skipRange(rest, n, ' ', '/')
	switch {
	case n == len(rest):
		return gap{size: from + 1, open: true}
	case rest[n] >= '@' && rest[n] <= '~':
		return gap{size: from + n + 1}
	}
	return gap{size: from + 1}
}

// readString reads a sequence with a text of any length, such as the title of a window.
// The byte BEL or the next escape ends it.
func readString(rest []byte, from int) gap {
	end := bytes.IndexAny(rest, "\a\x1b")
	switch {
	case end < 0:
		return gap{size: from + 1, open: true}
	case rest[end] == '\a':
		return gap{size: from + end + 1}
	case end+1 == len(rest):
		return gap{size: from + end, open: true}
	case rest[end+1] == '\\':
		return gap{size: from + end + 2}
	}
	return gap{size: from + end}
}

// skipRange returns the index of the first byte from at on that is not between low and
// high.
func skipRange(text []byte, at int, low, high byte) int {
	for at < len(text) && text[at] >= low && text[at] <= high {
		at++
	}
	return at
}
