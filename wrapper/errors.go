package wrapper

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// An ExitError says that a command ran and did not succeed.
type ExitError struct {
	Code   int // -1 when a signal killed it
	Signal int // 0 when none did
}

// Error returns "exit code 3" or "killed by signal 9".
func (e *ExitError) Error() string {
	if e.Signal != 0 {
		return fmt.Sprintf("killed by signal %d", e.Signal)
	}
	return fmt.Sprintf("exit code %d", e.Code)
}

// A ConfigError says that a task failed because the data or the settings are
// wrong; trying again would not help.
type ConfigError struct {
	Err error
}

// Error returns the message of the wrapped error.
func (e *ConfigError) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e *ConfigError) Unwrap() error { return e.Err }

// configErrorf returns a ConfigError.
func configErrorf(format string, args ...any) error {
	return &ConfigError{Err: fmt.Errorf(format, args...)}
}

// escapes matches terminal escape sequences: CSI, OSC and the short ones.
var escapes = regexp.MustCompile("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|\x1b[ -/]*[0-~]?")

// clean makes text harmless to show: valid UTF-8 without terminal escapes,
// control characters (but \n and \t) and characters that reorder text.
func clean(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = escapes.ReplaceAllString(text, "")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r' || r == '\u2028' || r == '\u2029':
			return '\n'
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, text)
}

// maxReason bounds a reason in bytes.
const maxReason = 500

// oneLine makes one bounded line of a message.
func oneLine(message string) string {
	var parts []string
	for line := range strings.Lines(clean(message)) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			parts = append(parts, line)
		}
	}
	line := strings.Join(parts, "; ")
	if len(line) > maxReason {
		line = strings.ToValidUTF8(line[:maxReason], "") + "…"
	}
	return line
}
