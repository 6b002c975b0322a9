package sanitize

import (
	"strings"
	"unicode"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// escapes matches terminal escape sequences: CSI, OSC and short sequences.
var escapes = lazyregexp.New("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|\x1b[ -/]*[0-~]?")

// Text returns a text in valid UTF-8 without terminal escapes, without control characters
// except \n and \t, and without characters that reorder text. Its lines stay.
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

// Line returns a text like [Text] on one line: every run of white space becomes one space.
func Line(text string) string { return strings.Join(strings.Fields(Text(text)), " ") }
