package mask

import (
	"bytes"
	"sort"
)

// A spacing is what stands between two digits.
type spacing struct {
	size  int // in bytes
	lines int // bytes of line breaks
}

// add adds a gap and reports whether the run of digits may go on after it.
func (s *spacing) add(t token) bool {
	s.size += t.size
	if t.isLine {
		s.lines++
	}
	return s.size <= maxGap && s.lines <= maxBreak
}

// A comparison compares the bytes for which digits stand with sorted texts.
type comparison struct {
	texts   []string // those that may still be there
	bits    uint     // the bits that were read, of which the last some are no whole byte yet
	partial int      // how many these are
	depth   int      // how many bytes were compared
	spacing spacing
	isDump  bool // whether lines of a dump ended since the beginning
	size    int  // where the longest text ends that was found
	ofDump  bool // whether that text stands in several lines of a dump
}

// take compares a token that ends at a place. It reports whether more may follow.
func (c *comparison) take(t token, size, end int) bool {
	switch {
	case t.value == isBreak || t.size == 0:
		return false
	case t.value == isGap:
		c.isDump = c.isDump || t.isDump
		return c.spacing.add(t)
	}
	c.spacing = spacing{}
	c.bits, c.partial = c.bits<<size|uint(t.value), c.partial+size //nolint:gosec // a digit is not negative
	if c.partial < 8 {
		return true
	}
	c.partial -= 8
	c.texts = narrow(c.texts, c.depth, byte(c.bits>>c.partial))
	c.depth++
	if len(c.texts) > 0 && len(c.texts[0]) == c.depth {
		c.size, c.ofDump = end, c.isDump
		return len(c.texts) > 1
	}
	return len(c.texts) > 0
}

// match returns the size of the longest of the window's texts that the digits at the
// beginning of text stand for, 0 if they stand for none, and whether text may turn out to
// begin with a longer one when more follows.
func (w *window) match(a *alphabet, text []byte, final bool) (size int, open bool) {
	limit := w.maxSize(a)
	text = text[:min(len(text), limit)]
	c := comparison{texts: w.texts, bits: uint(w.texts[0][0]) >> (8 - w.skip), partial: w.skip}
	goesOn := true
	for at := 0; goesOn; {
		if at == len(text) {
			open = true
			break
		}
		t := a.read(text[at:], c.spacing.lines > 0, final)
		open = open || t.open
		at += t.size
		goesOn = c.take(t, a.bits, at)
	}
	if c.size > 0 {
		after, more := a.readAfter(text[c.size:], c.ofDump)
		size, open = c.size+after, open || more
	}
	return size, open && len(text) < limit
}

// maxSize returns how many bytes of a text are looked at for the window.
func (w *window) maxSize(a *alphabet) int { return 2*maxEntity*(8*w.longest/a.bits+1) + maxGaps }

// The bytes after the digits of a secret that are looked at.
const (
	maxDumpLine = 512 // for the end of a dump's line
	maxPadding  = 512 // for padding
)

// readAfter returns the size of what is masked after the digits of a secret: the padding,
// or the rest of a dump's line, which may show the secret once more.
func (a *alphabet) readAfter(text []byte, ofDump bool) (size int, open bool) {
	switch {
	case ofDump:
		line := text[:min(len(text), maxDumpLine)]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			return end, false
		}
		return len(line), len(line) < maxDumpLine
	case a.bits == 5 || a.bits == 6:
		return a.readPadding(text)
	}
	return 0, false
}

// readPadding returns the size of the padding that text begins with.
func (a *alphabet) readPadding(text []byte) (size int, open bool) {
	var spacing spacing
	for at := 0; at < maxPadding; {
		if at == len(text) {
			return size, true
		}
		c, n, more := readChar(text[at:])
		switch {
		case more:
			return size, true
		case c == '=':
			at += n
			size = at
			continue
		}
		t := a.read(text[at:], spacing.lines > 0, false)
		if t.open || t.value != isGap || !spacing.add(t) {
			return size, t.open
		}
		at += t.size
	}
	return size, false
}

// narrow returns those of some sorted texts that have a byte at a place. The texts are the
// same before the place.
func narrow(texts []string, at int, c byte) []string {
	if len(texts) > 0 && len(texts[0]) == at {
		texts = texts[1:]
	}
	if n := len(texts); n == 0 || texts[0][at] == c && texts[n-1][at] == c {
		return texts
	}
	from := sort.Search(len(texts), func(i int) bool { return texts[i][at] >= c })
	to := sort.Search(len(texts), func(i int) bool { return texts[i][at] > c })
	return texts[from:to]
}
