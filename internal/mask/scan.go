package mask

import (
	"cmp"
	"slices"
)

// A span is a piece of a text that is masked.
type span struct{ from, to int }

// A scanner finds secrets in a text that are written in one alphabet. It reads each byte of
// the text once.
type scanner struct {
	alphabet *alphabet
	at       int     // how much of the text is read
	read     uint64  // the values of the last digits
	count    int     // of digits in the run of digits
	places   [32]int // where the last digits begin, by their number modulo 32
	spacing  spacing // since the last digit
	pending  []candidate
	spans    []span
}

// A candidate is a place at which a secret may be found when more text follows.
type candidate struct {
	window *window
	from   int // where the first byte of the secret begins
	whole  int // where the first digit of the window begins
}

// scan reads the text from the place on where the scanner is.
func (s *scanner) scan(t *windowTable, text []byte, final bool) {
	if n := len(text); s.alphabet.bits == 4 && !final && n > 0 && text[n-1] == '0' {
		text = text[:n-1] // the zero may belong to 0x
	}
	pending := s.pending
	s.pending = nil
	for _, c := range pending {
		s.try(c, text, final)
	}
	for s.at < len(text) {
		s.readDigits(t, text, final)
		if s.at == len(text) {
			return
		}
		switch v := s.alphabet.values[text[s.at]]; {
		case v == isBreak, v == isGap && s.count == 0:
			s.skip()
			continue
		case v == isPrefix:
			s.takePrefix()
			continue
		}
		token := s.alphabet.read(text[s.at:], s.spacing.lines > 0, final)
		if token.open && !final {
			return
		}
		s.take(token)
		if s.count >= t.digits && s.spacing.size == 0 {
			s.look(t, text, final)
		}
	}
}

// readDigits reads the digits that are written as they are, up to another byte.
func (s *scanner) readDigits(t *windowTable, text []byte, final bool) {
	values := &s.alphabet.values
	end := s.at
	for end < len(text) && values[text[end]] >= 0 {
		end++
	}
	if end > s.at && s.count+end-s.at < t.digits && s.alphabet.endsRun(text[end:]) { // too few digits for any window
		s.at = end
		s.skip()
		return
	}
	for s.at < end {
		s.push(values[text[s.at]], 1)
		if s.count >= t.digits && t.mayHave(s.read&t.mask) {
			s.look(t, text, final)
		}
	}
}

// endsRun reports whether a text after a digit surely ends the run of digits. It is a quick
// test.
func (a *alphabet) endsRun(text []byte) bool {
	switch {
	case len(text) == 0:
		return false
	case a.values[text[0]] == isBreak:
		return true
	case a.spaces == "":
		return text[0] == ' '
	}
	return len(text) > 1 && text[0] == ' ' && a.values[text[1]] == isBreak
}

// skip ends a run of digits before a byte that is no digit.
func (s *scanner) skip() {
	s.count, s.spacing = 0, spacing{}
	s.at++
}

// takePrefix takes the x of 0x, which makes its zero a part of the gap between two digits.
func (s *scanner) takePrefix() {
	if s.count == 0 || s.spacing.size > 0 || s.read&0xf != 0 {
		s.skip()
		return
	}
	s.count--
	s.read >>= s.alphabet.bits
	s.at++
	s.spacing.size = 2
}

// take goes on after a token.
func (s *scanner) take(t token) {
	if t.value >= 0 {
		s.push(t.value, t.size)
		return
	}
	s.at += max(1, t.size)
	if t.value == isBreak || t.size == 0 || !s.spacing.add(t) {
		s.count, s.spacing = 0, spacing{}
	}
}

// push takes a digit of a size in bytes.
func (s *scanner) push(value int16, size int) {
	s.read = s.read<<(s.alphabet.bits&63) | uint64(value) //nolint:gosec // a digit is not negative
	s.places[uint(s.count)%uint(len(s.places))] = s.at
	s.count++
	s.at += size
	s.spacing = spacing{}
}

