package wrapper

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

// formsOf returns how a secret may appear in a log, or nothing if it is too
// short to be told from ordinary text.
func formsOf(secret string) []form {
	if len(secret) < minSecret {
		return nil
	}
	digits := base64Of(secret)
	texts := append(escaped(secret), hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret))))
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

// base64Of returns a secret in base64, alone and inside a longer text.
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

// shifted returns the base64 digits that a secret gives inside a longer text
// that has shift bytes (modulo 3) before it: those that depend on it alone.
func shifted(enc *base64.Encoding, secret string, shift int) string {
	digits := enc.EncodeToString(append(make([]byte, shift), secret...))
	first := (shift*8 + 5) / 6
	last := (shift + len(secret)) * 8 / 6
	return digits[first:last]
}

// unreserved are the bytes besides letters and digits that the usual encoders of
// addresses leave as they are: those of strict ones, of paths, of JavaScript.
var unreserved = []string{"-_.~", "-_.~/", "-_.!~*'()", ""}

// escaped returns a secret as addresses, JSON, programs and pages write it, and
// as it is.
func escaped(secret string) []string {
	out := []string{secret, url.QueryEscape(secret), url.PathEscape(secret), html.EscapeString(secret)}
	for _, keep := range unreserved {
		out = append(out, percent(secret, keep))
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

// percent encodes all bytes but letters, digits and those to keep.
func percent(text, keep string) string {
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

// lowerHex writes the digits behind each percent sign small.
func lowerHex(text string) string {
	parts := strings.Split(text, "%")
	for i := 1; i < len(parts); i++ {
		if len(parts[i]) >= 2 {
			parts[i] = strings.ToLower(parts[i][:2]) + parts[i][2:]
		}
	}
	return strings.Join(parts, "%")
}
