package ledger

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var begin = time.Date(2026, 6, 1, 8, 0, 0, 0, time.UTC)

// line is the commits of the worlds of the laws, oldest first.
var line = []string{"a", "b", "c", "d", "e"}

// branch returns the commits of the line, newest first.
func branch() []string {
	out := slices.Clone(line)
	slices.Reverse(out)
	return out
}

// newBook returns a book with random runs, hours apart.
func newBook(seed uint64) (*Book, time.Time) {
	r := rand.New(rand.NewPCG(seed, 3))
	b, at := New("p", "p"), begin
	for range 1 + r.IntN(9) {
		at = at.Add(time.Duration(1+r.IntN(20)) * time.Hour)
		run := Run{Commit: line[r.IntN(len(line))], At: at, Result: []Result{Good, Good, Good, Failed}[r.IntN(4)],
			Config: fmt.Sprint(r.IntN(2))}
		if run.Result == Good && r.IntN(4) == 0 {
			run.Check = &Check{Seconds: 3600}
			switch r.IntN(3) {
			case 0:
				run.Check.Result, run.Check.Done = Good, at.Add(time.Hour)
			case 1:
				run.Check.Result, run.Check.Done = Failed, at.Add(30*time.Minute)
			}
		}
		b.Runs = append(b.Runs, run)
	}
	return b, at.Add(time.Duration(1+r.IntN(30)) * time.Hour)
}

// truth says how a commit stands by the words of the rule: hour by half hour, what is known to run then, whether that
// has the commit, and when the commit began or was found bad last.
func truth(b *Book, commit string, now time.Time, own bool) Stay {
	at := slices.Index(line, commit)
	type moment struct {
		commit int
		good   bool // it is known to work
		fails  Bad
		begins bool
	}
	events := map[time.Time][]moment{}
	for _, r := range b.Runs {
		m := moment{commit: slices.Index(line, r.Commit), good: r.Result == Good, begins: true}
		if r.Result == Failed {
			m.fails = FailedRun
		}
		if r.Check != nil && r.Result == Good {
			m.good, m.begins = false, false
			done := moment{commit: m.commit, good: r.Check.Result == Good, begins: true}
			if r.Check.Result == Failed {
				done.fails = Unverified
			}
			if r.Check.Result != Ended {
				events[r.Check.Done] = append(events[r.Check.Done], done)
			}
		}
		events[r.At] = append(events[r.At], m)
	}
	out, runs, last, works := Stay{}, -1, -1, false
	for t := begin; !t.After(now); t = t.Add(30 * time.Minute) {
		for _, m := range events[t] {
			goesOn := m.commit == last && works && !m.begins && m.commit == at // redeployed, and not verified yet
			if m.commit < at && last >= at {
				out.Bad = Undone
			}
			if m.commit == at && m.fails != NotBad {
				out.Bad, out.Ran = m.fails, 0
			}
			if m.commit == at && m.good {
				if out.Bad != NotBad {
					out.Ran = 0
				}
				out.Bad, out.Well = NotBad, true
			}
			works = m.good || goesOn
			runs, last = m.commit, m.commit
		}
		out.Lasts = works && (runs == at || runs > at && !own) && out.Well && out.Bad == NotBad
		if out.Lasts && t.Before(now) {
			out.Ran += min(30*time.Minute, now.Sub(t))
		}
	}
	return out
}

// stayLaw compares what a function says with the truth.
func stayLaw(seed uint64, stay func(b *Book, commit string, now time.Time, own bool) Stay) string {
	b, now := newBook(seed)
	for _, c := range line {
		own := seed%3 == 0
		got, want := stay(b, c, now, own), truth(b, c, now, own)
		if got.Ran != want.Ran || got.Lasts != want.Lasts || got.Well != want.Well || got.Bad != want.Bad {
			return fmt.Sprintf("%s stands as %+v, and truly as %+v: %+v", c, got, want, b.Runs)
		}
	}
	return ""
}

func stay(b *Book, commit string, now time.Time, own bool) Stay {
	return b.Stay(commit, NewOrder(branch()), now, own)
}

const worlds = 4000

