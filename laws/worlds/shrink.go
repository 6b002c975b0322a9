//go:build unix

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// maxTries is how many smaller pairs are tried.
const maxTries = 80

// shrink returns the smallest pair found that still breaks the law in the same way, and how.
func (l law) shrink(ctx context.Context, b broken) broken {
	tries := 0
	for again := true; again; {
		again = false
		for _, p := range smaller(b.pair) {
			if tries++; tries > maxTries || ctx.Err() != nil {
				return b
			}
			f, err := l.check(ctx, p, b.place)
			if err != nil {
				continue
			}
			if i := slices.IndexFunc(f.violations, func(v violation) bool { return v.Wrong == b.first.Wrong }); i >= 0 {
				b.pair, b.first, again = p, f.violations[i], true
				break
			}
		}
	}
	return b
}

// smaller returns the pairs with one part less, the largest parts first.
func smaller(p pair) []pair {
	var out []pair
	for i := range p.Programs {
		if q := copyOf(p); len(p.Programs) > 1 {
			q.Programs = slices.Delete(q.Programs, i, i+1)
			out = append(out, q)
		}
	}
	for r := range p.Rounds {
		for i := range p.Rounds[r].Edits {
			q := copyOf(p)
			q.Rounds[r].Edits = slices.Delete(q.Rounds[r].Edits, i, i+1)
			out = append(out, q)
		}
	}
	for i := range p.Programs {
		for k := range p.Programs[i].Blocks {
			q := copyOf(p)
			q.Programs[i].Blocks = slices.Delete(q.Programs[i].Blocks, k, k+1)
			out = append(out, q)
		}
		if p.Programs[i].Uses == "patterns" {
			q := copyOf(p)
			q.Programs[i].Uses = ""
			out = append(out, q)
		}
	}
	return append(out, fewerFiles(p)...)
}

// fewerFiles returns the pair without files that no block and no edit names, at once and in halves.
func fewerFiles(p pair) []pair {
	used := map[string]bool{".gitignore": true}
	for _, t := range append([]tree{p.base()},
		slices.Collect(maps.Values(map[int]tree{0: p.heads()[0], 1: p.heads()[1]}))...) {
		for _, prog := range p.Programs {
			for _, b := range prog.Blocks {
				for _, name := range b.names(t) {
					used[name] = true
				}
			}
		}
	}
	for _, r := range p.Rounds {
		for _, e := range r.Edits {
			used[e.Path], used[e.Text] = true, true
		}
	}
	spare := slices.DeleteFunc(slices.Sorted(maps.Keys(p.Pool)), func(name string) bool {
		return used[name] || name == "data/rooms/harbor.yml"
	})
	var out []pair
	for _, names := range [][]string{spare, spare[:len(spare)/2], spare[len(spare)/2:]} {
		if len(names) == 0 {
			continue
		}
		q := copyOf(p)
		for _, name := range names {
			delete(q.Pool, name)
		}
		out = append(out, q)
	}
	return out
}

// copyOf returns a copy that shares nothing which is changed.
func copyOf(p pair) pair {
	p.Pool = maps.Clone(p.Pool)
	p.Programs = slices.Clone(p.Programs)
	for i := range p.Programs {
		p.Programs[i].Blocks = slices.Clone(p.Programs[i].Blocks)
	}
	for i := range p.Rounds {
		p.Rounds[i].Edits = slices.Clone(p.Rounds[i].Edits)
	}
	return p
}

// repeat returns the command that repeats the check of a pair as it was drawn.
func repeat(p pair, in place, upsets bool) string {
	disturbed := ""
	if upsets {
		disturbed = " --upsets"
	}
	return fmt.Sprintf("go run ./laws/worlds --seed %d --from %d --pairs 1 --place %s%s", p.Seed, p.Index, in, disturbed)
}
