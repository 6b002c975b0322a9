package mask

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// A unit is one character of a form, or one byte of a form that is not UTF-8.
type unit struct {
	raw  string
	char rune // -1 for a byte that is not UTF-8
}

// unitAt returns the unit of a text that begins at a place.
func unitAt(text string, at int) unit {
	r, size := utf8.DecodeRuneInString(text[at:])
	if r == utf8.RuneError && size == 1 {
		r = -1
	}
	return unit{text[at : at+size], r}
}

// isPlain reports whether a text that begins with the unit's byte cannot be an escape of
// the unit, so that the text is read in one way only.
func (u unit) isPlain() bool { return len(u.raw) == 1 && isAlphanumeric(u.raw[0]) }

// appendEnds appends the places at which the unit may end if it begins at a place in
// text. open reports whether there may be more places when more text follows.
func (u unit) appendEnds(ends []int, text []byte, at int) (_ []int, open bool) {
	return u.appendNestedEnds(ends, text, at, 0)
}

// appendNestedEnds is appendEnds for a text that is escaped a number of times.
func (u unit) appendNestedEnds(ends []int, text []byte, at, depth int) (_ []int, open bool) {
	rest := text[at:]
	if len(rest) >= len(u.raw) {
		if string(rest[:len(u.raw)]) == u.raw {
			ends = add(ends, at+len(u.raw))
		}
	} else if u.raw[:len(rest)] == string(rest) {
		open = true
	}
	var more bool
	switch rest[0] {
	case '\\':
		ends, more = u.appendBackslashEnds(ends, text, at)
	case '+':
		if u.raw == " " {
			ends = add(ends, at+1)
		}
	case '\r':
		if u.raw == "\n" && len(rest) > 1 && rest[1] == '\n' {
			ends = add(ends, at+2)
		}
		more = u.raw == "\n" && len(rest) == 1
	case '\'', '"':
		ends, more = u.appendQuoteEnds(ends, text, at)
	}
	open = open || more
	if sign, ok := sign(rest); ok && depth < maxNested {
		ends, more = u.appendPeeledEnds(ends, text, at, sign, depth)
	}
	return ends, open || more
}

// appendPeeledEnds is appendEnds for a text that begins with an escape of URLs or HTML.
func (u unit) appendPeeledEnds(ends []int, text []byte, at int, sign byte, depth int) (_ []int, open bool) {
	p := peel(text[at:], sign)
	if p.n == 0 {
		return ends, p.open
	}
	var buffer [maxEnds]int
	inner, more := u.appendNestedEnds(buffer[:0], p.text[:p.n], 0, depth+1)
	for _, end := range inner {
		ends = add(ends, at+p.ends[end])
	}
	return ends, more && p.open
}

// appendBackslashEnds is appendEnds for a text that begins with a backslash.
func (u unit) appendBackslashEnds(ends []int, text []byte, at int) (_ []int, open bool) {
	rest := text[at:]
	n := countBackslashes(rest)
	switch {
	case u.raw == `\`:
		for i := range n {
			ends = add(ends, at+i+1)
		}
	case n < len(rest) && !isAlphanumeric(u.raw[0]): // such as \" and \/
		if bytes.HasPrefix(rest[n:], []byte(u.raw)) {
			ends = add(ends, at+n+len(u.raw))
		}
		open = len(rest)-n < len(u.raw) && bytes.HasPrefix([]byte(u.raw), rest[n:])
	}
	e := readBackslashed(rest)
	switch {
	case e.size == 0:
	case e.char == u.char, e.isByte && u.char < 0 && e.char == rune(u.raw[0]):
		ends = add(ends, at+e.size)
	}
	if len(u.raw) == 1 {
		return ends, open || e.open
	}
	end, more := u.bytesEnd(text, at)
	if end > 0 {
		ends = add(ends, end)
	}
	return ends, open || e.open || more
}

// bytesEnd returns the end of the unit if each of its bytes is escaped with a backslash,
// as in \xc3\xa4. It returns 0 if the text is something else.
func (u unit) bytesEnd(text []byte, at int) (end int, open bool) {
	for i := range len(u.raw) {
		if at == len(text) {
			return 0, true
		}
		if text[at] != '\\' {
			return 0, false
		}
		e := readBackslashed(text[at:])
		if e.size == 0 || !e.isByte || e.char != rune(u.raw[i]) {
			return 0, e.open
		}
		at += e.size
	}
	return at, false
}

// quotes are the ways in which a shell, SQL, YAML and CSV write a quote inside of quotes.
var quotes = map[string][]string{
	`'`: {`''`, `'"'"'`, `'\''`},
	`"`: {`""`, `"'"'"`},
}

// appendQuoteEnds is appendEnds for a text that begins with a quote.
func (u unit) appendQuoteEnds(ends []int, text []byte, at int) (_ []int, open bool) {
	for _, quoted := range quotes[u.raw] {
		rest := text[at:]
		if bytes.HasPrefix(rest, []byte(quoted)) {
			ends = add(ends, at+len(quoted))
		}
		open = open || len(rest) < len(quoted) && bytes.HasPrefix([]byte(quoted), rest)
	}
	return ends, open
}

// maxEnds bounds the places that are followed at once. Only runs of backslashes have more
// than a few.
const maxEnds = 2 * maxBackslashes

// add appends a place that is not in the list yet.
func add(places []int, place int) []int {
	if len(places) >= maxEnds || slices.Contains(places, place) {
		return places
	}
	return append(places, place)
}
