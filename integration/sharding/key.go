package sharding

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CheckKey returns an error if a key cannot safely be an argument of a task. Keys come
// from head, which is not trusted: a key must not be taken for an option or a
// placeholder.
func CheckKey(key string) error {
	switch {
	case key == "":
		return errors.New("has an empty key")
	case len(key) > 253:
		return errors.New("has a key longer than 253 bytes")
	case strings.HasPrefix(key, "-"):
		return fmt.Errorf("has a key that begins with a dash and would be taken for an option: %q", key)
	case strings.ContainsAny(key, "{}") || strings.ContainsFunc(key, unicode.IsControl) || !utf8.ValidString(key):
		return fmt.Errorf("has a key with braces or control characters: %q", key)
	}
	return nil
}
