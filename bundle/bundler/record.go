package bundler

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"regexp"
	"unicode/utf8"
)

// A record is what becomes of one datafile, or of one resource. All but its
// path follows from the bytes of the file and the world.
type record struct {
	path string
	span span

	// Of a datafile. The part of its text from cut to end is there only when a
	// list item somewhere refers to it; own is the schema that then says so.
	empty    bool
	cut, end int
	own      *node
	schema   string
	backrefs []backref
	refs     []string
	marks    []*node // schemas of list items that got an identifier

	// Of a resource: its text up to the backrefs. The path is missing too, in
	// front of the last sumTail bytes.
	head int
}

// sumTail is how long the text of a resource is from its sha256sum on.
const sumTail = len(`,"sha256sum":""}`) + 2*sha256.Size

// parse reads a file by its name: YAML or JSON.
func (s Section) parse(name string, raw []byte) (*node, []Problem) {
	if isYAML(path.Base(name)) && !s.JSON {
		return readYAML(raw)
	}
	return readJSON(raw)
}

// datafile makes the text of a datafile and finds all that the rest of the
// bundle needs to know of it.
func (w *world) datafile(name string, raw []byte, buf []byte) (record, []byte, []Problem) {
	root, found := Section{}.parse(name, raw)
	if found != nil || root == nil {
		return record{empty: true}, buf[:0], found
	}
	if p := notDatafile(root); p != nil {
		if p[0].Line == 0 { // it was read without places
			root, _ = readFull(raw)
			p = notDatafile(root)
		}
		return record{}, nil, p
	}
	sum := sha256.Sum256(raw)
	root.set(checksumKey, &node{kind: text, text: hex.EncodeToString(sum[:])})
	r := record{schema: root.get("$schema").str()}
	var mine string
	if t := w.graphql.bySchema[r.schema]; t != nil && len(t.unique) > 0 && w.schemas[r.schema].truthy() {
		if mine = identifier(root, t.unique); mine != "" {
			r.own = w.schemas[r.schema]
		}
	}
	k := walker{world: w}
	k.walk(root)
	if k.left < 0 {
		return record{}, nil, []Problem{{Msg: "aliases make this file too large"}}
	}
	r.backrefs, r.refs = k.backrefs, k.refs
	for _, it := range k.items {
		if id := identifier(it.data, it.keys); id != "" {
			it.data.set(identifierKey, &node{kind: text, text: id})
			r.marks = append(r.marks, it.marked()...)
		}
	}
	buf, r.cut, r.end = appendDatafile(buf[:0], root, mine)
	if len(buf) > 2*maxExpanded {
		return record{}, nil, []Problem{{Msg: "aliases make this file too large"}}
	}
	return r, buf, nil
}

// notDatafile says why a value cannot be a datafile.
func notDatafile(root *node) []Problem {
	at := Problem{Line: int(root.line), Column: int(root.column)}
	if root.kind != mapping {
		at.Msg = "a datafile is a mapping with a $schema"
		return []Problem{at}
	}
	for _, m := range root.members {
		at := Problem{Line: int(m.key.line), Column: int(m.key.column)}
		switch {
		case m.key.kind != text:
			at.Msg = "the key " + clip(m.key.text) + " of a datafile is no text: quote it"
		case m.key.text == identifierKey:
			at.Msg = "the key " + identifierKey + " belongs to the bundler: remove it"
		case m.key.text == "$schema" && m.value.truthy() && m.value.kind != text:
			at.Msg = "$schema is not the path of a schema"
		default:
			continue
		}
		return []Problem{at}
	}
	return nil
}

// marked lists the schemas that must allow an identifier: the one of the item,
// the one whose oneOf led there, and the options of its own oneOf.
func (it *item) marked() []*node {
	all := []*node{it.schema, it.oneOf}
	if options := it.schema.get("oneOf"); options.truthy() && options.kind == list {
		all = append(all, options.items...)
	}
	marks := all[:0]
	for _, s := range all {
		if p := s.get("properties"); p != nil && p.kind == mapping && p.truthy() {
			marks = append(marks, s)
		}
	}
	return marks
}

// appendDatafile writes a datafile with its identifier, and tells which part is
// the identifier's.
func appendDatafile(b []byte, root *node, id string) (text []byte, cut, end int) {
	b = append(b, '{')
	written := id == ""
	for i, m := range sorted(root.members) {
		if i > 0 {
			b = append(b, ',')
		}
		if !written && m.key.text > identifierKey {
			written = true
			cut = len(b)
			b = append(append(append(b, `"`+identifierKey+`":"`...), id...), `",`...)
			end = len(b)
		}
		b = appendKey(b, m.key)
		b = appendValue(b, m.value)
	}
	if !written { // there is a $file_sha256sum before it
		cut = len(b)
		b = append(append(append(b, `,"`+identifierKey+`":"`...), id...), '"')
		end = len(b)
	}
	return append(b, '}'), cut, end
}

var resourceSchema = regexp.MustCompile(`(?m)^\$schema: (.+\.ya?ml)$`)

// resource makes the text of a resource, in which backrefs and path are missing.
func resource(f file, raw []byte, buf []byte) (record, []byte, []Problem) {
	if i := invalidUTF8(raw); i >= 0 {
		return record{}, nil, []Problem{problemAt(raw, i, "is not UTF-8 from here on: save it as UTF-8")}
	}
	b := buf[:0]
	b = append(b, `{"$schema":`...)
	var schema []byte
	if isYAML(path.Base(f.path)) && bytes.Contains(raw, []byte("$schema: ")) {
		if m := resourceSchema.FindSubmatch(raw); m != nil {
			schema = m[1]
		}
	}
	if schema == nil {
		b = append(b, "null"...)
	} else {
		b = appendText(b, schema)
	}
	b = append(b, `,"backrefs":[`...)
	r := record{head: len(b)}
	b = appendText(append(b, `],"content":`...), raw)
	sum := sha256.Sum256(raw)
	b = append(hex.AppendEncode(append(b, `,"sha256sum":"`...), sum[:]), `"}`...)
	return r, b, nil
}

// invalidUTF8 is where text stops being UTF-8, -1 when all of it is.
func invalidUTF8(raw []byte) int {
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
