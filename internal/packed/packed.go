package packed

import "encoding/binary"

// A Reader reads numbers and texts from a packed text. After the first that is damaged it returns zeros.
type Reader struct {
	rest string
	bad  bool
}

// Read returns a reader of a packed text.
func Read(text string) *Reader { return &Reader{rest: text} }

// Rest is what was not read yet.
func (r *Reader) Rest() string { return r.rest }

// IsDamaged reports whether something could not be read.
func (r *Reader) IsDamaged() bool { return r.bad }

// damage says that what was read cannot be.
func (r *Reader) damage() { r.rest, r.bad = "", true }

// Number reads a number, as [binary.AppendUvarint] writes it.
func (r *Reader) Number() uint64 {
	var n uint64
	for i := 0; i < len(r.rest) && i < binary.MaxVarintLen64; i++ {
		n |= uint64(r.rest[i]&0x7f) << (7 * i)
		if r.rest[i] < 0x80 {
			r.rest = r.rest[i+1:]
			return n
		}
	}
	r.damage()
	return 0
}

// Count reads the number of things that follow. Each takes a byte or more, so that a damaged number asks for no
// more memory than the text has.
func (r *Reader) Count() int {
	n := r.Number()
	if n > uint64(len(r.rest)) {
		r.damage()
		return 0
	}
	return int(n)
}

// Text reads a text, which stands behind its length in bytes. It shares the memory of the whole text.
func (r *Reader) Text() string {
	n := r.Count()
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}
