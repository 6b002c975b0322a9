package promotion

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// A promotion that was decided may stay as it is while the world goes on, until what allowed it
// is over.
func TestStill(t *testing.T) {
	q := Question{Now: now, Branches: [][]string{{"c3", "c2", "c1"}},
		Subject: Subject{Ref: "c1", Channels: []Channel{{"stage", []string{"p"}}}, Schedule: "0 9 * * 1"},
		Logs:    Logs{{"stage", "p"}: {Records: map[string]Record{"c3": {Success: true}, "c2": {Success: true}}}}}
	for name, c := range map[string]struct {
		change func(q *Question)
		want   bool
	}{
		"though something is newer":     {func(*Question) {}, true},
		"though the window is over":     {func(q *Question) { q.Last = q.Now }, true},
		"not a blocked commit":          {func(q *Question) { q.Blocked = []string{"c2"} }, false},
		"not while objectives are lost": {func(q *Question) { q.Health.Breached = "availability" }, false},
		"not below a pin":               {func(q *Question) { q.Pin = "c2" }, false},
		"not a commit that is there":    {func(q *Question) { q.Ref = "c2" }, false},
		"not an older one":              {func(q *Question) { q.Ref = "c3" }, false},
		"not after a force push":        {func(q *Question) { q.Branches = [][]string{{"d2", "d1"}} }, false},
		"not of a broken target":        {func(q *Question) { q.Broken = "a mistake" }, false},
		"not after a failed run": {func(q *Question) {
			q.Logs = Logs{{"stage", "p"}: {Records: map[string]Record{"c2": {}}}}
		}, false},
	} {
		q := q
		c.change(&q)
		if d, ok := Still(q, "c2"); ok != c.want || ok && d.Ref != "c2" {
			t.Errorf("%s: got %+v, %t", name, d, ok)
		}
	}
}

// Components are what a plain search finds: two subscribers are together if and only if a chain of
// shared files leads from one to the other.
func TestComponentsLaw(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 9))
		files := map[string][]string{}
		for i := range 1 + r.IntN(8) {
			for range 1 + r.IntN(3) {
				name := fmt.Sprintf("s%d", i)
				files[name] = append(files[name], fmt.Sprintf("/f%d.yml", r.IntN(8)))
			}
		}
		of := map[string]int{}
		seen := map[string]bool{}
		got := Components(files)
		for i, c := range got {
			if !slices.IsSorted(c.Files) || !slices.IsSorted(c.Subscribers) || c.Branch() != Branch(c.Files) ||
				i > 0 && got[i-1].Files[0] >= c.Files[0] {
				t.Fatalf("seed %d: the order of %v", seed, got)
			}
			for _, f := range c.Files {
				if seen[f] {
					t.Fatalf("seed %d: %s is in two components", seed, f)
				}
				seen[f] = true
			}
			for _, s := range c.Subscribers {
				of[s] = i
			}
		}
		for a := range files {
			for b := range files {
				if reaches(files, a, b) != (of[a] == of[b]) {
					t.Fatalf("seed %d: %s and %s in %v of %v", seed, a, b, got, files)
				}
			}
		}
	}
}

// reaches reports whether a chain of shared files leads from one subscriber to another.
func reaches(files map[string][]string, from, to string) bool {
	seen := map[string]bool{from: true}
	for open := []string{from}; len(open) > 0; open = open[1:] {
		for other := range files {
			if !seen[other] && slices.ContainsFunc(files[other], func(f string) bool {
				return slices.Contains(files[open[0]], f)
			}) {
				seen[other] = true
				open = append(open, other)
			}
		}
	}
	return seen[to]
}
