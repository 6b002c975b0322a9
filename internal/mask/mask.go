package mask

import (
	"cmp"
	"slices"
	"strings"
)

// The sizes, in bytes, below which a secret, and a single line of a secret, are not
// masked: they would hide ordinary text.
const (
	minSecret     = 4
	minSecretLine = 8
)

// mask replaces a secret.
const mask = "***"

// A Masker replaces secrets in texts. Several goroutines may use it at once.
type Masker struct {
	forms [256]*[256][]form // by the first two bytes of a form, the longest form first
}

// A form is one way in which a secret may be written.
type form struct {
	text   string
	broken bool // line breaks may stand inside, as in base64
}

// New returns a masker of these secrets.
func New(secrets []string) *Masker {
	var all []form
	for _, secret := range secrets {
		all = append(all, formsOf(secret)...)
		if secret = strings.TrimSpace(secret); !strings.Contains(secret, "\n") {
			all = append(all, formsOf(secret)...)
			continue
		}
		for line := range strings.Lines(secret) {
			if line = strings.TrimSpace(line); len(line) >= minSecretLine {
				all = append(all, formsOf(line)...)
			}
		}
	}
	slices.SortFunc(all, func(a, b form) int {
		return cmp.Or(len(b.text)-len(a.text), strings.Compare(a.text, b.text), compareBools(b.broken, a.broken))
	})
	// Of two forms with the same text the one with line breaks comes first and stays:
	// it matches wherever the other one does.
	all = slices.CompactFunc(all, func(a, b form) bool { return a.text == b.text })
	m := &Masker{}
	for _, f := range all {
		m.add(f)
	}
	return m
}

// add stores a form under the two bytes that its appearance may begin with. A form has
// at least two bytes.
func (m *Masker) add(f form) {
	second := m.forms[f.text[0]]
	if second == nil {
		second = new([256][]form)
		m.forms[f.text[0]] = second
	}
	after := []byte{f.text[1]}
	if f.broken {
		after = append(after, '\n', '\r')
	}
	for _, c := range after {
		second[c] = append(second[c], f)
	}
}

// compareBools orders false before true.
func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// Text returns a text in which the secrets are masked.
func (m *Masker) Text(text string) string {
	stream := m.Stream()
	return string(append(stream.Feed([]byte(text)), stream.Flush()...))
}

// A Stream masks a text that comes in pieces. It holds back the end of the pieces so
// far if a secret may begin there. It is for one goroutine.
type Stream struct {
	masker *Masker
	held   []byte
	until  int // held[:until] belongs to a secret whose mask is written already
}

// Stream returns a stream for one text.
func (m *Masker) Stream() *Stream { return &Stream{masker: m} }

// Feed takes the next piece of the text and returns the part that is masked by now.
func (s *Stream) Feed(piece []byte) []byte {
	s.held = append(s.held, piece...)
	return s.advance(false)
}

// Flush returns the rest of the text, after its last piece.
func (s *Stream) Flush() []byte { return s.advance(true) }

// advance masks every byte that belongs to a secret. Secrets that overlap become one
// mask, so that no part of either stays visible.
func (s *Stream) advance(final bool) []byte {
	out := make([]byte, 0, len(s.held))
	at := 0
	for ; at < len(s.held); at++ {
		size, more := s.masker.match(s.held[at:])
		if more && !final {
			break
		}
		if size > 0 && at >= s.until {
			out = append(out, mask...)
		}
		s.until = max(s.until, at+size)
		if at >= s.until {
			out = append(out, s.held[at])
		}
	}
	s.held = append(s.held[:0], s.held[at:]...)
	s.until = max(0, s.until-at)
	return out
}

// match returns the size of the longest form that text begins with, 0 if there is
// none, and whether text may turn out to begin with a longer one when more follows.
func (m *Masker) match(text []byte) (size int, more bool) {
	second := m.forms[text[0]]
	if second == nil || len(text) == 1 {
		return 0, second != nil
	}
	for _, f := range second[text[1]] {
		n, open := f.match(text)
		more = more || open
		if n > 0 {
			return n, more
		}
	}
	return 0, more
}

// maxBreak is how many bytes a line break inside a form may have.
const maxBreak = 2

// match returns how many bytes at the beginning of text are the form, 0 if text does
// not begin with it, and whether it may do so when more text follows.
func (f form) match(text []byte) (size int, more bool) {
	if !f.broken {
		if len(f.text) > len(text) {
			return 0, f.text[:len(text)] == string(text)
		}
		if string(text[:len(f.text)]) == f.text {
			return len(f.text), false
		}
		return 0, false
	}
	at, breaks := 0, 0
	for i := range len(f.text) {
		for breaks = 0; i > 0 && breaks < maxBreak && at < len(text) && (text[at] == '\n' || text[at] == '\r'); at++ {
			breaks++
		}
		if at == len(text) {
			return 0, true
		}
		if text[at] != f.text[i] {
			return 0, false
		}
		at++
	}
	return at, false
}
