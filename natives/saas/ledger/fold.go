package ledger

import (
	"encoding/json"
	"slices"
)

// Bounded returns a book that is within its limits. Runs that are too old for a place of their own are folded to the
// time for which their commits ran well, and whether they are bad. Words that stand are never dropped, nor what a gate
// needs: that a commit ran well.
func (b *Book) Bounded() *Book {
	out := b.clone()
	if n := len(out.Runs) - MaxRuns; n > 0 {
		out.fold(n)
	}
	out.Entries = out.kept(MaxEntries)
	for keep := MaxEntries; out.size() > MaxBook && keep > 0; {
		keep /= 2
		out.Entries = out.kept(keep)
	}
	for len(out.Folded) > 0 && out.size() > MaxBook {
		out.forget()
	}
	for len(out.Runs) > 1 && out.size() > MaxBook {
		out.fold(1)
		out.forget()
	}
	return out
}

// size returns how many bytes the book has.
func (b *Book) size() int {
	raw, err := json.Marshal(b)
	if err != nil {
		return 0
	}
	return len(raw)
}

// fold folds the oldest runs.
func (b *Book) fold(n int) {
	old := &Book{Line: b.Line, Runs: b.Runs[:n], Folded: b.Folded, Last: b.Last}
	if b.Folded = map[string]Fold{}; old.Folded != nil {
		for c, f := range old.Folded {
			b.Folded[c] = f
		}
	}
	end := b.Runs[n].At
	for _, c := range old.Commits() {
		s := old.Stay(c, Order{}, end, true)
		if !s.Well {
			continue
		}
		b.Folded[c] = Fold{Seconds: int64(s.Ran.Seconds()), Bad: s.Bad}
	}
	for c, f := range b.Folded { // what was undone since
		if s := old.Stay(c, Order{}, end, true); s.Bad != f.Bad {
			b.Folded[c] = Fold{Seconds: f.Seconds, Bad: s.Bad}
		}
	}
	b.Last = old.Newest()
	b.Runs = slices.Clone(b.Runs[n:])
	for len(b.Folded) > MaxFolded {
		b.forget()
	}
	named := b.named()
	b.Line = slices.DeleteFunc(b.Line, func(c string) bool { return !slices.Contains(named, c) })
}

// forget forgets the folded commit that ran for the shortest time, a bad one before others.
func (b *Book) forget() {
	least := ""
	for c, f := range b.Folded {
		l := b.Folded[least]
		switch {
		case least == "", (f.Bad != NotBad) != (l.Bad != NotBad) && f.Bad != NotBad,
			(f.Bad != NotBad) == (l.Bad != NotBad) && (f.Seconds < l.Seconds || f.Seconds == l.Seconds && c < least):
			least = c
		}
	}
	delete(b.Folded, least)
}
