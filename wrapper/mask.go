package wrapper

import (
	"cmp"
	"slices"
	"strings"
)

const (
	minSecret     = 4 // shorter ones would mask ordinary text
	minSecretLine = 8 // the same for single lines of a secret
)

// masked replaces a secret.
var masked = []byte("***")

// Mask returns what hides secrets in a text, as [Run] hides them in outputs.
func Mask(secrets []string) func(text string) string { return newMasker(secrets).text }

// A masker knows every form of every secret. It does not change after it was
// made.
type masker struct {
	forms [256]*[256][]form // by the first two bytes of a text, longest first
}

// A form is how a secret may appear.
type form struct {
	text   string
	broken bool // into lines, as base64 often is
}

// newMasker collects the forms of the secrets.
func newMasker(secrets []string) *masker {
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
		return cmp.Or(len(b.text)-len(a.text), strings.Compare(a.text, b.text), compare(b.broken, a.broken))
	})
	// The same text may be there twice; broken into lines it covers both.
	all = slices.CompactFunc(all, func(a, b form) bool { return a.text == b.text })
	m := &masker{}
	for _, f := range all {
		m.add(f)
	}
	return m
}

// add files a form under what it may begin with. None is shorter than two bytes.
func (m *masker) add(f form) {
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

// compare puts false before true.
func compare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// text masks a whole text.
func (m *masker) text(s string) string {
	stream := maskStream{masker: m}
	return string(append(stream.feed([]byte(s)), stream.flush()...))
}

// A maskStream masks text that comes in pieces. It holds back what may be the
// beginning of a secret.
type maskStream struct {
	*masker
	held  []byte
	until int // held[:until] belongs to a secret that is masked already
}

// feed takes the next piece and returns what can be shown by now.
func (s *maskStream) feed(piece []byte) []byte {
	s.held = append(s.held, piece...)
	return s.advance(false)
}

// flush returns the rest. There is no next piece.
func (s *maskStream) flush() []byte { return s.advance(true) }

// advance masks every byte that belongs to any secret. Secrets that overlap
// become one ***, so that no end of either stays visible.
func (s *maskStream) advance(final bool) []byte {
	out := make([]byte, 0, len(s.held))
	at := 0
	for ; at < len(s.held); at++ {
		size, more := s.match(s.held[at:])
		if more && !final {
			break
		}
		if size > 0 && at >= s.until {
			out = append(out, masked...)
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

// match returns the size of the longest secret that text begins with, and
// whether a longer one may follow when there is more text.
func (m *masker) match(text []byte) (size int, more bool) {
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

// maxBreak is how many bytes a line break inside a form has.
const maxBreak = 2

// match returns how much of the text is the form, 0 when it does not begin with
// it, and whether it may with more text.
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
