package forge_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/ci"
	"github.com/app-sre/prcheck/doubles/gitlabtest"
	"github.com/app-sre/prcheck/queue"
	"github.com/app-sre/prcheck/queue/forge"
	"github.com/app-sre/prcheck/queue/merging"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/lease"
	"github.com/app-sre/prcheck/state/statetest"
)

// rounds is how many rounds the test does: go test ./queue/forge -run TestRounds -rounds 1000.
var rounds = flag.Uint64("rounds", 120, "how many random rounds")

// The files of the repository. Each has one line, a number; two odd ones beside each other make the data invalid.
var paths = []string{"f0", "f1", "f2", "f3"}

// A content is what a commit has: the line of each file. In these tests it is the name of its tree.
type content [4]string

func (c content) tree() string { return strings.Join(c[:], " ") }

func (c content) isValid() bool {
	odd := func(s string) bool { return s != "" && (s[len(s)-1]-'0')%2 == 1 }
	return !odd(c[0]) || !odd(c[1])
}

func contentOf(tree string) (c content) { copy(c[:], strings.Fields(tree)); return c }

// A queueWorld is a project with people who push, approve, hold and merge by hand, and a loop that merges.
type queueWorld struct {
	t      *testing.T
	r      *rand.Rand
	repo   *gitlabtest.Repository
	server *gitlabtest.Server
	client *ci.MergeQueue
	store  state.Store
	proven map[string]bool // trees of a base and of what was proven on it
	asked  int             // requests since the beginning
	heldAt map[int]int     // when somebody held or disapproved a request
	merged map[int]int     // how often each was merged by the queue
	faults bool
	people bool // act between requests
	byHand bool // somebody acts
	nested bool // another loop runs
	kill   int  // at which request the loop is killed; 0 is never
	cancel context.CancelCauseFunc
	beside func() // another loop, that runs in the middle of this one
}

