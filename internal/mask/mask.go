package mask

import (
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// The sizes, in bytes, below which a secret, and a single line of a secret, are not
// masked: they would hide ordinary text.
const (
	minSecret     = 4
	minSecretLine = 8
)

// minBroken is the size in bytes from which lines may break inside of a form. The few
// bytes of a shorter form may stand at the end and the beginning of two lines by accident.
const minBroken = 8

// mask replaces a secret.
const mask = "***"

// A Masker replaces secrets in texts. Several goroutines may use it at once, also while
// another one adds secrets. The zero value has no secrets.
type Masker struct {
	table atomic.Pointer[table] // nil without secrets; a table does not change
	mu    sync.Mutex            // held while a table is replaced
}

// New returns a masker of these secrets.
func New(secrets []string) *Masker {
	m := &Masker{}
	m.Add(secrets...)
	return m
}

// Add makes the masker mask further secrets. Streams that have begun mask them from now on.
func (m *Masker) Add(secrets ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if forms := m.current().unknown(formsOf(secrets)); len(forms) > 0 {
		m.table.Store(m.current().with(forms))
	}
}

// current returns the table that holds now.
func (m *Masker) current() *table {
	if t := m.table.Load(); t != nil {
		return t
	}
	return noSecrets
}

// isEscape reports whether a byte may begin an escaped character.
func isEscape(c byte) bool { return c == '\\' || c == '%' || c == '&' || c == '+' }

// isOrdinary reports whether a byte begins neither an escape nor a gap.
func isOrdinary(c byte) bool {
	return c >= ' ' && c < 0x7f && !isQuote(c) && !isEscape(c)
}

func isQuote(c byte) bool { return c == '\'' || c == '"' }

// Text returns a text in which the secrets are masked.
func (m *Masker) Text(text string) string {
	stream := m.Stream()
	return string(append(stream.Feed([]byte(text)), stream.Flush()...))
}

// A matcher compares forms with a text. It reuses its memory.
type matcher struct {
	*table
	places, next []int
	firsts       []byte
}

// match returns the size of the longest form that text begins with, 0 if there is none,
// and whether text may turn out to begin with a longer one when more follows.
func (m *matcher) match(text []byte) (size int, open bool) {
	switch c := text[0]; {
	case isEscape(c):
		m.firsts, open = appendFirsts(m.firsts[:0], text, 0)
	case isQuote(c):
		m.firsts = append(m.firsts[:0], c)
	case m.byFirst[c] == nil:
		return 0, false
	case len(text) > 1 && (isOrdinary(text[1]) || isQuote(text[1])):
		return m.longest(m.byPair[[2]byte{c, text[1]}], text)
	default:
		return m.matchPair(text)
	}
	for _, first := range m.firsts {
		n, more := m.longest(m.byFirst[first], text)
		size, open = max(size, n), open || more
	}
	return size, open
}

// matchPair is match for a text whose first character is written as it is.
func (m *matcher) matchPair(text []byte) (size int, open bool) {
	m.firsts = m.firsts[:0]
	for at := 1; ; {
		if at == len(text) {
			open = true
			break
		}
		var more bool
		m.firsts, more = appendFirsts(m.firsts, text[at:], 0)
		g := readGap(text[at:])
		open = open || more || g.open
		if g.size == 0 || at > maxGap {
			break
		}
		at += g.size
	}
	slices.Sort(m.firsts)
	m.firsts = slices.Compact(m.firsts)
	for _, second := range m.firsts {
		n, more := m.longest(m.byPair[[2]byte{text[0], second}], text)
		size, open = max(size, n), open || more
	}
	return size, open
}

// appendFirsts appends the first bytes of the characters that text may begin with. depth
// is how often text was escaped.
func appendFirsts(firsts, text []byte, depth int) (_ []byte, open bool) {
	firsts = append(firsts, text[0])
	switch text[0] {
	case '+':
		firsts = append(firsts, ' ')
	case '\\':
		if n := countBackslashes(text); n < len(text) && !isAlphanumeric(text[n]) {
			firsts = append(firsts, text[n])
		}
		e := readBackslashed(text)
		if e.size > 0 {
			var char [utf8.UTFMax]byte
			utf8.EncodeRune(char[:], e.char)
			firsts = append(firsts, char[0], byte(e.char)) //nolint:gosec // if it is a byte
		}
		open = e.open
	}
	sign, ok := sign(text)
	if !ok || depth == maxNested {
		return firsts, open
	}
	p := peel(text, sign)
	if p.n == 0 {
		return firsts, open || p.open
	}
	firsts, more := appendFirsts(firsts, p.text[:p.n], depth+1)
	return firsts, open || more && p.open
}

// longest returns the size of the longest of the forms that text begins with, and whether
// text may turn out to begin with a longer one.
func (m *matcher) longest(forms []form, text []byte) (size int, open bool) {
	for i := range forms {
		if forms[i].differs(text) {
			continue
		}
		n, more := m.matchForm(&forms[i], text)
		size, open = max(size, n), open || more
	}
	return size, open
}

// differs reports whether text cannot be the form, since an ordinary byte differs. It is
// a quick test that fails most forms.
func (f *form) differs(text []byte) bool {
	for i, c := range text[:min(len(text), len(f.text))] {
		if c != f.text[i] || !isOrdinary(c) {
			return isOrdinary(c)
		}
	}
	return false
}

// matchForm returns how many bytes at the beginning of text are the form, 0 if text does
// not begin with it, and whether it may do so when more text follows.
func (m *matcher) matchForm(f *form, text []byte) (size int, open bool) {
	limit := f.maxSize()
	text = text[:min(len(text), limit)]
	m.places = append(m.places[:0], 0)
	for from := 0; from < len(f.text); {
		u := unitAt(f.text, from)
		m.next = m.next[:0]
		for _, at := range m.places {
			open = m.step(f, u, from == 0, text, at) || open
		}
		from += len(u.raw)
		m.places, m.next = m.next, m.places
		if len(m.places) == 0 {
			return 0, open && len(text) < limit
		}
	}
	for _, at := range m.places {
		size = max(size, at)
	}
	return size, open && len(text) < limit
}

// maxSize returns how many bytes of a text are looked at for the form.
func (f *form) maxSize() int { return 2*maxEntity*len(f.text) + maxGaps }

// step appends to m.next the places at which a unit of the form may end, if the unit
// before it ends at a place. No gap stands before the first unit.
func (m *matcher) step(f *form, u unit, isFirst bool, text []byte, at int) (open bool) {
	if at < len(text) && u.isPlain() && text[at] == u.raw[0] {
		m.next = add(m.next, at+1)
		return false
	}
	lines := 0
	for from := at; at-from < maxGap; {
		if at == len(text) {
			return true
		}
		var more bool
		m.next, more = u.appendEnds(m.next, text, at)
		open = open || more
		if isFirst {
			return open
		}
		g := readGap(text[at:])
		open = open || g.open
		if g.isLine {
			lines++
		}
		if g.size == 0 || lines > maxBreak || lines > 0 && len(f.text) < minBroken {
			return open
		}
		at += g.size
	}
	return open
}
