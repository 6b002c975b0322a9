package wrapper

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

const (
	minSecret     = 4 // shorter ones would mask ordinary text
	minSecretLine = 8 // the same for single lines of a secret
)

// masked replaces a secret.
var masked = []byte("***")

// A masker knows every form of every secret. It does not change after it was
// made.
type masker struct {
	forms [256][]string // by first byte, longest first
}

// newMasker collects the forms of the secrets.
func newMasker(secrets []string) *masker {
	var all []string
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
	slices.SortFunc(all, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	m := &masker{}
	for _, form := range slices.Compact(all) {
		m.forms[form[0]] = append(m.forms[form[0]], form)
	}
	return m
}

// formsOf returns how a secret may appear in a log, or nothing if it is too
// short to be told from ordinary text.
func formsOf(secret string) []string {
	if len(secret) < minSecret {
		return nil
	}
	forms := []string{secret, url.QueryEscape(secret), url.PathEscape(secret)}
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
		forms = append(forms, enc.EncodeToString([]byte(secret)))
	}
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 {
			forms = append(forms, shifted(enc, secret, shift))
		}
	}
	if quoted, err := json.Marshal(secret); err == nil {
		forms = append(forms, string(quoted[1:len(quoted)-1]))
	}
	return slices.DeleteFunc(forms, func(form string) bool { return len(form) < minSecret })
}

// shifted returns the base64 digits that a secret gives inside a longer text
// that has shift bytes (modulo 3) before it: those that depend on it alone.
func shifted(enc *base64.Encoding, secret string, shift int) string {
	digits := enc.EncodeToString(append(make([]byte, shift), secret...))
	first := (shift*8 + 5) / 6
	last := (shift + len(secret)) * 8 / 6
	return digits[first:last]
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
	for _, form := range m.forms[text[0]] {
		if len(form) > len(text) {
			more = more || form[:len(text)] == string(text)
		} else if string(text[:len(form)]) == form {
			return len(form), more
		}
	}
	return 0, more
}
