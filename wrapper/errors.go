package wrapper

import (
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/internal/sanitize"
)

// An ExitError reports that a command ran and did not succeed.
type ExitError struct {
	Code   int // -1 if a signal killed the command
	Signal int // 0 if no signal killed it
}

// Error returns "exit code 3" or "killed by signal 9".
func (e *ExitError) Error() string {
	if e.Signal != 0 {
		return fmt.Sprintf("killed by signal %d", e.Signal)
	}
	return fmt.Sprintf("exit code %d", e.Code)
}

// A ConfigError reports that a task failed because the data or the settings are
// wrong. Another attempt would fail as well.
type ConfigError struct {
	Err error
}

// Error returns the message of the wrapped error.
func (e *ConfigError) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e *ConfigError) Unwrap() error { return e.Err }

// A TransientError reports that a task failed for a reason that may go away by itself.
type TransientError struct {
	Err error
}

// Error returns the message of the wrapped error.
func (e *TransientError) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e *TransientError) Unwrap() error { return e.Err }

// configErrorf returns a ConfigError with a formatted message.
func configErrorf(format string, args ...any) error {
	return &ConfigError{Err: fmt.Errorf(format, args...)}
}

// maxReason is the maximal length of a reason in bytes.
const maxReason = 500

// toOneLine returns a message as one line of at most maxReason bytes.
func toOneLine(message string) string {
	var parts []string
	for line := range strings.Lines(sanitize.Text(message)) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			parts = append(parts, line)
		}
	}
	line := strings.Join(parts, "; ")
	return phrase.Cut(line, maxReason)
}
