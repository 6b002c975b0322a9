package gql

import "strings"

// Conflicts tells whether a document has fields in conflict, found by comparing
// pairs and found in linear time. It is not ok when something else is wrong.
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

// Locate is where an offset of a text is.
func Locate(text string, pos int) Location { return newSourceText(text).locate(pos) }
