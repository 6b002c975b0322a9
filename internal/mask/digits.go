package mask

import (
	"bytes"
	"strings"
)

// An alphabet is a way in which bytes are written as digits that stand for a few bits each.
type alphabet struct {
	bits   int        // of one digit
	values [256]int16 // of the digits, or one of the constants below
	spaces string     // further characters that may stand between any two digits
}

// What a byte is that is no digit.
const (
	isBreak   = -1 - iota // it ends a run of digits
	isGap                 // it may be part of a gap between two digits
	isSpecial             // it may begin an escaped digit as well
	isPrefix              // with the digit 0 before it, it is a gap
)

// alphabets are the alphabets that are read. Small letters are digits of Base32 as large
// ones are. One alphabet of Base64 has the signs of both that are in use.
var alphabets = [...]*alphabet{
	newAlphabet(8, "", ""),
	newAlphabet(4, "0123456789abcdef", " \t:-_,").with("ABCDEF", 10),
	newAlphabet(5, "abcdefghijklmnopqrstuvwxyz234567", "").with("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 0),
	newAlphabet(5, "0123456789abcdefghijklmnopqrstuv", "").with("ABCDEFGHIJKLMNOPQRSTUV", 10),
	newAlphabet(6, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", "").with("-_", 62),
}

// newAlphabet returns an alphabet. Without digits each byte is the digit of its own value.
func newAlphabet(bits int, digits, spaces string) *alphabet {
	a := &alphabet{bits: bits, spaces: spaces}
	for c := range a.values {
		switch {
		case digits == "":
			a.values[c] = int16(c) //nolint:gosec // a byte
		case strings.IndexByte(`\%&`, byte(c)) >= 0:
			a.values[c] = isSpecial
		case c <= ' ' || c >= 0x7f || strings.IndexByte(spaces, byte(c)) >= 0:
			a.values[c] = isGap
		default:
			a.values[c] = isBreak
		}
	}
	a.with(digits, 0)
	if bits == 4 {
		a.values['x'], a.values['X'] = isPrefix, isPrefix
	}
	return a
}

// with adds digits to the alphabet and returns it. The first of them has this value.
func (a *alphabet) with(digits string, value int16) *alphabet {
	for i := range len(digits) {
		a.values[digits[i]] = value + int16(i) //nolint:gosec // at most 63
	}
	return a
}

// A token is a digit, a gap between two digits or the end of a run of digits.
type token struct {
	value  int16 // of a digit, or isGap or isBreak
	size   int   // in bytes
	isLine bool  // whether it is a byte of a line break
	isDump bool  // whether it is a gap between two lines of a dump
	open   bool  // whether more text may make it something else
}

// read returns the token that text begins with. Spaces and tabs are gaps if a line has
// broken since the last digit. final says that no text follows.
func (a *alphabet) read(text []byte, inBreak, final bool) token {
	if a.bits == 4 {
		if t := readHexGap(text); t.size > 0 || t.open && !final {
			return t
		}
	}
	c := text[0]
	if v := a.values[c]; v >= 0 || v == isBreak {
		return token{value: v, size: 1}
	}
	if g := readGap(text); g.size > 0 || g.open {
		return token{value: isGap, size: g.size, isLine: g.isLine, open: g.open}
	}
	c, size, open := readChar(text)
	t := token{value: isBreak, size: size, open: open}
	switch v := a.values[c]; {
	case open:
	case size == 0: // no escape
		t.size = max(1, countBackslashes(text))
	case v >= 0:
		t.value = v
	case c == '\n' || c == '\r':
		t.value, t.isLine = isGap, true
	case inBreak && (c == ' ' || c == '\t') || strings.IndexByte(a.spaces, c) >= 0:
		t.value = isGap
	}
	return t
}

// readChar returns the character that text begins with, written as it is or escaped, also
// several times. size is 0 if text begins with an incomplete escape, or if the character
// is not of ASCII.
func readChar(text []byte) (c byte, size int, open bool) {
	var e escaped
	switch text[0] {
	case '\\':
		n := countBackslashes(text)
		if n < len(text) && text[n] != '\\' && !isAlphanumeric(text[n]) { // such as \/
			c, size, open = readChar(text[n:])
			if size > 0 {
				size += n
			}
			return c, size, open
		}
		e = readBackslashed(text)
	case '%', '&':
		e = readSign(text)
		if e.size > 0 && isNestable(e.char) {
			return readNested(text, e)
		}
	default:
		return text[0], 1, false
	}
	if e.char >= 0x80 {
		return 0, 0, false
	}
	return byte(e.char), e.size, e.open && e.size == 0 //nolint:gosec // of ASCII
}

// isNestable reports whether a character may begin an escape by itself.
func isNestable(char rune) bool { return char == '\\' || char == '%' || char == '&' }

// readNested is readChar for a text that begins with the escape of a character which begins
// another escape: %5C%22 is \" of JSON.
func readNested(text []byte, e escaped) (c byte, size int, open bool) {
	if e.size == len(text) {
		return 0, 0, true
	}
	if next := text[e.size]; e.char == '%' && !isHex(next) || e.char == '&' && !isNameByte(next) {
		return 0, 0, false // another sign follows: this one stands for itself
	}
	p := peel(text[:min(len(text), maxPeeled)], text[0])
	if p.n == 0 {
		return 0, 0, p.open
	}
	c, size, open = readChar(p.text[:p.n])
	return c, p.ends[size], open && p.open && len(text) < maxPeeled
}

// maxColumn is how many bytes of text a dump may show at the end of a line.
const maxColumn = 80

// readHexGap reads what may stand between the bytes of a text in hex in addition to spaces:
// 0x, \x, and what stands between two lines of a dump.
func readHexGap(text []byte) token {
	switch text[0] {
	case '0':
		if len(text) == 1 {
			return token{open: true}
		}
		if text[1] == 'x' || text[1] == 'X' {
			return token{value: isGap, size: 2}
		}
	case '\\':
		n := countBackslashes(text)
		if n == len(text) {
			return token{open: true}
		}
		if text[n] == 'x' {
			return token{value: isGap, size: n + 1}
		}
	case ' ', '\r', '\n':
		size, open := readDump(text)
		return token{value: isGap, size: size, isDump: size > 0, open: open}
	}
	return token{}
}

// readDump returns the size of what stands between the bytes of two lines of a dump: the
// column of text, the line break and the offset, as xxd, hexdump and od print them.
func readDump(text []byte) (size int, open bool) {
	line := text[:min(len(text), maxColumn)]
	end := bytes.IndexByte(line, '\n')
	if end < 0 {
		return 0, len(text) < maxColumn && isColumn(line)
	}
	if !isColumn(line[:end]) {
		return 0, false
	}
	const longest = 16
	offset := text[end+1:]
	n := 0
	for n < len(offset) && n <= longest && isHex(offset[n]) {
		n++
	}
	if n+2 > len(offset) && n <= longest {
		return 0, n == len(offset) || n >= 6 && (offset[n] == ':' || offset[n] == ' ')
	}
	if n >= 6 && n <= longest && (offset[n] == ':' || offset[n] == ' ' && (offset[n+1] == ' ' || n < 8)) {
		return end + 1 + n + 1, false
	}
	return 0, false
}

// isColumn reports whether the rest of a line, or its beginning, is nothing or the column of
// text of a dump. Two spaces and then a byte in hex are the middle of a line of hexdump.
func isColumn(line []byte) bool {
	line = bytes.TrimSuffix(line, []byte("\r"))
	for i, c := range line {
		if c < ' ' || i < 2 && c != ' ' {
			return false
		}
	}
	return len(line) < 5 || !isHex(line[2]) || !isHex(line[3]) || line[4] != ' '
}

func isHex(c byte) bool {
	_, ok := hexDigit(c)
	return ok
}
