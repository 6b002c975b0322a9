package bundler

import (
	"crypto/sha256"
	"encoding/hex"
)

// makeDatafile returns the record of a datafile and its text in buf.
func (d *definitions) makeDatafile(name string, raw []byte, buf []byte) (record, []byte, []Problem) {
	root, found := TreePart{}.parseFile(name, raw)
	if found != nil || root == nil {
		return record{empty: true}, buf[:0], found
	}
	if p := checkDatafile(root); p != nil {
		if p[0].Line == 0 { // it was read without lines: read it once more, with them
			root, _ = readFullYAML(raw)
			p = checkDatafile(root)
		}
		return record{}, nil, p
	}
	sum := sha256.Sum256(raw)
	root.set(checksumKey, &node{kind: text, text: hex.EncodeToString(sum[:])})
	r := record{schema: root.get("$schema").stringValue()}
	var own string // the identifier of the datafile itself
	if t := d.graphql.bySchema[r.schema]; t != nil && len(t.uniqueFields) > 0 && d.schemas[r.schema].isTruthy() {
		if own = hashFields(root, t.uniqueFields); own != "" {
			r.ownSchema = d.schemas[r.schema]
		}
	}
	w := walker{definitions: d}
	w.walk(root)
	if w.left < 0 {
		return record{}, nil, []Problem{{Msg: "aliases make this file too large"}}
	}
	r.backrefs, r.refs = w.backrefs, w.refs
	for _, it := range w.items {
		if id := hashFields(it.data, it.keys); id != "" {
			it.data.set(identifierKey, &node{kind: text, text: id})
			r.itemSchemas = append(r.itemSchemas, it.identifiedSchemas()...)
		}
	}
	buf, r.identifierStart, r.identifierEnd = appendDatafile(buf[:0], root, own)
	if len(buf) > 2*maxExpanded {
		return record{}, nil, []Problem{{Msg: "aliases make this file too large"}}
	}
	return r, buf, nil
}

// checkDatafile returns a problem if a value cannot be a datafile.
func checkDatafile(root *node) []Problem {
	at := Problem{Line: int(root.line), Column: int(root.column)}
	if root.kind != mapping {
		at.Msg = "a datafile must be a mapping with a $schema"
		return []Problem{at}
	}
	for _, m := range root.members {
		at := Problem{Line: int(m.key.line), Column: int(m.key.column)}
		switch {
		case m.key.kind != text:
			at.Msg = "the key " + quoteShort(m.key.text) + " of a datafile is not text: quote it"
		case m.key.text == identifierKey:
			at.Msg = "the key " + identifierKey + " belongs to the bundler: remove it"
		case m.key.text == "$schema" && m.value.isTruthy() && m.value.kind != text:
			at.Msg = "$schema is not the path of a schema"
		default:
			continue
		}
		return []Problem{at}
	}
	return nil
}

// identifiedSchemas returns the schemas that must allow an identifier: the schema of
// the list item, the schema whose oneOf led to it, and the options of its own oneOf.
func (it *identifiedItem) identifiedSchemas() []*node {
	all := []*node{it.schema, it.oneOf}
	if options := it.schema.get("oneOf"); options.isTruthy() && options.kind == list {
		all = append(all, options.items...)
	}
	marks := all[:0]
	for _, s := range all {
		if p := s.get("properties"); p != nil && p.kind == mapping && p.isTruthy() {
			marks = append(marks, s)
		}
	}
	return marks
}

// appendDatafile appends a datafile with its identifier as JSON, and returns where
// the text of the identifier begins and ends.
func appendDatafile(b []byte, root *node, id string) (text []byte, cut, end int) {
	b = append(b, '{')
	written := id == ""
	for i, m := range sortMembers(root.members) {
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
	if !written { // it comes last; $file_sha256sum comes before it, so a comma is needed
		cut = len(b)
		b = append(append(append(b, `,"`+identifierKey+`":"`...), id...), '"')
		end = len(b)
	}
	return append(b, '}'), cut, end
}

// hashFields returns the hash of the fields with the given names, or "" if the value
// has none of them. It is the identifier of the value.
func hashFields(data *node, keys map[string]bool) string {
	picked := &node{kind: mapping}
	for _, m := range data.members {
		if m.key.kind == text && keys[m.key.text] {
			picked.members = append(picked.members, m)
		}
	}
	if len(picked.members) == 0 {
		return ""
	}
	sum := sha256.Sum256(appendValue(nil, picked))
	return hex.EncodeToString(sum[:])
}
