package mask

import (
	"maps"
	"math"
	"slices"
)

// noSecrets is the table of a masker without secrets.
var noSecrets = (&table{}).with(nil)

// A table has the forms of all secrets in the order in which a text is compared with them.
type table struct {
	byFirst [256][]form           // by the first byte, the longest form first
	byPair  map[[2]byte][]form    // by the first two bytes, the longest form first
	begins  [256][256 / 64]uint64 // a bit for each two bytes that may begin a form, for a quick test
}

// unknown returns the forms that the table lacks.
func (t *table) unknown(forms []form) []form {
	return slices.DeleteFunc(forms, func(f form) bool {
		_, known := slices.BinarySearchFunc(t.byPair[f.pair()], f, compareForms)
		return known
	})
}

// with returns a table that has further forms. No two of the forms are the same.
func (t *table) with(forms []form) *table {
	out := &table{byFirst: t.byFirst, byPair: maps.Clone(t.byPair)}
	if out.byPair == nil {
		out.byPair = map[[2]byte][]form{}
	}
	added := map[[2]byte][]form{}
	addedFirst := map[byte][]form{}
	for _, f := range forms {
		added[f.pair()] = append(added[f.pair()], f)
		addedFirst[f.text[0]] = append(addedFirst[f.text[0]], f)
	}
	for pair, more := range added {
		out.byPair[pair] = slices.SortedFunc(slices.Values(slices.Concat(t.byPair[pair], more)), compareForms)
	}
	for first, more := range addedFirst {
		out.byFirst[first] = slices.SortedFunc(slices.Values(slices.Concat(t.byFirst[first], more)), compareForms)
	}
	out.noteBegins()
	return out
}

// noteBegins fills t.begins.
func (t *table) noteBegins() {
	var odd [256 / 64]uint64
	for c := range 256 {
		if !isOrdinary(byte(c)) && !isQuote(byte(c)) {
			odd[c/64] |= 1 << (c % 64)
		}
	}
	for first, forms := range t.byFirst {
		if len(forms) > 0 {
			t.begins[first] = odd
		}
	}
	for pair := range t.byPair {
		t.begins[pair[0]][pair[1]/64] |= 1 << (pair[1] % 64)
	}
	for _, first := range []byte(`\%&+`) {
		t.begins[first] = [256 / 64]uint64{math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64}
	}
}

// mayBegin reports whether a text that begins with two bytes may begin with a form.
func (t *table) mayBegin(first, second byte) bool {
	return t.begins[first][second/64]>>(second%64)&1 != 0
}
