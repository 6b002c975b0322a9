package affected

import (
	"math/rand/v2"
	"os"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// kept is a memory that counts what it gives.
type kept struct {
	all   map[string][]byte
	found int
}

func (k *kept) Recall(key string) ([]byte, bool) {
	raw, ok := k.all[key]
	if ok {
		k.found++
	}
	return raw, ok
}

func (k *kept) Remember(key string, raw []byte) { k.all[key] = raw }

// What tasks see is the same with a memory and without, also with one that other bundles have
// filled, or that is damaged.
func TestRememberedBase(t *testing.T) {
	raw, err := os.ReadFile("../testdata/shop/base.json")
	if err != nil {
		t.Fatal(err)
	}
	byName, err := settings.ParseSelector("warehouses[*].name")
	if err != nil {
		t.Fatal(err)
	}
	memory := &kept{all: map[string][]byte{}}
	seen := map[string]bool{}
	queries := append([]string{"{ warehouses { name shelves products { name } } staff { name } }"}, shopQueries...)
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed/2, 11)) //nolint:gosec // repeatable; each base comes twice
		o := shop(t, raw)
		vandalize(r, o)
		base := parseShop(t, o, nil)
		if seed%2 == 1 {
			r = rand.New(rand.NewPCG(seed, 12)) //nolint:gosec // repeatable
		}
		vandalize(r, o)
		head := parseShop(t, o, nil)
		digest := func(text, shard string, m Memory) (string, bool) {
			w := NewComparison(base, head, bundle.Compare(base, head), Options{Memory: m})
			v, ok := w.VisibleState(t.Context(), subjectOf(t, w, text, byName))
			if !ok {
				return "", false
			}
			return v.Digest(shard), true
		}
		for _, text := range queries {
			for _, shard := range []string{"", "harbor", "hill"} {
				want, isKnown := digest(text, shard, nil)
				seen[want] = true
				for name, m := range map[string]Memory{"a shared memory": memory, "a damaged memory": broken("{\"whole\":"),
					"an empty document": broken("{}"), "another type": broken("[1]")} {
					if got, ok := digest(text, shard, m); got != want || ok != isKnown {
						t.Fatalf("seed %d, %s, shard %q, %s: got %s, want %s", seed, text, shard, name, got, want)
					}
				}
			}
		}
	}
	if memory.found < 100 || len(seen) < 100 {
		t.Errorf("%d found in the memory, %d digests", memory.found, len(seen))
	}
}

// broken is a memory that always answers the same.
type broken string

func (b broken) Recall(string) ([]byte, bool) { return []byte(b), true }
func (broken) Remember(string, []byte)        {}
