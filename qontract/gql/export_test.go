package gql

import "strings"

// Conflicts reports whether a document has fields in conflict: once found by comparing
// pairs, once by the linear search. It is not ok if the document has other errors.
func (s *Schema) Conflicts(text string) (pairs, linear, ok bool) {
	doc, fault := parse(text)
	if fault != nil {
		return false, false, false
	}
	v := s.applyRules(doc)
	for _, e := range v.errors {
		if !strings.Contains(e.Message, "conflict because") {
			return false, false, false
		}
	}
	pairs = len(v.errors) > 0
	v.errors, v.tooManyErrors = nil, false
	v.reportFirstConflicts()
	return pairs, len(v.errors) > 0, true
}

// Locate converts an offset of a text to a location.
func Locate(text string, pos int) Location { return newSourceText(text).locate(pos) }
