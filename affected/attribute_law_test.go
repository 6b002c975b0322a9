package affected

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/settings"
)

// rounds is how many random pairs of states each law sees.
const rounds = 2000

// orders are both ways to compare lists.
var orders = []settings.ListOrder{settings.OrderIgnored, settings.OrderSignificant}

// TestAttributeLaws holds Attribute against the naive one and against the
// laws, on random states.
func TestAttributeLaws(t *testing.T) {
	seen, rounds := map[string]int{}, rounds
	if testing.Short() {
		rounds /= 4
	}
	for i := range uint64(rounds) {
		lawful(t, i, 1, seen)
		if t.Failed() {
			return
		}
	}
	for _, what := range []string{"same", "keys", "outside", "moved"} {
		if seen[what] < rounds/100 {
			t.Errorf("only %d of %d pairs ended as %q: the generator is one-sided: %v", seen[what], rounds, what, seen)
		}
	}
}

func FuzzAttribute(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, one, two uint64) { lawful(t, one, two, map[string]int{}) })
}

// lawful makes a pair of states and checks all that must hold for it.
func lawful(t *testing.T, one, two uint64, seen map[string]int) {
	t.Helper()
	m := newMaker(one, two)
	base := m.documents()
	head := clone(base).([]any)
	for range m.IntN(4) {
		m.change(head)
	}
	for _, order := range orders {
		n := naive{m.selectors, order == settings.OrderSignificant}
		got := Attribute(m.real(base), m.real(head), m.selectors, order)
		fail := func(format string, args ...any) {
			t.Errorf("seed %d, %v, order %v:\nbase %s\nhead %s", one, m.selectors, order, show(t, base), show(t, head))
			t.Errorf(format, args...)
		}
		if whole := attribute(m.real(base), m.real(head), m.selectors, order); got.Same != whole.Same ||
			!slices.Equal(got.Keys, whole.Keys) {
			fail("got %+v, but without pruning %+v", got, whole)
		}
		if exactlyOne(got) != 1 {
			fail("got %+v, want one of same, keys and why", got)
		}
		if back := Attribute(m.real(head), m.real(base), m.selectors, order); back.Same != got.Same ||
			!reflect.DeepEqual(back.Keys, got.Keys) {
			fail("there %+v, and back %+v", got, back)
		}
		if same := Digest(m.real(base), order) == Digest(m.real(head), order); same != got.Same {
			fail("got %+v, but equal digests: %v", got, same)
		}
		againstNaive(n, base, head, got, fail, seen)
	}
}

// againstNaive compares with the naive attribution. Where a key cannot be used
// a full run instead of keys is accepted.
func againstNaive(n naive, base, head []any, got Attribution, fail func(string, ...any), seen map[string]int) {
	want := n.attribute(base, head)
	seen[verdict(want)]++
	coarse := got.Why != "" && len(want.Keys) > 0 && n.loose(base, head)
	if !coarse && (got.Same != want.Same || !reflect.DeepEqual(got.Keys, want.Keys)) {
		fail("got %+v, want %+v", got, want)
	}
	if len(got.Keys) == 0 {
		return
	}
	affected := map[string]bool{}
	for _, k := range got.Keys {
		affected[k] = true
	}
	if b, h := n.without(base, affected), n.without(head, affected); b != h {
		fail("%v explain not everything: %s is left on base, %s on head", got.Keys, b, h)
	}
	for k := range n.keys(base, head) {
		if b, h := n.view(base, k), n.view(head, k); !affected[k] && b != h {
			fail("key %q is not affected, but it sees %s on base, %s on head", k, b, h)
		}
	}
}

func exactlyOne(a Attribution) int {
	n := 0
	for _, is := range []bool{a.Same, len(a.Keys) > 0, a.Why != ""} {
		if is {
			n++
		}
	}
	return n
}

func verdict(a Attribution) string {
	switch {
	case a.Same:
		return "same"
	case len(a.Keys) > 0:
		return "keys"
	}
	return a.Why
}

// loose tells whether a key in the states cannot be used.
func (n naive) loose(states ...[]any) bool {
	loose := false
	for _, documents := range states {
		for _, d := range documents {
			each(d, n.ways(), func(item any, ways []way) { loose = loose || look(item, ways).loose })
		}
	}
	return loose
}

// A state is the same as itself in any order of lists, unless their order
// counts.
func TestAttributeShuffled(t *testing.T) {
	moved := 0
	for i := range uint64(rounds / 4) {
		m := newMaker(i, 2)
		base := m.documents()
		head := clone(base).([]any)
		for _, d := range head {
			m.shuffle(d)
		}
		b, h := m.real(base), m.real(head)
		if got := Attribute(b, h, m.selectors, settings.OrderIgnored); !got.Same {
			t.Fatalf("seed %d: got %+v for a shuffled state, want same", i, got)
		}
		got := Attribute(b, h, m.selectors, settings.OrderSignificant)
		if want := show(t, base) == show(t, head); got.Same != want {
			t.Fatalf("seed %d: got %+v where order counts, want same %v", i, got, want)
		}
		if !got.Same {
			moved++
		}
	}
	if moved == 0 {
		t.Error("no state was really shuffled")
	}
}

// When nothing but one owner element changes, its key is affected, or there is
// a full run.
func TestAttributeOneOwner(t *testing.T) {
	changed := 0
	for i := range uint64(rounds / 4) {
		m := newMaker(i, 3)
		base := m.documents()
		head := clone(base).([]any)
		keys := touchOwner(m.Rand, naive{selectors: m.selectors}, head)
		for _, order := range orders {
			got := Attribute(m.real(base), m.real(head), m.selectors, order)
			affected := map[string]bool{}
			for _, k := range got.Keys {
				affected[k] = true
			}
			for _, k := range keys {
				changed++
				if got.Same || got.Why == "" && !affected[k] {
					t.Fatalf("seed %d: an element of %q changed, got %+v\nbase %s\nhead %s", i, k, got, show(t, base), show(t, head))
				}
			}
		}
	}
	if changed == 0 {
		t.Error("no owner element was changed")
	}
}

// touchOwner changes one owner element of the documents and returns its keys.
func touchOwner(r *rand.Rand, n naive, documents []any) []string {
	var owners []map[string]any
	var keys [][]string
	var visit func(item any, ways []way)
	visit = func(item any, ways []way) {
		p := look(item, ways)
		if o, ok := item.(map[string]any); ok && len(p.own) > 0 && !p.bad {
			owners, keys = append(owners, o), append(keys, p.own)
		}
		each(item, p.inner, visit)
	}
	for _, d := range documents {
		each(d, n.ways(), visit)
	}
	if len(owners) == 0 {
		return nil
	}
	i := r.IntN(len(owners))
	owners[i]["changed"] = true
	return keys[i]
}

// A change that no owner element and nothing around one holds is a full run,
// whatever else changes.
func TestAttributeOutside(t *testing.T) {
	for i := range uint64(rounds / 4) {
		m := newMaker(i, 4)
		base := m.documents()
		o, ok := base[0].(map[string]any)
		if !ok || m.selectors[0].Steps[0].Kind != settings.Field {
			continue
		}
		head := clone(base).([]any)
		for range m.IntN(3) {
			m.change(head)
		}
		after, ok := head[0].(map[string]any)
		if !ok {
			continue
		}
		o["settings"], after["settings"] = 1, 2
		for _, order := range orders {
			if got := Attribute(m.real(base), m.real(head), m.selectors, order); got.Why == "" {
				t.Fatalf("seed %d: got %+v, want a full run\nbase %s\nhead %s", i, got, show(t, base), show(t, head))
			}
		}
	}
}
