package sanitize

import (
	"regexp"
	"strings"
	"unicode"
)

// escapes matches terminal escape sequences: CSI, OSC and the short ones.
var escapes = regexp.MustCompile("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|\x1b[ -/]*[0-~]?")

// Text makes text harmless and keeps its lines: it becomes valid UTF-8 without
// terminal escapes, control characters (but \n and \t) and characters that
// reorder text.
func Text(text string) string {
	text = escapes.ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), "")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r', r == '\u2028', r == '\u2029':
			return '\n'
		case r == '\n', r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, text)
}

// Line makes one harmless line of text: all white space is folded.
func Line(text string) string { return strings.Join(strings.Fields(Text(text)), " ") }
