package bundler

import (
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
)

// entryTextOffset is the offset of the text of a record in its entry. The length of
// the text comes before it.
const entryTextOffset = 4

// The ways in which a content can be read.
const (
	asYAML = iota
	asJSON
	asResource
	asYAMLResource
)

// newBlobKey returns the key of a content from git's id of it.
func newBlobKey(blob string, kind byte) (packKey, bool) {
	k := packKey{kind: kind}
	if len(blob) != 2*len(k.blob) {
		return k, false
	}
	_, err := hex.Decode(k.blob[:], []byte(blob))
	return k, err == nil
}

// newContentKey returns the key of a content. It computes the id that git would give
// to the content.
func newContentKey(raw []byte, kind byte) packKey {
	h := sha1.New()
	hashf(h, "blob %d\x00", len(raw))
	h.Write(raw)
	return packKey{[20]byte(h.Sum(nil)), kind}
}

// numberSchemas numbers all mappings in the schemas. The numbers depend only on the
// content of the schemas, so entries of the pack can refer to them.
func (d *definitions) numberSchemas() ([]*node, map[*node]uint64) {
	var all []*node
	ids := map[*node]uint64{}
	var visit func(n *node)
	visit = func(n *node) {
		if _, seen := ids[n]; seen {
			return
		}
		if n.kind == mapping {
			ids[n] = uint64(len(all))
			all = append(all, n)
		}
		for _, m := range n.members {
			visit(m.value)
		}
		for _, i := range n.items {
			visit(i)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(d.schemas)) {
		visit(d.schemas[path])
	}
	return all, ids
}

// encodeRecord returns the entry of a record with its text.
func (p *pack) encodeRecord(r record, out []byte) []byte {
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, len(out)+256), uint32(len(out)))
	b = append(b, out...)
	flags := uint64(0)
	if r.empty {
		flags |= 1
	}
	if r.ownSchema != nil {
		flags |= 2
	}
	for _, n := range []uint64{flags, uint64(r.identifierStart), uint64(r.identifierEnd), uint64(r.backrefsStart)} {
		b = binary.AppendUvarint(b, n)
	}
	b = appendField(b, r.schema)
	b = binary.AppendUvarint(b, uint64(len(r.backrefs)))
	for _, x := range r.backrefs {
		b = appendField(appendField(b, x.resource), x.jsonpath)
	}
	b = binary.AppendUvarint(b, uint64(len(r.refs)))
	for _, x := range r.refs {
		b = appendField(b, x)
	}
	b = binary.AppendUvarint(b, uint64(len(r.itemSchemas)))
	for _, m := range r.itemSchemas {
		b = binary.AppendUvarint(b, p.schemaIDs[m])
	}
	return b
}

// appendField appends a string with its length before it.
func appendField(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// A fieldReader reads the fields of an entry. It sets bad at the first field that
// is damaged.
type fieldReader struct {
	rest []byte
	bad  bool
}

// readNumber reads a number and sets bad if it is larger than most.
func (f *fieldReader) readNumber(most int) int {
	n, size := binary.Uvarint(f.rest)
	if size <= 0 || n > uint64(most) {
		f.bad = true
		return 0
	}
	f.rest = f.rest[size:]
	return int(n)
}

// readText reads a string.
func (f *fieldReader) readText() string {
	n := f.readNumber(len(f.rest))
	if f.bad || n > len(f.rest) {
		f.bad = true
		return ""
	}
	s := string(f.rest[:n])
	f.rest = f.rest[n:]
	return s
}

// decodeRecord returns the record of an entry and the length of its text.
func (p *pack) decodeRecord(raw []byte, defs *definitions) (r record, size int, ok bool) {
	if len(raw) < entryTextOffset {
		return r, 0, false
	}
	size = int(binary.LittleEndian.Uint32(raw))
	if size > len(raw)-entryTextOffset {
		return r, 0, false
	}
	f := fieldReader{rest: raw[entryTextOffset+size:]}
	flags := f.readNumber(3)
	r.identifierStart, r.identifierEnd, r.backrefsStart = f.readNumber(size), f.readNumber(size), f.readNumber(size)
	r.empty = flags&1 != 0
	r.schema = f.readText()
	if flags&2 != 0 {
		if r.ownSchema = defs.schemas[r.schema]; r.ownSchema == nil {
			return r, 0, false
		}
	}
	for range f.readNumber(len(f.rest)) {
		r.backrefs = append(r.backrefs, backref{f.readText(), f.readText()})
	}
	for range f.readNumber(len(f.rest)) {
		r.refs = append(r.refs, f.readText())
	}
	for range f.readNumber(len(f.rest)) {
		if i := f.readNumber(len(p.schemaByID) - 1); !f.bad {
			r.itemSchemas = append(r.itemSchemas, p.schemaByID[i])
		}
	}
	return r, size, !f.bad && r.identifierStart <= r.identifierEnd
}
