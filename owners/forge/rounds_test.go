package forge_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/doubles/gitlabtest"
	"github.com/app-sre/prcheck/owners/approvals"
	"github.com/app-sre/prcheck/owners/review"
)

// A keeper keeps the book in memory.
type keeper struct {
	mu   sync.Mutex
	book approvals.Book
}

func (k *keeper) Load(context.Context) (approvals.Book, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return approvals.Book{Entries: slices.Clone(k.book.Entries)}, nil
}

func (k *keeper) Save(_ context.Context, b approvals.Book) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, e := range b.Entries {
		if !slices.Contains(k.book.Entries, e) {
			k.book.Entries = append(k.book.Entries, e)
		}
	}
	return nil
}

var anybody = []string{"ann", "bob", "eve", "zoe"}

// step does one thing that happens to a merge request.
func (w *world) step(t *testing.T, r *rand.Rand) {
	t.Helper()
	switch r.IntN(11) {
	case 0:
		w.push(values{fmt.Sprint(r.IntN(3)), fmt.Sprint(r.IntN(3))})
	case 1:
		if len(w.said) > 0 {
			i := r.IntN(len(w.said))
			w.edit(i, []string{"", w.said[i].by, anybody[r.IntN(4)]}[r.IntN(3)])
		}
	case 2:
		w.say(anybody[r.IntN(4)], []string{"/hold", "/hold cancel", "fine"}[r.IntN(3)], time.Minute)
	case 3, 4:
		w.say(anybody[r.IntN(3)], "/lgtm", time.Duration(1+r.IntN(40))*time.Second)
	case 5:
		w.press(anybody[r.IntN(3)])
	case 6:
		w.unpress()
	case 7:
		w.runTwice(t, r)
	case 8:
		w.runKilled(t, r)
	default:
		w.runDisturbed(t, r)
	}
}

// runKilled runs a job that ends somewhere in the middle. Nothing new lets through what is not approved.
func (w *world) runKilled(t *testing.T, r *rand.Rand) {
	t.Helper()
	had, hadStatus := w.hasApproval(), w.hasStatus()
	count, at := 0, 1+r.IntN(30)
	w.server.Fault = func(int, *http.Request) gitlabtest.Fault {
		if count++; count < at {
			return gitlabtest.Fault{}
		}
		return gitlabtest.Fault{Status: http.StatusForbidden, Undone: count > at || r.IntN(2) == 0}
	}
	_, _ = w.runAt(t, w.head())
	w.server.Fault = nil
	if isNew := w.hasApproval() && !had || w.hasStatus() && !hadStatus; isNew && !w.isApproved() {
		t.Fatalf("a job that was killed lets through: %q, %+v", w.server.Labels(), w.server.Statuses())
	}
}

// runTwice runs two at once; something may happen meanwhile.
func (w *world) runTwice(t *testing.T, r *rand.Rand) {
	t.Helper()
	w.happens(r, 60)
	head := w.head()
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() { _, _ = w.runAt(t, head) })
	}
	group.Wait()
	w.server.Fault = nil
	w.mustNotLet(t, "two runs at once", 2*requestsOfRead)
}

// runDisturbed runs once while requests fail, and something happens.
func (w *world) runDisturbed(t *testing.T, r *rand.Rand) {
	t.Helper()
	w.happens(r, 30)
	also, often := w.server.Fault, 8+r.IntN(60)
	w.server.Fault = func(n int, q *http.Request) gitlabtest.Fault {
		also(n, q)
		if r.IntN(often) > 0 {
			return gitlabtest.Fault{}
		}
		w.failed++
		return []gitlabtest.Fault{{Status: 500, Undone: true}, {Status: 403, Undone: true}, {Drop: true},
			{Drop: true, Undone: true}}[r.IntN(4)]
	}
	_, err := w.runAt(t, w.head())
	w.server.Fault = nil
	if err == nil {
		w.mustNotLet(t, "a run with failures", requestsOfRead)
	}
}

