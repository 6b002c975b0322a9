package render

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf16"
)

// pythonString returns a text as Python's json.dumps writes it: all that is not ASCII is escaped.
func pythonString(text string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\r':
			out.WriteString(`\r`)
		case r == '\t':
			out.WriteString(`\t`)
		case r == '\b':
			out.WriteString(`\b`)
		case r == '\f':
			out.WriteString(`\f`)
		case r < ' ' || r > 0x7f && r < 0x10000:
			fmt.Fprintf(&out, `\u%04x`, r)
		case r >= 0x10000:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
	return out.String()
}

// pythonNumber returns a number of JSON as Python prints what it reads of it: a number with
// a point or an exponent is a float, and every other one is an integer of any size. A float that is too large
// is inf.
func pythonNumber(n json.Number) string {
	text := n.String()
	if !strings.ContainsAny(text, ".eE") {
		if whole, ok := new(big.Int).SetString(text, 10); ok && len(text) <= maxDigits {
			return whole.String() // -0 is 0
		}
		return text
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return map[bool]string{false: "inf", true: "-inf"}[strings.HasPrefix(text, "-")]
	}
	return pythonFloat(f)
}

// maxDigits bounds how long an integer is read; a longer one stays as it is written.
const maxDigits = 4000

// pythonFloat returns the shortest text that is read as the same number. As in Python's repr the
// exponent is written out below 1e-4 and from 1e16 on.
func pythonFloat(f float64) string {
	scientific := strconv.FormatFloat(f, 'e', -1, 64)
	_, exponent, _ := strings.Cut(scientific, "e")
	if e, _ := strconv.Atoi(exponent); e < -4 || e >= 16 {
		return scientific
	}
	plain := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(plain, ".") {
		plain += ".0"
	}
	return plain
}