// look tries all secrets whose windows the last digits are.
func (s *scanner) look(t *windowTable, text []byte, final bool) {
	windows := t.find(s.read & t.mask)
	for i := range windows {
		c := candidate{window: &windows[i], whole: s.place(t.digits)}
		c.from = c.whole
		if skip := c.window.skip; skip > 0 {
			before := s.read >> (t.digits * t.bits) << (64 - skip) >> (64 - skip)
			if s.count == t.digits || before != uint64(c.window.texts[0][0]>>(8-skip)) {
				continue
			}
			c.from = s.place(t.digits + 1)
		}
		s.try(c, text, final)
	}
}

// place returns where the last but some of the digits begins.
func (s *scanner) place(last int) int { return s.places[(s.count-last)%len(s.places)] }

// try finds the secret of a candidate.
func (s *scanner) try(c candidate, text []byte, final bool) {
	if c.from < 0 { // it is written already
		return
	}
	size, open := c.window.match(s.alphabet, text[c.whole:], final)
	switch {
	case open && !final:
		s.pending = append(s.pending, c)
	case size > 0:
		s.spans = append(s.spans, span{c.from, c.whole + size})
	}
}

// open returns the first place of the text at which a secret may begin that goes on after
// the text. It returns the end of the text if there is none.
func (s *scanner) open(t *windowTable) int {
	first := s.at
	for _, c := range s.pending {
		first = min(first, c.from)
	}
	if s.count == 0 {
		return first
	}
	digits := min(s.count, t.digits-1)
	for digits > 0 && !t.begins(s.read, digits) {
		digits--
	}
	if t.bits == 5 || t.bits == 6 { // a secret may begin in the digit before
		digits = min(digits+1, s.count)
	}
	if digits > 0 {
		first = min(first, s.place(digits))
	}
	return max(first, 0)
}

// forget says that the text before a place is written.
func (s *scanner) forget(n int) {
	s.at -= n
	for i := range s.places {
		s.places[i] -= n
	}
	for i := range s.pending {
		s.pending[i].from -= n
		s.pending[i].whole -= n
	}
}

// compareSpans orders spans by their beginnings.
func compareSpans(a, b span) int { return cmp.Compare(a.from, b.from) }

// A scanners has a scanner for each alphabet.
type scanners struct {
	scanners [len(alphabets)]scanner
	spans    []span // in order, those that are not masked yet
	open     int    // the first place at which a secret may begin that goes on after the text
}

// scan reads a text from the place on where it is.
func (s *scanners) scan(t *table, text []byte, final bool) {
	s.open = len(text)
	for i := range s.scanners {
		one := &s.scanners[i]
		one.alphabet = alphabets[i]
		windows := t.windows[one.alphabet.bits]
		if len(windows.keys) == 0 {
			one.at = len(text)
			continue
		}
		one.scan(windows, text, final)
		s.open = min(s.open, one.open(windows))
		s.spans = append(s.spans, one.spans...)
		one.spans = one.spans[:0]
	}
	slices.SortFunc(s.spans, compareSpans)
}

// next returns the next place at which a span begins, or a secret may begin that goes on.
func (s *scanners) next() int {
	if len(s.spans) > 0 {
		return min(s.open, s.spans[0].from)
	}
	return s.open
}

// size returns the size of the longest span that begins at a place. Spans that begin
// before the place are done.
func (s *scanners) size(at int) (size int) {
	for len(s.spans) > 0 && s.spans[0].from <= at {
		size = max(size, s.spans[0].to-at)
		s.spans = s.spans[1:]
	}
	return size
}

// forget says that the text before a place is written.
func (s *scanners) forget(n int) {
	for i := range s.scanners {
		s.scanners[i].forget(n)
	}
	for i := range s.spans {
		s.spans[i].from -= n
		s.spans[i].to -= n
	}
}
