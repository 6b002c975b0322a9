package mask

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// formsOf returns the forms of a secret, and none if it is too short to be told from
// ordinary text.
func formsOf(secret string) []form {
	if len(secret) < minSecret {
		return nil
	}
	digits := base64Of(secret)
	texts := append(escapedForms(secret), hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret))))
	broken := slices.Clone(digits)
	for _, d := range digits {
		texts = append(texts, url.QueryEscape(d))
		for shift := range 3 { // base64 in base64, as in a secret of Kubernetes
			broken = append(broken, shifted(base64.RawStdEncoding, d, shift))
		}
	}
	var forms []form
	for _, text := range texts {
		forms = append(forms, form{text: text})
	}
	for _, text := range broken {
		forms = append(forms, form{text: text, broken: true})
	}
	return slices.DeleteFunc(forms, func(f form) bool { return len(f.text) < minSecret })
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

// unreserved lists, for usual encoders of URLs, the bytes that they leave as they are
// besides letters and digits: a strict encoder, one for paths, JavaScript's, and one
// that encodes everything.
var unreserved = []string{"-_.~", "-_.~/", "-_.!~*'()", ""}

// escapedForms returns a secret as it is, and as URLs, JSON, programs and HTML pages
// write it.
func escapedForms(secret string) []string {
	out := []string{secret, url.QueryEscape(secret), url.PathEscape(secret), html.EscapeString(secret)}
	for _, keep := range unreserved {
		out = append(out, percentEncode(secret, keep))
	}
	for _, text := range slices.Clone(out) {
		out = append(out, lowerHex(text))
	}
	if quoted, err := json.Marshal(secret); err == nil {
		out = append(out, string(quoted[1:len(quoted)-1]))
	}
	for _, quoted := range []string{strconv.Quote(secret), strconv.QuoteToASCII(secret)} {
		out = append(out, quoted[1:len(quoted)-1])
	}
	return out
}

// percentEncode encodes all bytes except letters, digits and the bytes of keep.
func percentEncode(text, keep string) string {
	var out strings.Builder
	for _, c := range []byte(text) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte(keep, c) >= 0:
			out.WriteByte(c)
		default:
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}

// lowerHex writes the hex digits after each percent sign in lower case.
func lowerHex(text string) string {
	parts := strings.Split(text, "%")
	for i := 1; i < len(parts); i++ {
		if len(parts[i]) >= 2 {
			parts[i] = strings.ToLower(parts[i][:2]) + parts[i][2:]
		}
	}
	return strings.Join(parts, "%")
}
