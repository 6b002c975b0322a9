package mask

import "unicode/utf8"

// maxPeeled is how many bytes are decoded for one character. The longest escape with
// backslashes is shorter.
const maxPeeled = 48

// maxNested is how often URLs and HTML may be nested in each other.
const maxNested = 4

// A peeled is the beginning of a text after one escaping, that of URLs or that of HTML,
// is undone. What it holds may be escaped again: %5C%22 is \" of JSON.
type peeled struct {
	text [maxPeeled]byte
	ends [maxPeeled + 1]int // where the first n bytes end in the escaped text, by n
	n    int
	open bool // whether the escaped text ended before the character was complete
}

// peel undoes the escaping that begins with a percent sign or an ampersand.
func peel(text []byte, sign byte) (p peeled) {
	for at := 0; !p.isEnough(); {
		if at == len(text) {
			p.open = true
			return p
		}
		e := escaped{char: rune(text[at]), isByte: true, size: 1}
		if text[at] == sign {
			e = readSign(text[at:])
		}
		switch {
		case e.open:
			p.open = true
			return p
		case e.size == 0:
			e = escaped{char: rune(sign), isByte: true, size: 1}
		}
		at += e.size
		p.append(e, at)
	}
	return p
}

// readSign reads an escape of URLs or of HTML.
func readSign(text []byte) escaped {
	if text[0] == '%' {
		return readPercent(text)
	}
	return readEntity(text)
}

// append adds a character that ends at a place of the escaped text.
func (p *peeled) append(e escaped, end int) {
	var char [utf8.UTFMax]byte
	size := 1
	if e.isByte {
		char[0] = byte(e.char) //nolint:gosec // it was a byte
	} else {
		size = utf8.EncodeRune(char[:], e.char)
	}
	for _, c := range char[:size] {
		p.text[p.n] = c
		p.n++
		p.ends[p.n] = end
	}
}

// isEnough reports whether the first character is complete.
func (p *peeled) isEnough() bool {
	if p.n+utf8.UTFMax > maxPeeled {
		return true
	}
	return p.n >= utf8.UTFMax && isAlphanumeric(p.text[0])
}

// sign returns the sign of the escaping of URLs or HTML that the first character of a text
// may have: the text begins with an escape, or with backslashes and then an escape.
func sign(text []byte) (byte, bool) {
	n := countBackslashes(text)
	if n == len(text) || text[n] != '%' && text[n] != '&' {
		return 0, false
	}
	e := readSign(text[n:])
	return text[n], e.size > 0 || e.open
}
