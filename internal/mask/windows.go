package mask

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"sort"
	"strings"
)

// minDigits is the size in bytes from which a secret is found in digits of any kind. It is
// the size of a number of 64 bits, with which the search begins.
const minDigits = 8

// A window is the first whole digits of some texts. The texts have the same first eight
// bytes. Which digits are whole depends on what stands before the texts.
type window struct {
	key     uint64   // the values of the digits
	skip    int      // how many bits of the texts stand in the digit before
	texts   []string // sorted
	longest int      // the size of the longest text
}

// A windowTable has the windows of all texts that are searched in digits of some bits. It
// does not change.
type windowTable struct {
	bits    int
	digits  int      // of a window
	mask    uint64   // the bits of a key
	texts   []string // all of them, sorted
	windows []window // sorted by key
	keys    []uint64 // of the windows
	filter  []uint64 // a bit for each hash of a key, for a quick test
	shift   int      // makes a hash fit the filter
}

// with returns a table that finds further secrets. The table may be nil.
func (t *windowTable) with(size int, secrets []string) *windowTable {
	var texts []string
	for _, secret := range secrets {
		texts = append(texts, textsInDigits(secret, size)...)
	}
	if t != nil {
		if len(texts) == 0 {
			return t
		}
		texts = append(texts, t.texts...)
	}
	slices.Sort(texts)
	return newWindows(size, slices.Compact(texts))
}

// newWindows returns the table of sorted texts of at least eight bytes. No two are the same.
func newWindows(size int, texts []string) *windowTable {
	unit := 8 // the number of bits after which the places of digits in bytes recur
	for unit%size != 0 {
		unit += 8
	}
	t := &windowTable{bits: size, digits: (64 - size + 1) / size, texts: texts}
	if unit == 8 { // every text begins with a whole digit
		t.digits = 64 / size
	}
	t.mask = math.MaxUint64 >> (64 - t.digits*size)
	for rest := t.texts; len(rest) > 0; {
		n := sort.Search(len(rest), func(i int) bool { return rest[i][:minDigits] > rest[0][:minDigits] })
		longest := 0
		for _, text := range rest[:n] {
			longest = max(longest, len(text))
		}
		first := binary.BigEndian.Uint64([]byte(rest[0][:minDigits]))
		for before := 0; before < unit; before += 8 {
			skip := (size - before%size) % size
			t.windows = append(t.windows, window{first << skip >> (64 - t.digits*size), skip, rest[:n], longest})
		}
		rest = rest[n:]
	}
	slices.SortFunc(t.windows, func(a, b window) int {
		return cmp.Or(cmp.Compare(a.key, b.key), a.skip-b.skip, strings.Compare(a.texts[0], b.texts[0]))
	})
	t.noteKeys()
	return t
}

// noteKeys fills the keys and the filter.
func (t *windowTable) noteKeys() {
	size := max(6, bits.Len(uint(32*len(t.windows))))
	t.shift = 64 - size
	t.filter = make([]uint64, 1<<(size-6))
	for _, w := range t.windows {
		t.keys = append(t.keys, w.key)
		hash := t.hash(w.key)
		t.filter[hash/64] |= 1 << (hash % 64)
	}
}

func (t *windowTable) hash(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 >> (t.shift & 63) }

// mayHave reports whether there may be a window with this key. It is a quick test.
func (t *windowTable) mayHave(key uint64) bool {
	hash := t.hash(key)
	return t.filter[hash/64]>>(hash%64)&1 != 0
}

// find returns the windows with this key.
func (t *windowTable) find(key uint64) []window {
	from, _ := slices.BinarySearch(t.keys, key)
	to := from
	for to < len(t.keys) && t.keys[to] == key {
		to++
	}
	return t.windows[from:to]
}

// begins reports whether a window begins with the last digits that were read.
func (t *windowTable) begins(read uint64, digits int) bool {
	more := (t.digits - digits) * t.bits
	key := read & (t.mask >> more)
	i, _ := slices.BinarySearch(t.keys, key<<more)
	return i < len(t.keys) && t.keys[i]>>more == key
}
