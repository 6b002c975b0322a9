package mask

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// textsInDigits returns the texts for which digits of some bits may stand if they hold a
// secret: the secret as it is, in JSON, in UTF-16 and, in digits of Base64, in Base64.
// Digits of eight bits are the bytes of a text: only UTF-16 is left to be found there.
func textsInDigits(secret string, size int) []string {
	out := inUTF16(secret)
	if size < 8 {
		out = append(append(out, secret), inJSON(secret)...)
	}
	if size == 6 { // as in a secret of Kubernetes
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			for shift := range 3 {
				out = append(out, shifted(enc, secret, shift))
			}
		}
	}
	return slices.DeleteFunc(out, func(text string) bool { return len(text) < minDigits })
}

// inUTF16 returns a text in UTF-16, in both orders of bytes.
func inUTF16(text string) []string {
	if !utf8.ValidString(text) {
		return nil
	}
	var little, big []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		little = binary.LittleEndian.AppendUint16(little, unit)
		big = binary.BigEndian.AppendUint16(big, unit)
	}
	return []string{string(little), string(big)}
}

// A jsonStyle is a way in which a library writes strings of JSON.
type jsonStyle struct {
	coded string // characters that are written as \uXXXX, in addition to control characters
	all   bool   // whether all characters that are not of ASCII are written as \uXXXX
	digit string // the format of XXXX
	slash bool   // whether / is written as \/
}

// jsonStyles are the styles of common libraries.
var jsonStyles = []jsonStyle{
	{digit: "%04x"},                                     // JavaScript, Rust
	{digit: "%04x", coded: "\u2028\u2029"},              // Go without escapes for HTML
	{digit: "%04x", coded: "<>&\u2028\u2029"},           // Go
	{digit: "%04x", all: true, coded: "\u007f"},         // Python
	{digit: "%04x", all: true, coded: "<>&"},            // with escapes for HTML
	{digit: "%04x", all: true, slash: true},             // PHP
	{digit: "%04x", slash: true},                        // PHP with all characters
	{digit: "%04X", all: true},                          // with large digits
	{digit: "%04X", all: true, coded: "\"&'+<>`\u007f"}, // .NET
	{digit: "%04x", coded: "<>&='\u2028\u2029"},         // Gson
}

// inJSON returns a text as strings of JSON write it, without the quotes.
func inJSON(text string) []string {
	if !utf8.ValidString(text) {
		return nil
	}
	var out []string
	for _, style := range jsonStyles {
		out = append(out, style.write(text))
	}
	return out
}

// write returns a text as a string of JSON has it.
func (s jsonStyle) write(text string) string {
	var out strings.Builder
	for _, r := range text {
		short := strings.IndexRune("\"\\\b\f\n\r\t", r)
		switch {
		case strings.ContainsRune(s.coded, r), r < ' ' && short < 0, r >= utf8.RuneSelf && s.all:
			for _, unit := range utf16.Encode([]rune{r}) {
				out.WriteString(`\u` + fmt.Sprintf(s.digit, unit))
			}
		case short >= 0:
			out.WriteString(`\` + `"\bfnrt`[short:short+1])
		case r == '/' && s.slash:
			out.WriteString(`\/`)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}
