package bundler

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// A pack remembers what became of single files in one world. It is a folder of
// segments, each written once: the entries, then an index of fixed-size rows,
// then its offset and sum. A run that finds new files adds a segment; when
// there are too many they become one.
type pack struct {
	cache *Cache
	name  string // of the folder in the cache
	segs  []segment
	index map[packKey]place
	byID  []*node
	ids   map[*node]uint64

	mu    sync.Mutex
	hits  []packKey
	fresh []row
	body  bytes.Buffer // of the entries that are new
}

type segment struct {
	name string
	file *os.File
}

// A packKey is git's id of a content and how it is read.
type packKey struct {
	blob [20]byte
	kind byte
}

type place struct {
	file *os.File
	at   int64
	size uint32
	sum  [16]byte
}

// A row is what a segment's index says about an entry.
type row struct {
	Blob [20]byte
	Kind byte
	At   int64
	Size uint32
	Sum  [16]byte
}

const (
	rowSize   = 20 + 1 + 8 + 4 + 16
	packEnd   = 8 + sha256.Size
	maxSegs   = 8
	maxPacked = 64 << 20 // bytes of new entries that are kept
)

// openPack opens what is remembered for a world; segments that are not whole
// are as good as not there.
func openPack(c *Cache, w *world, key string) *pack {
	if c == nil {
		return nil
	}
	p := &pack{cache: c, name: key, index: map[packKey]place{}}
	p.byID, p.ids = w.numbered()
	dir := filepath.Join(c.dir, key)
	names, _ := filepath.Glob(filepath.Join(dir, "*.pack"))
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		p.segs = append(p.segs, segment{name, f})
		if p.read(f) == nil {
			touch(name)
		}
	}
	return p
}

var errForeign = errors.New("not a segment of this version")

func (p *pack) read(f *os.File) error {
	info, err := f.Stat()
	if err != nil || info.Size() < packEnd {
		return errForeign
	}
	end := make([]byte, packEnd)
	if _, err := f.ReadAt(end, info.Size()-packEnd); err != nil {
		return err
	}
	at := int64(binary.LittleEndian.Uint64(end))
	size := info.Size() - packEnd - at
	if at < 0 || size < 0 || size%rowSize != 0 {
		return errForeign
	}
	rows := make([]byte, size)
	if _, err := f.ReadAt(rows, at); err != nil {
		return err
	}
	if sum := sha256.Sum256(rows); !bytes.Equal(sum[:], end[8:]) {
		return errForeign
	}
	for len(rows) > 0 {
		var r row
		if _, err := binary.Decode(rows, binary.LittleEndian, &r); err != nil {
			return err
		}
		p.index[packKey{r.Blob, r.Kind}] = place{f, r.At, r.Size, r.Sum}
		rows = rows[rowSize:]
	}
	return nil
}

// entry gives the bytes of an entry in buf, if they are what was written.
func (l place) entry(buf []byte) ([]byte, bool) {
	if l.size > maxPacked {
		return buf, false
	}
	raw := reuse(&buf, int(l.size))
	if _, err := l.file.ReadAt(raw, l.at); err != nil && !errors.Is(err, io.EOF) {
		return buf, false
	}
	sum := sha256.Sum256(raw)
	return raw, bytes.Equal(sum[:16], l.sum[:])
}

// get finds what became of a content.
func (p *pack) get(k packKey, w *world, buf []byte) (record, []byte, bool) {
	l, ok := p.index[k]
	if !ok {
		return record{}, buf, false
	}
	raw, ok := l.entry(buf)
	if !ok {
		return record{}, raw, false
	}
	r, size, ok := p.decode(raw, w)
	if !ok {
		return record{}, raw, false
	}
	r.span = span{at: l.at + textAt, size: size, file: l.file}
	p.mu.Lock()
	p.hits = append(p.hits, k)
	p.mu.Unlock()
	return r, raw, true
}

// put remembers what became of a content.
func (p *pack) put(k packKey, r record, out []byte) {
	entry := p.encode(r, out)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.body.Len()+len(entry) <= maxPacked {
		p.add(k, entry)
	}
}

func (p *pack) add(k packKey, entry []byte) {
	sum := sha256.Sum256(entry)
	r := row{Blob: k.blob, Kind: k.kind, At: int64(p.body.Len()), Size: uint32(len(entry))}
	copy(r.Sum[:], sum[:])
	p.fresh = append(p.fresh, r)
	p.body.Write(entry)
}

// save writes the new entries as a segment of their own. With too many
// segments all that was used becomes one.
func (p *pack) save() {
	var old []segment
	if len(p.segs) >= maxSegs {
		old = p.segs
		var buf []byte
		for _, k := range p.hits {
			if raw, ok := p.index[k].entry(buf); ok {
				p.add(k, raw)
			}
		}
	}
	if len(p.fresh) == 0 {
		return
	}
	index, _ := binary.Append(nil, binary.LittleEndian, p.fresh)
	sum := sha256.Sum256(index)
	tail := binary.LittleEndian.AppendUint64(index, uint64(p.body.Len()))
	tail = append(tail, sum[:]...)
	p.cache.keep(p.name+"/"+hex.EncodeToString(sum[:8])+".pack", func(w io.Writer) error {
		if _, err := w.Write(p.body.Bytes()); err != nil {
			return err
		}
		_, err := w.Write(tail)
		return err
	})
	for _, s := range old {
		_ = os.Remove(s.name)
	}
	p.fresh, p.body = nil, bytes.Buffer{}
	p.cache.evict()
}

func (p *pack) close() {
	if p == nil {
		return
	}
	for _, s := range p.segs {
		s.file.Close()
	}
}