// requestsOfRead is how many requests read a merge request, with one for who edited comments.
const requestsOfRead = 6

// happens lets something happen before one of the next requests.
func (w *world) happens(r *rand.Rand, within int) {
	count, at := 0, 1+r.IntN(within)
	w.since, w.wasApproved = 0, w.isApproved()
	w.happened = false
	var mu sync.Mutex
	w.server.Fault = func(int, *http.Request) gitlabtest.Fault {
		mu.Lock()
		defer mu.Unlock()
		if w.happened {
			w.since++
		}
		if count++; count == at {
			w.happened = true
			if r.IntN(2) == 0 {
				w.push(values{fmt.Sprint(r.IntN(3)), fmt.Sprint(r.IntN(3))})
			} else {
				w.say(anybody[r.IntN(4)], []string{"/hold", "/lgtm"}[r.IntN(2)], time.Minute)
			}
		}
		return gitlabtest.Fault{}
	}
}

// mustNotLet checks that nothing lets the change through that is not approved. What happened during the last requests
// may not have been seen yet, if it was approved before.
func (w *world) mustNotLet(t *testing.T, what string, last int) {
	t.Helper()
	if w.happened && w.since < last && w.wasApproved || w.isApproved() {
		return
	}
	if w.hasApproval() || w.hasStatus() {
		t.Fatalf("%s: let through with %q and %+v, %d requests since\n%+v\n%v", what, w.server.Labels(),
			w.server.Statuses(), w.since, w.said, w.content)
	}
}

// In rounds with pushes, words, edits, approvals by the button, two runs at once, failures and jobs that are killed,
// nothing lets a head through whose places are not all approved; after a last run nothing is missing, there is one
// note, and another run writes nothing.
func TestRounds(t *testing.T) {
	rounds := 1000
	if testing.Short() {
		rounds = 60
	}
	r := rand.New(rand.NewPCG(37, 8))
	let, failed := 0, 0
	for round := range rounds {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			for range 1 + r.IntN(10) {
				w.step(t, r)
			}
			failed += w.failed
			if w.checkEnd(t, round) {
				let++
			}
		})
	}
	t.Logf("%d of %d rounds end approved, %d requests failed", let, rounds, failed)
	if let < rounds/20 || failed < rounds/10 {
		t.Errorf("only %d of %d rounds end approved, and %d requests failed", let, rounds, failed)
	}
}

// checkEnd runs without failures until nothing is left to do, and reports whether the change is let through.
func (w *world) checkEnd(t *testing.T, round int) bool {
	t.Helper()
	if _, err := w.runAt(t, w.head()); err != nil {
		t.Fatalf("round %d: %v", round, err)
	}
	want := w.isApproved()
	if w.hasApproval() != want || w.hasStatus() != want {
		t.Fatalf("round %d: labels %q and statuses %+v, want approved: %v\n%+v\n%v", round, w.server.Labels(),
			w.server.Statuses(), want, w.said, w.content)
	}
	if notes := w.server.Notes("<!-- prcheck-owners:prcheck "); len(notes) != 1 {
		t.Fatalf("round %d: %d notes", round, len(notes))
	}
	before := len(w.writes())
	if _, err := w.runAt(t, w.head()); err != nil || len(w.writes()) != before {
		t.Fatalf("round %d: another run wrote %q: %v", round, w.writes()[before:], err)
	}
	return want
}

// runAt runs about a head, with a client of its own.
func (w *world) runAt(t *testing.T, head string) (*review.Outcome, error) {
	t.Helper()
	return review.Run(t.Context(), review.Input{Forge: w.forge(t, head), Keeper: &w.keeper, Head: head,
		Files: w.filesOf(t, head), Before: w.before(t)})
}

// writes returns the requests that change something.
func (w *world) writes() []string {
	return slices.DeleteFunc(w.server.Requests(), func(r string) bool {
		return strings.HasPrefix(r, "GET ") || r == "POST /api/graphql"
	})
}
