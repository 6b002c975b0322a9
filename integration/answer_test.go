package integration

import (
	"fmt"
	"testing"
)

// Errors of a list are told by its entries, and all other errors make the answer useless.
func TestInList(t *testing.T) {
	at := func(path ...any) FieldError { return FieldError{"wrong", path} }
	for name, c := range map[string]struct {
		errors []FieldError
		want   string
		ok     bool
	}{
		"a field": {[]FieldError{at("l", 2.0, "x", "y")}, "map[2:x: wrong]", true},
		"two fields": {[]FieldError{at("l", 0.0, "x"), at("l", 0.0, "y"), at("l", 1.0, "z")},
			"map[0:x: wrong 1:z: wrong]", true},
		"another list":    {[]FieldError{at("l", 2.0, "x"), at("m", 2.0, "x")}, "map[]", false},
		"an entry":        {[]FieldError{at("l", 2.0)}, "map[]", false},
		"no place":        {[]FieldError{at()}, "map[]", false},
		"half a position": {[]FieldError{at("l", 0.5, "x")}, "map[]", false},
		"a name":          {[]FieldError{at("l", "a", "x")}, "map[]", false},
	} {
		got, ok := (&AnswerError{Errors: c.errors}).InList("l")
		if fmt.Sprint(got) != c.want || ok != c.ok {
			t.Errorf("%s: got %v, %v, want %s", name, got, ok, c.want)
		}
	}
}
