package jsonpointer

import "strings"

var (
	escaper   = strings.NewReplacer("~", "~0", "/", "~1")
	unescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

// Escape returns a key as it is written in a pointer.
func Escape(key string) string {
	if !strings.ContainsAny(key, "~/") {
		return key // nearly all
	}
	return escaper.Replace(key)
}

// Unescape returns a key of which the pointer has the escaped form.
func Unescape(part string) string {
	if strings.IndexByte(part, '~') < 0 {
		return part // nearly all
	}
	return unescaper.Replace(part)
}

// Append returns the pointer to a key, or an index, of the value at a pointer.
func Append(pointer, key string) string { return pointer + "/" + Escape(key) }

// Split returns the keys and indexes of a pointer, unescaped. The pointer "" has
// none.
func Split(pointer string) []string {
	if pointer == "" {
		return nil
	}
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, part := range parts {
		parts[i] = Unescape(part)
	}
	return parts
}
