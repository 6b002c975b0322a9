package bundle

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/cespare/xxhash/v2"
)

// A mentionIndex finds files of a list by the paths that they mention. It is a hash table
// whose rows lie in one piece: heads says for each bucket where its rows begin, and once more
// where the last bucket ends. A row is the hash of a path, and the place of the file in the
// list with flags. The rows of a bucket are in the order of the list.
type mentionIndex struct{ heads, rows []byte }

const (
	headSize     = 4     // bytes of a head
	mentionSize  = 8 + 4 // bytes of a row: the hash, and the place with flags
	rowsInBucket = 4     // how many rows a bucket has on average, at most

	mentionedByPath = 1 << 0 // flag: the path is the value of the key path
	flagBits        = 1
)

// flagsOf are the flags of a row by the kind of the key.
var flagsOf = [...]uint32{otherKey: 0, refKey: 0, pathKey: mentionedByPath}

// A mentionRow is a row of the index before it is written.
type mentionRow struct {
	hash  uint64
	place uint32 // with flags
}

// indexMentions makes the index of a list of files.
func indexMentions(files []*File) mentionIndex {
	n := 0
	for _, f := range files {
		n += len(f.found())
	}
	all := make([]mentionRow, 0, n)
	for place, f := range files {
		for _, at := range f.found() {
			all = append(all, mentionRow{hashOf(f.text()[at.start+1 : at.end-1]), uint32(place)<<flagBits | flagsOf[at.keyKind]})
		}
	}
	return newMentionIndex(all)
}

// newMentionIndex sorts rows into buckets.
func newMentionIndex(all []mentionRow) mentionIndex {
	le := binary.LittleEndian
	buckets := 1 << bits.Len(uint(len(all)/rowsInBucket))
	x := mentionIndex{make([]byte, (buckets+1)*headSize), make([]byte, len(all)*mentionSize)}
	next := make([]uint32, buckets+1)
	for _, r := range all {
		next[x.bucket(r.hash)+1]++
	}
	for i := range buckets {
		next[i+1] += next[i]
	}
	for i, at := range next {
		le.PutUint32(x.heads[i*headSize:], at)
	}
	for _, r := range all {
		at := &next[x.bucket(r.hash)]
		row := x.rows[*at*mentionSize:]
		le.PutUint64(row, r.hash)
		le.PutUint32(row[8:], r.place)
		*at++
	}
	return x
}

// bucket returns the number of the bucket of a hash. The number of buckets is a power of two.
func (x mentionIndex) bucket(hash uint64) int {
	return int(hash & uint64(len(x.heads)/headSize-2))
}

// isWhole reports whether the index is one for so many files.
func (x mentionIndex) isWhole(files int) bool {
	le, buckets := binary.LittleEndian, len(x.heads)/headSize-1
	if buckets < 1 || buckets&(buckets-1) != 0 || len(x.heads)%headSize != 0 || len(x.rows)%mentionSize != 0 {
		return false
	}
	last := uint32(0)
	for at := 0; at < len(x.heads); at += headSize {
		next := le.Uint32(x.heads[at:])
		if next < last {
			return false
		}
		last = next
	}
	for at := 8; at < len(x.rows); at += mentionSize {
		if int(le.Uint32(x.rows[at:])>>flagBits) >= files {
			return false
		}
	}
	return int(last) == len(x.rows)/mentionSize && le.Uint32(x.heads) == 0
}

// each calls yield with the places of the files that mention a path with all of some flags, in
// their order. A place can come more than once.
func (x mentionIndex) each(path string, flags uint32, yield func(place int)) {
	if len(x.rows) == 0 {
		return
	}
	le, hash := binary.LittleEndian, xxhash.Sum64String(path)
	head := x.heads[x.bucket(hash)*headSize:]
	rows := x.rows[le.Uint32(head)*mentionSize : le.Uint32(head[headSize:])*mentionSize]
	for ; len(rows) > 0; rows = rows[mentionSize:] {
		if place := le.Uint32(rows[8:]); le.Uint64(rows) == hash && place&flags == flags {
			yield(int(place >> flagBits))
		}
	}
}

// hashOf returns the hash of a path as it is written in JSON, perhaps with escapes.
func hashOf(written []byte) uint64 {
	if bytes.IndexByte(written, '\\') < 0 {
		return xxhash.Sum64(written)
	}
	return xxhash.Sum64String(unescape(written))
}
