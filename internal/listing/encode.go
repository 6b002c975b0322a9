package listing

import (
	"encoding/binary"
	"io/fs"
)

// encode writes folders down.
func encode(all map[string]folder) []byte {
	var b []byte
	text := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	for name, f := range all {
		text(name)
		for _, n := range []uint64{f.is.device, f.is.inode, f.is.modified, f.is.changed, uint64(len(f.entries))} {
			b = binary.AppendUvarint(b, n)
		}
		for _, e := range f.entries {
			text(e.Name)
			b = binary.AppendUvarint(b, uint64(e.Type))
		}
	}
	return b
}

// decode reads folders, and returns none when the bytes are not those that encode wrote.
func decode(raw []byte) map[string]folder {
	all := map[string]folder{}
	r := decoder{rest: string(raw)}
	for len(r.rest) > 0 && !r.bad {
		name := r.text()
		f := folder{is: identity{r.number(), r.number(), r.number(), r.number()}}
		for range r.count() {
			f.entries = append(f.entries, Entry{r.text(), fs.FileMode(r.number())})
		}
		all[name] = f
	}
	if r.bad {
		return nil
	}
	return all
}

// A decoder reads numbers and texts. It sets bad at the first that is damaged, and returns
// zeros from then on.
type decoder struct {
	rest string
	bad  bool
}

// number reads a number.
func (d *decoder) number() uint64 {
	var n uint64
	for i := 0; i < len(d.rest) && i < binary.MaxVarintLen64; i++ {
		n |= uint64(d.rest[i]&0x7f) << (7 * i)
		if d.rest[i] < 0x80 {
			d.rest = d.rest[i+1:]
			return n
		}
	}
	d.rest, d.bad = "", true
	return 0
}

// count reads the number of entries that follow. Each takes more than one byte.
func (d *decoder) count() int {
	n := d.number()
	if n > uint64(len(d.rest)) {
		d.rest, d.bad = "", true
		return 0
	}
	return int(n)
}

// text reads a text.
func (d *decoder) text() string {
	n := d.count()
	s := d.rest[:n]
	d.rest = d.rest[n:]
	return s
}
