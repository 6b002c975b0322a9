package mask

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

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
