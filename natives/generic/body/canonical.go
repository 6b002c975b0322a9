package body

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Canonical returns the one JSON text of a value: members sorted, no blanks, each number in
// one spelling. Values are equal if their canonical texts are.
func Canonical(v any) string { return Spelling(v, Plain) }

// Spelling returns the canonical text of a value whose texts have a format.
func Spelling(v any, f Format) string {
	var out strings.Builder
	write(&out, v, f)
	return out.String()
}

func write(out *strings.Builder, v any, f Format) {
	switch v := v.(type) {
	case map[string]any:
		out.WriteByte('{')
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				out.WriteByte(',')
			}
			out.WriteString(quote(name))
			out.WriteByte(':')
			write(out, v[name], f)
		}
		out.WriteByte('}')
	case []any:
		out.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				out.WriteByte(',')
			}
			write(out, item, f)
		}
		out.WriteByte(']')
	default:
		out.WriteString(f.scalar(v))
	}
}

// quote returns a text as JSON, with <, > and & as they are.
func quote(text string) string {
	if isSimple(text) {
		return `"` + text + `"`
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		return `"?"` // a text can always be written
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// isSimple reports whether JSON writes a text as it is.
func isSimple(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// Text returns a value as JSON in one line, with members sorted and numbers as they are.
func Text(v any) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return `"?"`
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// Digest returns "sha256:" and the hash of the canonical text of a value.
func Digest(v any) string {
	sum := sha256.Sum256([]byte(Canonical(v)))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// HMAC returns the keyed hash of the canonical text of a value, in hex. It is the only trace
// of a secret that is stored.
func HMAC(key []byte, v any) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(Canonical(v)))
	return hex.EncodeToString(h.Sum(nil))
}

// Equal reports whether two values of a format mean the same. null, an empty list and an empty
// object are equal, as in a live resource.
func Equal(a, b any, f Format) bool {
	if IsEmpty(a) || IsEmpty(b) {
		return IsEmpty(a) && IsEmpty(b)
	}
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && equalMembers(a, b, f)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, func(x, y any) bool { return Equal(x, y, f) })
	}
	switch b := b.(type) {
	case map[string]any, []any:
		return false
	case string:
		if a, isText := a.(string); isText && (f == Plain || a == b) {
			return a == b
		}
	}
	return f.scalar(a) == f.scalar(b)
}

func equalMembers(a, b map[string]any, f Format) bool {
	for name, item := range a {
		if !Equal(item, b[name], f) {
			return false
		}
	}
	for name, item := range b {
		if _, ok := a[name]; !ok && !IsEmpty(item) {
			return false
		}
	}
	return true
}
