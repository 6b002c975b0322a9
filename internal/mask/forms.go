package mask

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// A form is one way in which a secret may be encoded. Each of its characters may be
// escaped in addition, see [unit].
type form struct{ text string }

// pair returns the first two bytes of the form.
func (f form) pair() [2]byte { return [2]byte{f.text[0], f.text[1]} }

// compareForms orders forms by length, the longest first, and then by their bytes.
func compareForms(a, b form) int {
	return cmp.Or(len(b.text)-len(a.text), strings.Compare(a.text, b.text))
}

// formsOf returns the forms of secrets, the longest form first.
func formsOf(secrets []string) []form {
	var texts []string
	for _, secret := range secrets {
		texts = append(texts, encodings(secret)...)
		if secret = strings.TrimSpace(secret); !strings.Contains(secret, "\n") {
			texts = append(texts, encodings(secret)...)
			continue
		}
		for line := range strings.Lines(secret) {
			if line = strings.TrimSpace(line); len(line) >= minSecretLine {
				texts = append(texts, encodings(line)...)
			}
		}
	}
	var forms []form
	for _, text := range texts {
		forms = append(forms, form{text})
	}
	slices.SortFunc(forms, compareForms)
	return slices.Compact(forms)
}

// encodings returns a secret as it is, in base64 and in hex. It returns nothing if the
// secret is too short to be told from ordinary text.
func encodings(secret string) []string {
	if len(secret) < minSecret {
		return nil
	}
	digits := base64Of(secret)
	out := append([]string{secret, hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret)))}, digits...)
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
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
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
