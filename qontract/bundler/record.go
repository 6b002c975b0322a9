package bundler

import (
	"crypto/sha256"
	"path"
	"unicode/utf8"
)

// A record holds the text of one datafile or one resource in the bundle, and what
// the rest of the bundle needs to know about the file. Except for the path, it
// depends only on the bytes of the file and on the definitions.
type record struct {
	path string
	span span // of the text

	// The fields of a datafile. The identifier of the datafile stands in its text from
	// identifierStart to identifierEnd. It is written only if a list item of some
	// datafile refers to this one; then ownSchema must allow an identifier.
	empty                          bool // the file is left out
	identifierStart, identifierEnd int
	ownSchema                      *node
	schema                         string
	backrefs                       []backref
	refs                           []string // paths to which list items refer
	itemSchemas                    []*node  // schemas of list items that got an identifier

	// The field of a resource. Its text has neither backrefs nor path: the backrefs
	// belong at backrefsStart, the path before the last sumTail bytes.
	backrefsStart int
}

// sumTail is how long the text of a resource is from its sha256sum on.
const sumTail = len(`,"sha256sum":""}`) + 2*sha256.Size

// parseFile reads a file as YAML or JSON, depending on its name.
func (s TreePart) parseFile(name string, raw []byte) (*node, []Problem) {
	if isYAMLName(path.Base(name)) && !s.JSON {
		return readYAML(raw)
	}
	return readJSON(raw)
}

// findInvalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
func findInvalidUTF8(raw []byte) int {
	if utf8.Valid(raw) {
		return -1
	}
	at := 0
	for {
		r, size := utf8.DecodeRune(raw[at:])
		if r == utf8.RuneError && size <= 1 {
			return at
		}
		at += size
	}
}
