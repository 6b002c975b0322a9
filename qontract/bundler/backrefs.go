package bundler

import (
	"slices"
	"strings"
)

// A mention is a place in a datafile that names a resource.
type mention struct{ path, jsonpath, schema string }

// appendMentions appends the backrefs of a resource as JSON, sorted by path and
// jsonpath.
func appendMentions(b []byte, all []mention) []byte {
	slices.SortStableFunc(all, func(a, b mention) int {
		if c := strings.Compare(a.path, b.path); c != 0 {
			return c
		}
		return strings.Compare(a.jsonpath, b.jsonpath)
	})
	for i, s := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(append(b, `{"datafileSchema":`...), s.schema)
		b = appendString(append(b, `,"jsonpath":`...), s.jsonpath)
		b = append(appendString(append(b, `,"path":`...), s.path), '}')
	}
	return b
}