func newQueueWorld(t *testing.T, seed uint64) *queueWorld {
	t.Helper()
	files := map[string]string{}
	for _, p := range paths {
		files[p] = "0\n"
	}
	w := &queueWorld{t: t, r: rand.New(rand.NewPCG(38, seed)), repo: gitlabtest.NewRepository(t, files),
		store: statetest.NewMemory(), proven: map[string]bool{}, heldAt: map[int]int{}, merged: map[int]int{}}
	w.repo.FastForward, w.repo.Pipelines, w.repo.RebaseAfter = true, seed%2 == 0, int(seed%3)
	w.server = &gitlabtest.Server{Token: token, Repository: w.repo}
	w.server.Fault = w.fault
	w.repo.Ended = w.ended
	var err error
	w.client, err = ci.NewMergeQueue(ci.Options{API: "https://gitlab.test/api/v4", Token: ci.Token{Value: token},
		Transport: memory{w.server}}, gitlabtest.ProjectPath)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// at returns the content of a commit or a branch.
func (w *queueWorld) at(rev string) (c content) {
	for i, p := range paths {
		text, _ := w.repo.File(rev, p)
		c[i] = strings.TrimSpace(text)
	}
	return c
}

// fork returns the content of the commit of the branch from which a head starts.
func (w *queueWorld) fork(head string) content {
	onMain := map[string]bool{}
	for at := w.repo.Head("main"); at != ""; at = parentOf(w.repo, at) {
		onMain[at] = true
	}
	for head != "" && !onMain[head] {
		head = parentOf(w.repo, head)
	}
	return w.at(head)
}

func parentOf(r *gitlabtest.Repository, rev string) string {
	if all := r.Parents(rev); len(all) > 0 {
		return all[0]
	}
	return ""
}

// prove proves a request on a base, by three-way merges of lines.
func (w *queueWorld) prove(base string, r queue.Request) queue.Proof {
	was, is, on := w.fork(r.Head), w.at(r.Head), contentOf(base)
	if !strings.Contains(base, " ") { // it is a commit
		on = w.at(base)
	}
	p := queue.Proof{Pair: queue.Pair{Head: r.Head, Base: base}, IsValidated: true, IsPlanned: true}
	made := on
	for i := range made {
		switch {
		case is[i] == was[i] || is[i] == on[i]:
		case on[i] == was[i]:
			made[i] = is[i]
		default:
			p.Conflicts = append(p.Conflicts, paths[i])
		}
	}
	p.Tree, p.IsEmpty = made.tree(), made == on
	if !made.isValid() {
		p.Faults = []string{"two odd numbers"}
	}
	if len(p.Conflicts) == 0 && !p.IsEmpty && len(p.Faults) == 0 {
		w.proven[on.tree()+" -> "+p.Tree] = true
	}
	return p
}

// ended notes what was merged. What the queue merged is exactly what was proven on what was there.
func (w *queueWorld) ended(m gitlabtest.MergeRequest) {
	if m.State != "merged" || w.byHand {
		return
	}
	w.merged[m.IID]++
	if at, isHeld := w.heldAt[m.IID]; isHeld && w.asked-at > 12 {
		w.t.Errorf("!%d was merged %d requests after it was held", m.IID, w.asked-at)
	}
}

// fault is called before each request: people act, answers get lost, the loop is killed.
func (w *queueWorld) fault(_ int, q *http.Request) gitlabtest.Fault {
	w.asked++
	if w.byHand || w.nested {
		return gitlabtest.Fault{}
	}
	if w.people && w.r.IntN(12) == 0 {
		w.act()
	}
	if w.beside != nil && w.r.IntN(15) == 0 {
		other := w.beside
		w.beside = nil
		other()
	}
	if w.kill > 0 {
		if w.kill--; w.kill == 0 {
			w.cancel(errors.New("killed"))
			return gitlabtest.Fault{Undone: w.r.IntN(2) == 0, Drop: true}
		}
	}
	if w.faults && w.r.IntN(10) == 0 {
		return []gitlabtest.Fault{{Drop: true}, {Drop: true, Undone: true}, {Status: 502, Body: "bad"},
			{Status: 500, Body: "bad", Undone: true}, {Status: 429, Undone: true}}[w.r.IntN(5)]
	}
	_ = q
	return gitlabtest.Fault{}
}

// act lets somebody do something.
func (w *queueWorld) act() {
	w.byHand = true
	defer func() { w.byHand = false }()
	open := w.repo.OpenMergeRequests()
	if len(open) == 0 || w.r.IntN(4) == 0 {
		w.open()
		return
	}
	m := open[w.r.IntN(len(open))]
	switch w.r.IntN(8) {
	case 0: // a push
		w.commit(m.Source, "")
	case 1, 2, 3:
		w.must(w.repo.Label(m.IID, gitlabtest.Jane, []string{"lgtm"}, []string{"bot/hold"}))
		delete(w.heldAt, m.IID)
	case 4:
		w.must(w.repo.Label(m.IID, gitlabtest.Jane, []string{"bot/hold"}, nil))
		w.heldAt[m.IID] = w.asked
	case 5:
		w.must(w.repo.Label(m.IID, gitlabtest.Jane, nil, []string{"lgtm"}))
		w.heldAt[m.IID] = w.asked
	case 6: // by hand, if the server lets it
		if w.at(m.Head).isValid() {
			_ = w.repo.Merge(m.IID, gitlabtest.Jane)
		}
	case 7: // somebody commits to the branch
		w.commit("main", "")
	}
}

func (w *queueWorld) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// open opens a request that changes one file.
func (w *queueWorld) open() int {
	name := fmt.Sprintf("m%d", len(w.repo.MergeRequests()))
	w.commit(name, w.repo.Head("main"))
	labels := []string{}
	if w.r.IntN(3) > 0 {
		labels = append(labels, "lgtm")
	}
	iid := w.repo.Open(w.t, gitlabtest.MergeRequest{Title: name, Source: name, Target: "main", By: gitlabtest.Jane,
		Labels: labels})
	if len(labels) == 0 {
		w.heldAt[iid] = w.asked
	}
	return iid
}

// commit changes a file on a branch; on main only so that it stays valid.
func (w *queueWorld) commit(branch, start string) {
	c := w.at("main")
	i, value := w.r.IntN(len(paths)), fmt.Sprint(w.r.IntN(40))
	if c[i] = value; branch == "main" && !c.isValid() {
		return
	}
	_, err := w.repo.Commit(gitlabtest.Change{By: gitlabtest.Jane, Branch: branch, Start: start, Message: value,
		Files: map[string]string{paths[i]: value + "\n"}})
	w.must(err)
}

// loop does one round. A loop beside has a lease of its own, as one that does not know that it lost the branch.
func (w *queueWorld) loop(ctx context.Context, leases state.Store) ([]merging.Told, error) {
	r := forge.Round{Acting: forge.Acting{Forge: forge.Forge{Client: w.client, Target: "main"}, Tool: "prcheck",
		TreeOf: func(_ context.Context, commit string) (string, error) { return w.at(commit).tree(), nil }},
		Store: w.store, Leases: leases, Branch: "group/project main", Prove: w.prove, Pause: time.Second}
	done, err := r.Run(ctx)
	if done == nil {
		return nil, err
	}
	for _, one := range done.Told {
		if of := w.repo.MergeRequests()[one.Number-1]; one.Merged != nil &&
			(of.State != "merged" || of.Merged != one.Merged.Commit) {
			w.t.Errorf("!%d is told to be merged as %s, and is %s as %s", one.Number, one.Merged.Commit, of.State,
				of.Merged)
		}
	}
	return done.Told, err
}

// check holds what must be true after each loop: the history of the branch has no commit of the queue that was not
// proven, and none is invalid.
func (w *queueWorld) check() {
	w.t.Helper()
	for iid, n := range w.merged {
		if n > 1 {
			w.t.Errorf("!%d was merged %d times", iid, n)
		}
	}
	for _, m := range w.repo.MergeRequests() {
		if w.merged[m.IID] == 0 {
			continue
		}
		tree, base := w.at(m.Merged), w.fork2(m)
		if !tree.isValid() || !w.proven[base.tree()+" -> "+tree.tree()] {
			w.t.Errorf("!%d made %q of %q, which nobody proved", m.IID, tree.tree(), base.tree())
		}
	}
}

// fork2 returns the content of the branch before a request was merged: below the commits of the request.
func (w *queueWorld) fork2(m gitlabtest.MergeRequest) content {
	at := m.Merged
	for range m.Pushes + 1 {
		parent := parentOf(w.repo, at)
		if parent == "" || w.proven[w.at(parent).tree()+" -> "+w.at(m.Merged).tree()] {
			return w.at(parent)
		}
		at = parent
	}
	return w.at(at)
}

// In random rounds with people, lost answers, kills and a second loop in the middle of the first nothing is merged that
// was not proven, or twice; and when all is quiet everything that can be merged is.
func TestRounds(t *testing.T) {
	rounds := *rounds
	if testing.Short() {
		rounds = min(rounds, 30)
	}
	merges, byKind := 0, map[string]int{}
	for seed := range rounds {
		synctest.Test(t, func(t *testing.T) {
			w := newQueueWorld(t, seed)
			for range 3 + w.r.IntN(4) {
				w.byHand = true
				w.open()
				w.byHand = false
			}
			w.people, w.faults = seed%4 != 0, seed%5 != 0
			for range 4 {
				ctx, cancel := context.WithCancelCause(t.Context())
				if w.cancel = cancel; w.r.IntN(3) == 0 {
					w.kill = 1 + w.r.IntN(60)
				}
				if w.r.IntN(3) == 0 {
					w.beside = func() {
						w.nested = true
						_, _ = w.loop(t.Context(), statetest.NewMemory())
						w.nested = false
					}
				}
				_, err := w.loop(ctx, nil)
				w.kill, w.beside = 0, nil
				cancel(nil)
				byKind[kindOf(err)]++
				w.check()
			}
			w.people, w.faults = false, false
			w.quiet()
			for _, n := range w.merged {
				merges += n
			}
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if merges < int(rounds) || byKind["fenced"] == 0 || byKind["killed"] == 0 {
		t.Errorf("%d merges in %d rounds, loops ended %v", merges, rounds, byKind)
	}
}

func kindOf(err error) string {
	switch {
	case err == nil:
		return "good"
	case errors.Is(err, merging.ErrFenced):
		return "fenced"
	case strings.Contains(err.Error(), "killed"):
		return "killed"
	}
	return "other"
}

// quiet runs loops until nothing changes any more. Then nothing is left that could be merged.
func (w *queueWorld) quiet() {
	w.t.Helper()
	for range 30 {
		told, err := w.loop(w.t.Context(), nil)
		if err != nil {
			w.t.Errorf("a quiet loop: %v", err)
			return
		}
		w.check()
		if len(told) == 0 {
			break
		}
	}
	base := w.at("main").tree()
	for _, m := range w.repo.OpenMergeRequests() {
		isFree := slices.Contains(m.Labels, "lgtm") && !slices.Contains(m.Labels, "bot/hold")
		if d := w.prove(base, queue.Request{Head: m.Head}).Decide(queue.Pair{Head: m.Head, Base: base}); isFree &&
			d.State.MayMerge() {
			w.t.Errorf("!%d is left: %+v", m.IID, d)
		}
	}
}

// While another loop owns the branch a round does nothing, and takes the branch over when the other one is dead.
func TestOwned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newQueueWorld(t, 1)
		w.open()
		limit := lease.Limit{Key: "merge-queue/group/project main", Max: 1, TTL: queue.ClaimTime}
		if _, err := lease.Acquire(t.Context(), w.store, limit); err != nil {
			t.Fatal(err)
		}
		before := len(w.server.Requests())
		_, err := w.loop(t.Context(), nil)
		if !errors.Is(err, forge.ErrOwned) || forge.Status(err) != 0 || len(w.server.Requests()) != before {
			t.Errorf("got %v after %d requests", err, len(w.server.Requests())-before)
		}
		r := forge.Round{Acting: forge.Acting{Forge: forge.Forge{Client: w.client, Target: "main"}, Tool: "prcheck",
			TreeOf: func(_ context.Context, commit string) (string, error) { return w.at(commit).tree(), nil }},
			Store: w.store, Branch: "group/project main", Prove: w.prove, Wait: 2 * queue.ClaimTime}
		if done, err := r.Run(t.Context()); err != nil || len(done.Outcome.Standings) != 1 {
			t.Errorf("the branch of a dead loop: %+v, %v", done, err)
		}
	})
}

// Without the state nothing is merged, and nothing is asked.
func TestWithoutState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newQueueWorld(t, 1)
		w.open()
		w.store = state.ReadOnly(w.store)
		_, err := w.loop(t.Context(), nil)
		if !errors.Is(err, state.ErrReadOnly) || forge.Status(err) != 3 || len(w.server.Requests()) != 0 {
			t.Errorf("got %v after %d requests", err, len(w.server.Requests()))
		}
	})
}
