package affected

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// BenchmarkAttribute attributes what differs in a state as large as the real
// ones get: 3434 namespaces of 60 clusters, 12.9 MB as JSON.
func BenchmarkAttribute(b *testing.B) {
	by, err := settings.ParseSelector("namespaces[*].cluster.name")
	if err != nil {
		b.Fatal(err)
	}
	selectors := []settings.Selector{by}
	for _, c := range []struct {
		name    string
		changes int
		reorder bool
		keys    int
	}{
		{"none", 0, false, 0},
		{"1 change", 1, false, 1},
		{"reorder and 1 change", 1, true, 1},
		{"10000 changes", 10000, false, 60},
	} {
		base, head := largeState(0, false), largeState(c.changes, c.reorder)
		for _, order := range orders {
			if c.reorder && order == settings.OrderSignificant {
				continue
			}
			b.Run(fmt.Sprintf("%s/order %s", c.name, order), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					got := Attribute(base, head, selectors, order)
					if got.Why != "" || len(got.Keys) != c.keys {
						b.Fatalf("got %+v, want %d keys", got, c.keys)
					}
				}
			})
		}
	}
}

// largeState makes a state in which so many values are changed.
func largeState(changes int, reorder bool) []any {
	const items, resources = 3434, 9
	r := rand.New(rand.NewPCG(1, 2))
	size := 0
	namespaces := make([]any, items)
	for i := range namespaces {
		list := make([]any, resources)
		for j := range list {
			version := fmt.Sprint(r.Uint64())
			if i+j*items < changes {
				version = "changed"
			}
			o := bundle.NewObject(
				bundle.Member{Key: "provider", Value: "resource-template"},
				bundle.Member{Key: "path", Value: fmt.Sprintf("/services/team-%d/namespace-%d/resource-%d.secret.yaml", i%97, i,
					j)},
				bundle.Member{Key: "version", Value: version},
				bundle.Member{Key: "number", Value: bundle.Number(fmt.Sprint(r.Uint32()))},
				bundle.Member{Key: "variables", Value: bundle.NewObject(
					bundle.Member{Key: "url", Value: fmt.Sprintf("https://service-%d.example.com/some/longer/way/%x", i, r.Uint64())},
					bundle.Member{Key: "channels", Value: []any{"stable", "fast", fmt.Sprintf("candidate-%d", r.IntN(9))}},
					bundle.Member{Key: "text", Value: fmt.Sprintf("%0100d", r.Uint64())},
				)},
				bundle.Member{Key: "enabled", Value: r.IntN(2) == 0},
				bundle.Member{Key: "alias", Value: nil},
			)
			list[j] = o
		}
		o := bundle.NewObject(
			bundle.Member{Key: "name", Value: fmt.Sprintf("namespace-%d", i)},
			bundle.Member{Key: "cluster",
				Value: bundle.NewObject(bundle.Member{Key: "name", Value: fmt.Sprintf("cluster-%d", i%60)})},
			bundle.Member{Key: "openshiftResources", Value: list},
		)
		size += len(bundle.Canonical(o))
		namespaces[i] = o
	}
	if mb := float64(size) / 1e6; mb < 12 || mb > 14 {
		panic(fmt.Sprintf("the state has %.1f MB", mb))
	}
	if reorder {
		r.Shuffle(items, func(i, j int) { namespaces[i], namespaces[j] = namespaces[j], namespaces[i] })
	}
	return []any{bundle.NewObject(bundle.Member{Key: "namespaces", Value: namespaces})}
}
