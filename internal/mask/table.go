package mask

import (
	"maps"
	"math"
	"slices"
)

// noSecrets is the table of a masker without secrets.
var noSecrets = (&table{}).with(nil, nil)

// A group has forms that begin with the same bytes.
type group struct {
	forms   []string // sorted
	maxSize int      // how many bytes of a text are looked at
}

// The groups of short forms and of long ones. Lines may break inside of a long form.
const (
	shortForms = iota
	longForms
)

// A table has the forms of all secrets in the order in which a text is compared with them.
type table struct {
	byFirst [256][2]group         // by the first byte
	byPair  map[[2]byte][2]group  // by the first two bytes
	begins  [256][256 / 64]uint64 // a bit for each two bytes that may begin a form, for a quick test

	digits  []string        // the secrets that are found in digits, sorted
	windows [9]*windowTable // by the bits of a digit, nil if no alphabet has such digits
}

// hasFirst reports whether a form begins with this byte.
func (t *table) hasFirst(c byte) bool {
	return len(t.byFirst[c][shortForms].forms)+len(t.byFirst[c][longForms].forms) > 0
}

// lengthOf returns the group of a form's length.
func lengthOf(form string) int {
	if len(form) < minBroken {
		return shortForms
	}
	return longForms
}

// pairOf returns the first two bytes of a form.
func pairOf(form string) [2]byte { return [2]byte{form[0], form[1]} }

// with returns a group that has further forms.
func (g group) with(forms []string) group {
	if len(forms) == 0 {
		return g
	}
	g.forms = slices.Sorted(slices.Values(slices.Concat(g.forms, forms)))
	for _, form := range forms {
		g.maxSize = max(g.maxSize, 2*maxEntity*len(form)+maxGaps)
	}
	return g
}

// unknown returns the forms that the table lacks.
func (t *table) unknown(forms []string) []string {
	return slices.DeleteFunc(forms, func(form string) bool {
		_, known := slices.BinarySearch(t.byPair[pairOf(form)][lengthOf(form)].forms, form)
		return known
	})
}

// unknownInDigits returns the secrets that are to be found in digits and that the table lacks.
func (t *table) unknownInDigits(secrets []string) []string {
	return slices.DeleteFunc(slices.Clone(secrets), func(secret string) bool {
		_, known := slices.BinarySearch(t.digits, secret)
		return known || len(secret) < minDigits
	})
}

// with returns a table that has further forms, and finds further secrets in digits. None of
// them is there twice.
func (t *table) with(forms []string, digits []string) *table {
	out := &table{byFirst: t.byFirst, byPair: maps.Clone(t.byPair), windows: t.windows}
	out.digits = slices.Sorted(slices.Values(slices.Concat(t.digits, digits)))
	for _, a := range alphabets {
		out.windows[a.bits] = t.windows[a.bits].with(a.bits, digits)
	}
	if out.byPair == nil {
		out.byPair = map[[2]byte][2]group{}
	}
	added := map[[2]byte][2][]string{}
	addedFirst := map[byte][2][]string{}
	for _, form := range forms {
		pair, length := pairOf(form), lengthOf(form)
		more, moreFirst := added[pair], addedFirst[form[0]]
		more[length] = append(more[length], form)
		moreFirst[length] = append(moreFirst[length], form)
		added[pair], addedFirst[form[0]] = more, moreFirst
	}
	for pair, more := range added {
		groups := t.byPair[pair]
		out.byPair[pair] = [2]group{groups[shortForms].with(more[shortForms]), groups[longForms].with(more[longForms])}
	}
	for first, more := range addedFirst {
		groups := t.byFirst[first]
		out.byFirst[first] = [2]group{groups[shortForms].with(more[shortForms]), groups[longForms].with(more[longForms])}
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
	for first := range t.byFirst {
		if t.hasFirst(byte(first)) {
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
