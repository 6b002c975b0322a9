package affected

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/settings"
)

// When a shard sees the same in two states, then no difference between them is a reason
// to run the shard. Where no keys stand together, the reverse holds, too.
func TestViewsAgreeWithAttribution(t *testing.T) {
	seen := map[string]int{}
	for i := range uint64(rounds) {
		m := newMaker(i, 3)
		base := m.documents()
		head := clone(base).([]any)
		for range m.IntN(4) {
			m.change(head)
		}
		b, h := m.real(base), m.real(head)
		a := Attribute(b, h, m.selectors, settings.OrderIgnored)
		before, after := viewsOf(b, m.selectors), viewsOf(h, m.selectors)
		keys := append(differingKeys(before.views, after.views), "nobody has this key")
		for key := range before.views {
			keys = append(keys, key)
		}
		for _, key := range keys {
			same := before.of(key) == after.of(key)
			reason := !a.Same && (a.Why != "" || slices.Contains(a.Keys, key))
			if same && reason || !same && !reason && before.grouped == after.grouped {
				t.Fatalf("seed %d, %v: key %q sees the same: %v, but the difference is %+v\nbase %s\nhead %s", i, m.selectors, key,
					same, a, show(t, base), show(t, head))
			}
			seen[verdict(a)]++
		}
	}
	if seen["same"] == 0 || seen["keys"] == 0 || len(seen) < 3 {
		t.Errorf("the states are one-sided: %v", seen)
	}
}

// When a task sees the same in two changes, then neither their bases nor their
// heads differ in anything for which the ladder would run it.
func TestSeenIsWhatTheLadderLooksAt(t *testing.T) {
	raw, err := os.ReadFile("../testdata/shop/base.json")
	if err != nil {
		t.Fatal(err)
	}
	byName, err := settings.ParseSelector("warehouses[*].name")
	if err != nil {
		t.Fatal(err)
	}
	queries := append(slices.Clone(shopQueries), "{ warehouses { name shelves products { name } } staff { name } }")
	same, differ := 0, 0
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // repeatable
		var sides [2][2]*bundle.Bundle      // by change: base and head
		for i := range sides {
			o := shop(t, raw)
			for range r.IntN(2) {
				vandalize(r, o)
			}
			sides[i][0] = parseShop(t, o, nil)
			for range 1 + r.IntN(2) {
				vandalize(r, o)
			}
			sides[i][1] = parseShop(t, o, nil)
		}
		for _, text := range queries {
			for _, shard := range []string{"", "harbor", "hill"} {
				a, okA := seenFrom(t, sides[0], text, byName, shard)
				b, okB := seenFrom(t, sides[1], text, byName, shard)
				if !okA || !okB || a != b {
					differ++
					continue
				}
				same++
				for side := range 2 {
					d := judged(t, sides[0][side], sides[1][side], text, byName)
					if mustRun(d, shard) {
						t.Errorf("seed %d, %s, shard %q: it sees the same, and yet: %s", seed, text, shard, d.Sentence())
					}
				}
			}
		}
	}
	t.Logf("%d saw the same, %d did not", same, differ)
	if same == 0 || differ == 0 {
		t.Errorf("%d saw the same, %d did not: want some of each", same, differ)
	}
}

// mustRun tells whether a conclusion is a reason to run a shard, or the whole when
// shard is "".
func mustRun(d plan.Conclusion, shard string) bool {
	return d.Action == plan.Run || d.Action == plan.Shards && (shard == "" || slices.Contains(d.Evidence.Keys, shard))
}

func seenFrom(t *testing.T, sides [2]*bundle.Bundle, text string, by settings.Selector, shard string) (string, bool) {
	t.Helper()
	w := NewComparison(sides[0], sides[1], bundle.Compare(sides[0], sides[1]), Options{})
	seen, ok := w.VisibleState(t.Context(), subjectOf(t, w, text, by))
	if !ok {
		return "", false
	}
	return seen.Digest(shard), true
}

func judged(t *testing.T, from, to *bundle.Bundle, text string, by settings.Selector) plan.Conclusion {
	t.Helper()
	w := NewComparison(from, to, bundle.Compare(from, to), Options{})
	d := w.Decide(t.Context(), subjectOf(t, w, text, by), true)
	return d
}

func subjectOf(t *testing.T, w *Comparison, text string, by settings.Selector) Subject {
	t.Helper()
	q, err := w.Compile("q", gql.Request{Query: text})
	if err != nil {
		t.Fatal(err)
	}
	s := Subject{Queries: []CompiledQuery{q}}
	if strings.Contains(text, "warehouses {") {
		s.Shards = &settings.Shards{By: []settings.Selector{by}}
	}
	return s
}

// Everything that the digest stands for changes it.
func TestSeenCovers(t *testing.T) {
	raw, err := os.ReadFile("../testdata/shop/base.json")
	if err != nil {
		t.Fatal(err)
	}
	b := parseShop(t, shop(t, raw), nil)
	w := NewComparison(b, b, bundle.Compare(b, b), Options{})
	known := map[string]string{}
	add := func(name string, s Subject, shard string) {
		seen, ok := w.VisibleState(t.Context(), s)
		if !ok {
			t.Fatalf("%s: nothing is seen", name)
		}
		digest := seen.Digest(shard)
		if other, twice := known[digest]; twice {
			t.Errorf("%s looks like %s", name, other)
		}
		known[digest] = name
	}
	name, err := settings.ParseSelector("warehouses[*].name")
	if err != nil {
		t.Fatal(err)
	}
	city, err := settings.ParseSelector("warehouses[*].city")
	if err != nil {
		t.Fatal(err)
	}
	plain := subjectOf(t, w, "{ warehouses { name city shelves } }", name)
	add("the whole", plain, "")
	add("a shard", plain, "harbor")
	add("another shard", plain, "hill")
	other := plain
	other.Shards = &settings.Shards{By: []settings.Selector{city}}
	add("a shard by another selector", other, "harbor")
	other.Order = settings.OrderSignificant
	add("with an order", other, "")
	add("another text", subjectOf(t, w, "{ warehouses { name  city shelves } }", name), "")
	twice := plain
	twice.Queries = append(slices.Clone(plain.Queries), plain.Queries[0])
	add("two queries", twice, "")
	if _, ok := w.VisibleState(t.Context(), Subject{}); ok {
		t.Error("an integration without queries sees something")
	}
	broken := plain
	broken.Queries = []CompiledQuery{{Doubt: "head rejects it"}}
	if _, ok := w.VisibleState(t.Context(), broken); ok {
		t.Error("a query that cannot be compared is seen")
	}
}
