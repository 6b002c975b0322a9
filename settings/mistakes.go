package settings

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// An Error is one mistake in a settings file.
type Error struct {
	File string
	Line int // 0 if the mistake has no line
	Msg  string
}

// Error returns the message with file and line.
func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Msg)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg)
}

// maxMistakes is how many mistakes of one file are reported.
const maxMistakes = 20

// Mistakes gathers the mistakes of one settings file, so that a user can correct them at once.
type Mistakes struct {
	File string // name of the file in messages
	list []*Error
}

// Add notes a mistake. at is the path of the value in the document, such as exec.timeout; ""
// means the document itself.
func (m *Mistakes) Add(line int, at, message string) {
	if at != "" {
		message = at + ": " + message
	}
	m.list = append(m.list, &Error{File: m.File, Line: line, Msg: message})
}

// AddOwn notes the mistakes that a native found in its own settings. An error that does not know
// its line gets that of the settings.
func (m *Mistakes) AddOwn(own Own, err error) {
	var mistake *Error
	joined, isJoined := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
	case isJoined:
		for _, e := range joined.Unwrap() {
			m.AddOwn(own, e)
		}
	case errors.As(err, &mistake):
		m.list = append(m.list, mistake)
	default:
		m.Add(own.Line, own.At, err.Error())
	}
}

// Err returns all mistakes as one error, in the order of their lines; nil if there are none.
func (m *Mistakes) Err() error {
	slices.SortStableFunc(m.list, func(a, b *Error) int { return cmp.Compare(a.Line, b.Line) })
	var errs []error
	for i, e := range m.list {
		if i == maxMistakes {
			more := fmt.Sprintf("%d more mistakes", len(m.list)-i)
			errs = append(errs, &Error{File: m.File, Msg: more})
			break
		}
		errs = append(errs, e)
	}
	return errors.Join(errs...)
}
