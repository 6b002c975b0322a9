package bundler

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/app-sre/prcheck/internal/mapped"
)

// A pack is a part of the cache: the records of single files, made with the same
// definitions. It is a folder of segments. A segment is written once: first the
// entries, then an index with rows of a fixed size, then the offset of the index, and
// the sha256 of the index and the name of the pack. A run that makes new records adds a segment. When there are too
// many segments, a run merges the entries that it used into a new one.
type pack struct {
	cache      *Cache
	name       string // of its folder in the cache
	segments   []segment
	index      map[packKey]packedEntry
	schemaByID []*node          // parts of the schemas by their number
	schemaIDs  map[*node]uint64 // the reverse

	mu         sync.Mutex // guards the fields below
	found      []packKey  // entries that were used
	newRows    []indexRow
	newEntries bytes.Buffer
}

// A segment is a file of a pack, with its bytes.
type segment struct {
	name string
	raw  *mapped.File
}

// A packKey is git's id of a content and the way in which the content is read.
type packKey struct {
	blob [20]byte
	kind byte // asYAML and so on
}

// A packedEntry is the place of an entry in a segment.
type packedEntry struct {
	raw []byte
	sum [16]byte // the first half of the sha256
}

// An indexRow describes an entry in the index of a segment.
type indexRow struct {
	Blob [20]byte
	Kind byte
	At   int64
	Size uint32
	Sum  [16]byte
}

const (
	rowSize     = 20 + 1 + 8 + 4 + 16 // bytes of an index row
	segmentEnd  = 8 + sha256.Size     // bytes after the index: its offset and sha256
	maxSegments = 8
	maxPacked   = 64 << 20 // bytes of the entries of a new segment
)

// openPack opens the pack for some definitions, whose hash is the key. Damaged
// segments are ignored.
func openPack(c *Cache, defs *definitions, key string) *pack {
	if c == nil {
		return nil
	}
	p := &pack{cache: c, name: key, index: map[packKey]packedEntry{}}
	p.schemaByID, p.schemaIDs = defs.numberSchemas()
	dir := filepath.Join(c.dir, key)
	names, _ := filepath.Glob(filepath.Join(dir, "*.pack"))
	for _, name := range names {
		f, err := mapped.Open(name)
		if err != nil {
			continue
		}
		p.segments = append(p.segments, segment{name, f})
		if p.readIndex(f.Bytes()) == nil {
			markUsed(name)
		}
	}
	return p
}

var errBadSegment = errors.New("not a segment of this version")

// readIndex adds the index of a segment to that of the pack.
func (p *pack) readIndex(raw []byte) error {
	if len(raw) < segmentEnd {
		return errBadSegment
	}
	rest, end := raw[:len(raw)-segmentEnd], raw[len(raw)-segmentEnd:]
	at := binary.LittleEndian.Uint64(end)
	if at > uint64(len(rest)) || (len(rest)-int(at))%rowSize != 0 {
		return errBadSegment
	}
	entries, rows := rest[:at], rest[at:]
	if sum := p.sumOf(rows); !bytes.Equal(sum[:], end[8:]) {
		return errBadSegment
	}
	for len(rows) > 0 {
		r := readRow(rows)
		if r.At >= 0 && r.At <= int64(len(entries)) && int64(r.Size) <= int64(len(entries))-r.At {
			p.index[packKey{r.Blob, r.Kind}] = packedEntry{entries[r.At : r.At+int64(r.Size)], r.Sum}
		}
		rows = rows[rowSize:]
	}
	return nil
}

// sumOf returns the sha256 of an index and the name of the pack: a segment of another pack
// may have been moved here.
func (p *pack) sumOf(index []byte) [sha256.Size]byte {
	return sha256.Sum256(append([]byte(p.name+"\n"), index...))
}

// readRow reads the row at the beginning of an index.
func readRow(b []byte) indexRow {
	le := binary.LittleEndian
	return indexRow{[20]byte(b), b[20], int64(le.Uint64(b[21:])), le.Uint32(b[29:]), [16]byte(b[33:])}
}

// isWhole reports whether the bytes of an entry are undamaged.
func (e packedEntry) isWhole() bool {
	sum := sha256.Sum256(e.raw)
	return bytes.Equal(sum[:16], e.sum[:])
}

// find returns the record of a content.
func (p *pack) find(k packKey, defs *definitions) (record, bool) {
	e, ok := p.index[k]
	if !ok || !e.isWhole() {
		return record{}, false
	}
	r, size, ok := p.decodeRecord(e.raw, defs)
	if !ok {
		return record{}, false
	}
	r.span = span{kept: e.raw[entryTextOffset : entryTextOffset+size]}
	p.mu.Lock()
	p.found = append(p.found, k)
	p.mu.Unlock()
	return r, true
}

// put adds the record of a content and its text.
func (p *pack) put(k packKey, r record, out []byte) {
	entry := p.encodeRecord(r, out)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.newEntries.Len()+len(entry) <= maxPacked {
		p.addEntry(k, entry)
	}
}

// addEntry adds an entry to the segment that save will write.
func (p *pack) addEntry(k packKey, entry []byte) {
	sum := sha256.Sum256(entry)
	r := indexRow{Blob: k.blob, Kind: k.kind, At: int64(p.newEntries.Len()), Size: uint32(len(entry))}
	copy(r.Sum[:], sum[:])
	p.newRows = append(p.newRows, r)
	p.newEntries.Write(entry)
}

// save writes the new entries as a segment. If there are too many segments, it adds
// the old entries that were used, and removes the old segments.
func (p *pack) save() {
	var old []segment
	if len(p.segments) >= maxSegments {
		old = p.segments
		for _, k := range p.found {
			p.addEntry(k, p.index[k].raw)
		}
	}
	if len(p.newRows) == 0 {
		return
	}
	index, _ := binary.Append(nil, binary.LittleEndian, p.newRows)
	sum := p.sumOf(index)
	tail := binary.LittleEndian.AppendUint64(index, uint64(p.newEntries.Len()))
	tail = append(tail, sum[:]...)
	p.cache.writeFile(p.name+"/"+hex.EncodeToString(sum[:8])+".pack", func(w io.Writer) error {
		if _, err := w.Write(p.newEntries.Bytes()); err != nil {
			return err
		}
		_, err := w.Write(tail)
		return err
	})
	for _, s := range old {
		_ = os.Remove(s.name)
	}
	p.newRows, p.newEntries = nil, bytes.Buffer{}
	p.cache.evictOldest()
}

// close closes the files of the segments.
func (p *pack) close() {
	if p == nil {
		return
	}
	for _, s := range p.segments {
		s.raw.Close()
	}
}

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
