package integration

import (
	"encoding/json"
	"fmt"
)

// An AnswerError says that an answer to a query is not whole: some fields could not be
// answered, usually because a datafile has a value of another type there. These fields are
// null in the data, and so is what they make null.
//
// To take the data for the answer would mistake an error for a null. But an integration may
// use the entries that no error is about, see [AnswerError.InList].
type AnswerError struct {
	Data   json.RawMessage
	Errors []FieldError
}

// A NoAnswerError says that an answer has no data at all: fields could not be answered, and all
// that is around them must not be null.
type NoAnswerError struct{ Errors []FieldError }

// Error returns the first message.
func (e *NoAnswerError) Error() string { return (&AnswerError{Errors: e.Errors}).Error() }

// A FieldError is an error of one field.
type FieldError struct {
	Message string `json:"message"`
	Path    []any  `json:"path"` // names, and positions in lists (float64)
}

// Error returns the first message.
func (e *AnswerError) Error() string {
	if n := len(e.Errors); n > 1 {
		return fmt.Sprintf("%s, and %d more errors", e.Errors[0].Message, n-1)
	}
	return e.Errors[0].Message
}

// InList returns the messages of the errors by the position of the entry in a list at the top
// of the answer. It returns false if an error is about anything else, or has no place: then
// nothing of the answer can be used.
func (e *AnswerError) InList(list string) (map[int]string, bool) {
	out := map[int]string{}
	for _, f := range e.Errors {
		if len(f.Path) < 3 || f.Path[0] != list {
			return nil, false
		}
		at, isPosition := f.Path[1].(float64)
		if !isPosition || at < 0 || at != float64(int(at)) {
			return nil, false
		}
		if out[int(at)] == "" {
			out[int(at)] = fmt.Sprintf("%v: %s", f.Path[2], f.Message)
		}
	}
	return out, true
}
