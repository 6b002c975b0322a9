package bundler

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"path"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// resourceSchema finds the line of a YAML resource that names its schema.
var resourceSchema = lazyregexp.New(`(?m)^\$schema: (.+\.ya?ml)$`)

// makeResource returns the record of a resource and its text in buf, without
// backrefs and path.
func makeResource(f sourceFile, raw []byte, buf []byte) (record, []byte, []Problem) {
	if i := findInvalidUTF8(raw); i >= 0 {
		return record{}, nil, []Problem{newProblemAt(raw, i, "is not UTF-8 from here on: save it as UTF-8")}
	}
	b := buf[:0]
	b = append(b, `{"$schema":`...)
	var schema []byte
	if isYAMLName(path.Base(f.path)) && bytes.Contains(raw, []byte("$schema: ")) {
		if m := resourceSchema.FindSubmatch(raw); m != nil {
			schema = m[1]
		}
	}
	if schema == nil {
		b = append(b, "null"...)
	} else {
		b = appendString(b, schema)
	}
	b = append(b, `,"backrefs":[`...)
	r := record{backrefsStart: len(b)}
	b = appendString(append(b, `],"content":`...), raw)
	sum := sha256.Sum256(raw)
	b = append(hex.AppendEncode(append(b, `,"sha256sum":"`...), sum[:]), `"}`...)
	return r, b, nil
}
