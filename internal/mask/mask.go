package mask

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"sort"
	"strings"
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
	parts := partsOf(secrets)
	forms, digits := m.current().unknown(formsOf(parts)), m.current().unknownInDigits(parts)
	if len(forms)+len(digits) > 0 {
		m.table.Store(m.current().with(forms, digits))
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
	buffers [][]int
	firsts  []byte
}

// match returns the size of the longest form that text begins with, 0 if there is none,
// and whether text may turn out to begin with a longer one when more follows.
func (m *matcher) match(text []byte) (size int, open bool) {
	switch c := text[0]; {
	case isEscape(c):
		m.firsts, open = appendFirsts(m.firsts[:0], text, 0)
	case isQuote(c):
		m.firsts = append(m.firsts[:0], c)
	case !m.hasFirst(c):
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
func (m *matcher) longest(groups [2]group, text []byte) (size int, open bool) {
	for i, g := range groups {
		if len(g.forms) == 0 {
			continue
		}
		w := walk{matcher: m, text: text[:min(len(text), g.maxSize)], mayBreak: i == longForms}
		w.follow(g.forms, 0, append(m.buffer(0), 0), 1)
		size, open = max(size, w.size), open || w.open && len(text) < g.maxSize
	}
	return size, open
}

// buffer returns an empty list of places. The lists of two levels do not share memory.
func (m *matcher) buffer(level int) []int {
	if level == len(m.buffers) {
		m.buffers = append(m.buffers, make([]int, 0, maxEnds))
	}
	return m.buffers[level][:0]
}

// A walk compares a text with many forms at once. It reads what several forms begin with
// only once.
type walk struct {
	*matcher
	text     []byte
	mayBreak bool // whether lines may break inside of the forms
	size     int  // of the longest form so far
	open     bool // whether more text may make it a longer one
}

// follow goes on with sorted forms of which the first bytes, as many as depth, may end at
// some places of the text. It changes places. The lists of places from a level on are free.
func (w *walk) follow(forms []string, depth int, places []int, level int) {
	for len(forms) > 0 && len(places) > 0 {
		if len(forms[0]) == depth {
			w.size = max(w.size, slices.Max(places))
			forms = forms[1:]
			continue
		}
		if at := places[0]; len(places) == 1 && at < len(w.text) && isOrdinary(w.text[at]) {
			forms = narrow(forms, depth, w.text[at])
			places[0]++
			depth++
			continue
		}
		u := unitAt(forms[0], depth)
		n := u.count(forms, depth)
		next := w.buffer(level)
		for _, at := range places {
			next = w.step(next, u, depth == 0, at)
		}
		if n < len(forms) {
			w.follow(forms[:n], depth+len(u.raw), next, level+1)
			forms = forms[n:]
			continue
		}
		places, depth = append(places[:0], next...), depth+len(u.raw)
	}
}

// count returns how many of some sorted forms have the unit at a place, without any other
// form between them. The first one has it.
func (u unit) count(forms []string, at int) int {
	n := sort.Search(len(forms), func(i int) bool { return !strings.HasPrefix(forms[i][at:], u.raw) })
	if u.char >= 0 {
		return n
	}
	for i, form := range forms[:n] { // the byte may also begin a character
		if unitAt(form, at) != u {
			return i
		}
	}
	return n
}

// step appends the places at which a unit may end, if the unit before it ends at a place.
// No gap stands before the first unit.
func (w *walk) step(ends []int, u unit, isFirst bool, at int) []int {
	text := w.text
	if at < len(text) && u.isPlain() && text[at] == u.raw[0] {
		return add(ends, at+1)
	}
	lines := 0
	for from := at; at-from < maxGap; {
		if at == len(text) {
			w.open = true
			return ends
		}
		var more bool
		ends, more = u.appendEnds(ends, text, at)
		w.open = w.open || more
		if isFirst {
			return ends
		}
		g := readGap(text[at:])
		w.open = w.open || g.open
		if g.isLine {
			lines++
		}
		if g.size == 0 || lines > maxBreak || lines > 0 && !w.mayBreak {
			return ends
		}
		at += g.size
	}
	return ends
}

// partsOf returns the texts that are masked for secrets: the secrets with and without the
// space around them, and the lines of those that have several. None is there twice.
func partsOf(secrets []string) []string {
	var parts []string
	for _, secret := range secrets {
		parts = append(parts, secret)
		if secret = strings.TrimSpace(secret); !strings.Contains(secret, "\n") {
			parts = append(parts, secret)
			continue
		}
		for line := range strings.Lines(secret) {
			if line = strings.TrimSpace(line); len(line) >= minSecretLine {
				parts = append(parts, line)
			}
		}
	}
	slices.Sort(parts)
	return slices.Compact(parts)
}

// formsOf returns the forms of secrets, the ways in which they may be encoded. Each character
// of a form may be escaped in addition, see [unit].
func formsOf(secrets []string) []string {
	var forms []string
	for _, secret := range secrets {
		forms = append(forms, encodings(secret)...)
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}

// encodings returns a secret as it is. If it is too short to be found in digits of any kind,
// encodings also returns it in base64 and in hex. It returns nothing if the secret is too
// short to be told from ordinary text.
func encodings(secret string) []string {
	switch {
	case len(secret) < minSecret:
		return nil
	case len(secret) >= minDigits:
		return []string{secret}
	}
	digits := base64Of(secret)
	out := append([]string{secret, hex.EncodeToString([]byte(secret)),
		strings.ToUpper(hex.EncodeToString([]byte(secret)))}, digits...)
	for _, d := range digits {
		for shift := range 3 { // base64 in base64, as in a secret of Kubernetes
			out = append(out, shifted(base64.RawStdEncoding, d, shift))
		}
	}
	return slices.DeleteFunc(out, func(text string) bool { return len(text) < minSecret })
}

// base64Of returns the base64 forms of a secret, alone and inside a longer text.
func base64Of(secret string) []string {
	var out []string
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding,
		base64.RawURLEncoding} {
		out = append(out, enc.EncodeToString([]byte(secret)))
	}
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 {
			out = append(out, shifted(enc, secret, shift))
		}
	}
	return out
}

// shifted returns the base64 digits of a secret inside a longer text, with a number of
// bytes (modulo 3) before the secret. Digits that depend on other bytes are left out.
func shifted(enc *base64.Encoding, secret string, shift int) string {
	digits := enc.EncodeToString(append(make([]byte, shift), secret...))
	first := (shift*8 + 5) / 6
	last := (shift + len(secret)) * 8 / 6
	return digits[first:last]
}
