package bundler

import (
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
)

// textAt is where the text of an entry begins: after its length.
const textAt = 4

// How a content is read.
const (
	asYAML = iota
	asJSON
	asResource
	asYAMLResource
)

// blobKey is the key of a content by git's id of it.
func blobKey(blob string, kind byte) (packKey, bool) {
	k := packKey{kind: kind}
	if len(blob) != 2*len(k.blob) {
		return k, false
	}
	_, err := hex.Decode(k.blob[:], []byte(blob))
	return k, err == nil
}

// contentKey computes the id that git would give a content.
func contentKey(raw []byte, kind byte) packKey {
	h := sha1.New()
	note(h, "blob %d\x00", len(raw))
	h.Write(raw)
	return packKey{[20]byte(h.Sum(nil)), kind}
}

// numbered gives the parts of schemas numbers, which are the same wherever the
// schemas are.
func (w *world) numbered() ([]*node, map[*node]uint64) {
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
	for _, path := range slices.Sorted(maps.Keys(w.schemas)) {
		visit(w.schemas[path])
	}
	return all, ids
}

func (p *pack) encode(r record, out []byte) []byte {
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, len(out)+256), uint32(len(out)))
	b = append(b, out...)
	flags := uint64(0)
	if r.empty {
		flags |= 1
	}
	if r.own != nil {
		flags |= 2
	}
	for _, n := range []uint64{flags, uint64(r.cut), uint64(r.end), uint64(r.head)} {
		b = binary.AppendUvarint(b, n)
	}
	b = appendString(b, r.schema)
	b = binary.AppendUvarint(b, uint64(len(r.backrefs)))
	for _, x := range r.backrefs {
		b = appendString(appendString(b, x.resource), x.jsonpath)
	}
	b = binary.AppendUvarint(b, uint64(len(r.refs)))
	for _, x := range r.refs {
		b = appendString(b, x)
	}
	b = binary.AppendUvarint(b, uint64(len(r.marks)))
	for _, m := range r.marks {
		b = binary.AppendUvarint(b, p.ids[m])
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// A reader of the fields of an entry; it stops at the first that is not there.
type fields struct {
	b   []byte
	bad bool
}

func (f *fields) number(most int) int {
	n, size := binary.Uvarint(f.b)
	if size <= 0 || n > uint64(most) {
		f.bad = true
		return 0
	}
	f.b = f.b[size:]
	return int(n)
}

func (f *fields) text() string {
	n := f.number(len(f.b))
	if f.bad || n > len(f.b) {
		f.bad = true
		return ""
	}
	s := string(f.b[:n])
	f.b = f.b[n:]
	return s
}

// decode reads an entry and tells how long its text is.
func (p *pack) decode(raw []byte, w *world) (r record, size int, ok bool) {
	if len(raw) < textAt {
		return r, 0, false
	}
	size = int(binary.LittleEndian.Uint32(raw))
	if size > len(raw)-textAt {
		return r, 0, false
	}
	f := fields{b: raw[textAt+size:]}
	flags := f.number(3)
	r.cut, r.end, r.head = f.number(size), f.number(size), f.number(size)
	r.empty = flags&1 != 0
	r.schema = f.text()
	if flags&2 != 0 {
		if r.own = w.schemas[r.schema]; r.own == nil {
			return r, 0, false
		}
	}
	for range f.number(len(f.b)) {
		r.backrefs = append(r.backrefs, backref{f.text(), f.text()})
	}
	for range f.number(len(f.b)) {
		r.refs = append(r.refs, f.text())
	}
	for range f.number(len(f.b)) {
		if i := f.number(len(p.byID) - 1); !f.bad {
			r.marks = append(r.marks, p.byID[i])
		}
	}
	return r, size, !f.bad && r.cut <= r.end
}