func TestStayLaw(t *testing.T) {
	for seed := range uint64(worlds) {
		if broken := stayLaw(seed, stay); broken != "" {
			t.Fatalf("seed %d: %s", seed, broken)
		}
	}
}

// The order that a loop noted does as well as that of the branch.
func TestLineIsEnough(t *testing.T) {
	for seed := range uint64(worlds) {
		if broken := stayLaw(seed, func(b *Book, commit string, now time.Time, own bool) Stay {
			return b.Along(branch()).Stay(commit, Order{}, now, own)
		}); broken != "" && !seldom(seed) {
			t.Fatalf("seed %d: %s", seed, broken)
		}
	}
}

// seldom reports whether a book never ran some commit, so that its line does not have it.
func seldom(seed uint64) bool {
	b, _ := newBook(seed)
	return len(b.Commits()) < len(line)
}

// Each mutant breaks the law on some world.
func TestStayLawCatchesMutants(t *testing.T) {
	without := func(b *Book, drop func(i int, r Run) bool) *Book {
		out := b.clone()
		out.Runs = nil
		for i, r := range b.Runs {
			if !drop(i, r) {
				out.Runs = append(out.Runs, r)
			}
		}
		return out
	}
	for name, mutant := range map[string]func(b *Book, c string, now time.Time, own bool) Stay{
		"a stay is dropped": func(b *Book, c string, now time.Time, own bool) Stay {
			return stay(without(b, func(i int, _ Run) bool { return i == 0 }), c, now, own)
		},
		"soak from the newest success": func(b *Book, c string, now time.Time, own bool) Stay {
			s := stay(b, c, now, own)
			for _, r := range slices.Backward(b.Runs) {
				if r.Commit == c && r.well() {
					s.Ran = now.Sub(r.At)
					break
				}
			}
			return s
		},
		"newer commits do not count": func(b *Book, c string, now time.Time, _ bool) Stay { return stay(b, c, now, true) },
		"failures count": func(b *Book, c string, now time.Time, own bool) Stay {
			return stay(asGood(b), c, now, own)
		},
		"failures are not seen": func(b *Book, c string, now time.Time, own bool) Stay {
			return stay(without(b, func(_ int, r Run) bool { return r.Result == Failed }), c, now, own)
		},
		"a rollback marks nothing": func(b *Book, c string, now time.Time, own bool) Stay {
			s := stay(b, c, now, own)
			if s.Bad == Undone {
				s.Bad = NotBad
			}
			return s
		},
		"what is verified counts at once": func(b *Book, c string, now time.Time, own bool) Stay {
			out := b.clone()
			for i := range out.Runs {
				out.Runs[i].Check = nil
			}
			return stay(out, c, now, own)
		},
		"nobody knows the order": func(b *Book, c string, now time.Time, own bool) Stay {
			return b.Stay(c, Order{}, now, own)
		},
	} {
		caught := false
		for seed := uint64(0); seed < worlds && !caught; seed++ {
			caught = stayLaw(seed, mutant) != ""
		}
		if !caught {
			t.Errorf("the mutant %q breaks no law", name)
		}
	}
}

// asGood returns a book in which all runs ended well.
func asGood(b *Book) *Book {
	out := b.clone()
	for i := range out.Runs {
		out.Runs[i].Result = Good
	}
	return out
}

// Folding old runs never lets a commit soak for longer, and never forgets that one is bad or ran well.
func TestFoldingLaw(t *testing.T) {
	for seed := range uint64(worlds) {
		b, now := newBook(seed)
		b = b.Along(branch())
		folded := b.clone()
		if n := len(b.Runs) - 1; n > 0 {
			folded.fold(1 + int(seed)%n)
		}
		for _, c := range line {
			was, is := b.Stay(c, NewOrder(branch()), now, false), folded.Stay(c, NewOrder(branch()), now, false)
			if is.Ran > was.Ran || was.Bad != is.Bad && was.Well || b.Ran(c) != folded.Ran(c) {
				t.Fatalf("seed %d: %s stood as %+v, and stands as %+v: %+v", seed, c, was, is, b.Runs)
			}
		}
	}
}
