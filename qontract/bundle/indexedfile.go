package bundle

import (
	"io"
	"slices"
	"sync"
	"sync/atomic"
)

// An indexedFile is a bundle file that an index describes. The texts of the files in it are
// compared with the index when they are read.
type indexedFile struct {
	raw   io.ReaderAt
	size  int64
	whole func() (*Bundle, error) // the same bundle, made in another way
	lost  atomic.Pointer[lostError]

	mu    sync.Mutex // guards what follows
	block []byte     // the bytes at the offset start; more than what was asked for, if that was asked for in order
	start int64
	last  int64 // where the text ends that was read last
}

const (
	blockSize = 256 << 10 // bytes that are read at once
	nearby    = 16 << 10  // bytes between two texts that are read in order
)

// appendText appends a text to a buffer. It is not ok when the text cannot be read, or is
// another one.
func (i *indexedFile) appendText(out []byte, t indexedText) (_ []byte, ok bool) {
	if t.At < 0 || t.Size < 0 || int64(t.At) > i.size || int64(t.Size) > i.size-int64(t.At) {
		return out, false
	}
	i.mu.Lock()
	from, to := int64(t.At), int64(t.At+t.Size)
	err := i.load(from, to)
	if err == nil {
		out = append(out, i.block[from-i.start:to-i.start]...)
	}
	i.last = to
	i.mu.Unlock()
	return out, err == nil && sumOf(out[len(out)-t.Size:]) == t.Sum
}

// load makes the block hold some bytes of the file.
func (i *indexedFile) load(from, to int64) error {
	if i.start <= from && to <= i.start+int64(len(i.block)) {
		return nil
	}
	if i.last <= from && from <= i.last+nearby {
		to = min(max(to, from+blockSize), i.size)
	}
	i.block = slices.Grow(i.block[:0], int(to-from))[:to-from]
	i.start = from
	if _, err := i.raw.ReadAt(i.block, from); err != nil {
		i.block = i.block[:0]
		return err
	}
	return nil
}
