package realkube

import (
	"flag"
	"math/rand/v2"
	"testing"
)

var (
	triples = flag.Int("triples", 4, "histories of each kind that are tried at the real API server")
	seed    = flag.Uint64("seed", 1, "seed of the histories")
)

// Most of the random objects are valid, and most of the edits too: without that, the other
// tests would say nothing.
func TestHistoriesAreValid(t *testing.T) {
	c := start(t, "n")
	for _, k := range kinds {
		r := rand.New(rand.NewPCG(*seed, 0))
		var first, second []any
		var all []history
		for i := range *triples {
			h := makeHistory(k, r, i)
			all = append(all, h)
			first = append(first, k.object("n", h.name, h.applied))
		}
		made, told := c.kubectl(t, k, first)
		edits, done, plain := 0, 0, 0
		for _, h := range all {
			for _, e := range h.edits {
				edits++
				if c.do(t, k, "n", h.name, e) == 200 {
					done++
				}
			}
			if h.immutable == "" {
				plain++
			}
			second = append(second, k.object("n", h.name, h.desired))
		}
		again, why := c.kubectl(t, k, second, "--force-conflicts")
		t.Logf("%s: %d of %d made, %d of %d edits done, %d of %d (%d) applied again", k.name, len(made), len(all), done,
			edits, len(again), len(all), plain)
		t.Logf("%.2000s\n%.2000s", told, why)
	}
}
