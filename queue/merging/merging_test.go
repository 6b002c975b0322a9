package merging_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/queue"
	"github.com/app-sre/prcheck/queue/merging"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/statetest"
)

// A script plays a forge: its answers are given, and its calls are noted. A commit "c" has the tree "tree of c".
type script struct {
	moment  queue.Moment
	polls   []queue.RebasePoll
	merges  []int // statuses of the answers
	after   []merging.Aftermath
	calls   []string
	records []string // what was recorded when each call came
	store   *statetest.Memory
}

func (s *script) call(what string) {
	s.calls = append(s.calls, what)
	for _, text := range s.store.Documents() {
		s.records = append(s.records, text)
	}
}

func (s *script) Moment(context.Context, int, queue.Proven) (queue.Moment, error) {
	return s.moment, nil
}

func (s *script) Poll(context.Context, int) (queue.RebasePoll, error) {
	p := s.polls[0]
	s.polls = s.polls[1:]
	s.moment.Head = p.Head
	return p, nil
}

func (s *script) After(context.Context, int, string) (merging.Aftermath, error) {
	if len(s.after) == 0 {
		return merging.Aftermath{}, errors.New("no answer")
	}
	a := s.after[0]
	s.after = s.after[1:]
	return a, nil
}

func (s *script) Rebase(_ context.Context, number int) int {
	s.call(fmt.Sprintf("rebase !%d", number))
	return 202
}

func (s *script) Publish(_ context.Context, head string) error {
	s.call("publish " + head)
	return nil
}

func (s *script) Merge(_ context.Context, number int, c queue.MergeCall) int {
	s.call(fmt.Sprintf("merge !%d %s", number, c.SHA))
	code := s.merges[0]
	s.merges = s.merges[1:]
	return code
}

// merger returns a merger whose branch is at the commit base.
func (s *script) merger(t *testing.T) merging.Merger {
	t.Helper()
	if s.store == nil {
		s.store = statetest.NewMemory()
	}
	owner, err := merging.Own(t.Context(), s.store, "p main")
	if err != nil {
		t.Fatal(err)
	}
	m := merging.Merger{Reader: s, Writer: s, Owner: owner, Pause: time.Second,
		TreeOf: func(_ context.Context, commit string) (string, error) { return "tree of " + commit, nil }}
	if _, err := m.Begin(t.Context(), "base", nil); err != nil {
		t.Fatal(err)
	}
	return m
}

// good is a script of one merge without trouble.
func good() *script {
	return &script{moment: queue.Moment{Target: "base", Head: "head", IsApproved: true},
		polls: []queue.RebasePoll{{IsUnderWay: true}, {Head: "head2", Tree: "made"}}, merges: []int{200},
		after: []merging.Aftermath{{After: queue.After{State: "merged", TargetTree: "made"}, Commit: "head2"}}}
}

var accepted = []merging.Accepted{{Number: 3, Proven: queue.Proven{Pair: queue.Pair{Head: "head", Base: "tree of base"},
	Tree: "made"}}}

// A merge is a rebase, a comparison of trees and a merge by the new head, each recorded before.
func TestMerge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := good()
		m := s.merger(t)
		m.NeedsStatus = true
		told, err := m.Merge(t.Context(), accepted)
		if err != nil || len(told) != 1 || told[0].Merged == nil || told[0].Merged.Commit != "head2" {
			t.Fatalf("got %+v, %v", told, err)
		}
		if want := []string{"rebase !3", "publish head2", "merge !3 head2"}; !slices.Equal(s.calls, want) {
			t.Errorf("calls %q, want %q", s.calls, want)
		}
		for i, kind := range []string{`"call":"rebase"`, `"call":"publish"`, `"call":"merge"`} {
			if !strings.Contains(s.records[i], kind) {
				t.Errorf("%s came before its record: %s", s.calls[i], s.records[i])
			}
		}
		if r := m.Owner.Record(); r.Intent != nil || r.Base != "head2" || len(r.Merged) != 1 {
			t.Errorf("the record is %+v", r)
		}
	})
}

// What is not as it was proven is not merged, and those behind it are not either.
func TestNotMerged(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*script)
		calls  []string
		ends   bool
	}{
		"another tree": {func(s *script) { s.polls[1].Tree = "other" }, []string{"rebase !3"}, false},
		"a conflict":   {func(s *script) { s.polls[1].Error = "Rebase failed" }, []string{"rebase !3"}, false},
		"held":         {func(s *script) { s.moment.IsHeld = true }, nil, false},
		"pushed":       {func(s *script) { s.moment.Head = "head3" }, nil, false},
		"the branch moved": {func(s *script) { s.moment.Target, s.moment.IsDescendant = "b", true }, nil,
			false},
		"trains":       {func(s *script) { s.moment.TrainsOn = true }, nil, true},
		"on top of it": {func(s *script) { s.moment.IsOnTop = true }, nil, false},
		"no rights":    {func(s *script) { s.merges[0] = 403 }, []string{"rebase !3", "merge !3 head2"}, true},
		"409":          {func(s *script) { s.merges[0] = 409 }, []string{"rebase !3", "merge !3 head2"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := good()
				c.change(s)
				m := s.merger(t)
				told, err := m.Merge(t.Context(), append(accepted, merging.Accepted{Number: 4}))
				var end *merging.EndError
				if len(told) != 1 || told[0].Merged != nil || errors.As(err, &end) != c.ends || !c.ends && err != nil {
					t.Errorf("got %+v, %v", told, err)
				}
				if !slices.Equal(s.calls, c.calls) {
					t.Errorf("calls %q, want %q", s.calls, c.calls)
				}
				if r := m.Owner.Record(); r.Intent != nil || r.Base != "base" {
					t.Errorf("the record is %+v", r)
				}
			})
		})
	}
}

// Something proven on another base than the branch has is looked at again.
func TestProvenElsewhere(t *testing.T) {
	s := good()
	m := s.merger(t)
	other := slices.Clone(accepted)
	other[0].Base = "tree of another"
	told, err := m.Merge(t.Context(), other)
	if err != nil || len(told) != 1 || told[0].Merged != nil || !told[0].Reaction.Has(queue.LookAgain) || s.calls != nil {
		t.Errorf("got %+v, %v, calls %q", told, err, s.calls)
	}
}

// A merge whose answer is lost is read, and sent again if it did not happen, at most three times.
func TestLostAnswers(t *testing.T) {
	opened := merging.Aftermath{After: queue.After{State: "opened"}}
	done := good().after[0]
	for name, c := range map[string]struct {
		merges   []int
		after    []merging.Aftermath
		isMerged bool
	}{
		"it happened":          {[]int{0}, []merging.Aftermath{done}, true},
		"it did not, then did": {[]int{502, 200}, []merging.Aftermath{opened, done}, true},
		"it never does":        {[]int{500, 500, 500, 500}, []merging.Aftermath{opened, opened, opened, opened}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := good()
				s.merges, s.after = c.merges, c.after
				m := s.merger(t)
				told, err := m.Merge(t.Context(), accepted)
				if err != nil || len(told) != 1 || (told[0].Merged != nil) != c.isMerged || len(s.calls) > 4 {
					t.Errorf("got %+v, %v, calls %q", told, err, s.calls)
				}
			})
		})
	}
}

// After a merge that made something else the loop ends.
func TestWrongTree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := good()
		s.after[0].TargetTree = "other"
		m := s.merger(t)
		_, err := m.Merge(t.Context(), append(accepted, merging.Accepted{Number: 4}))
		var end *merging.EndError
		if !errors.As(err, &end) || end.Reaction.Status != 3 || len(s.calls) != 2 {
			t.Errorf("got %v, calls %q", err, s.calls)
		}
	})
}

// A loop whose merge could not be read leaves its record, and the next one finds out what became of it.
func TestResume(t *testing.T) {
	for name, isMerged := range map[string]bool{"it was merged": true, "it was not": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := good()
				done := s.after[0]
				s.after = nil
				m := s.merger(t)
				if _, err := m.Merge(t.Context(), accepted); err == nil {
					t.Fatal("the merge could not be read, and that is no error")
				}
				if s.after = []merging.Aftermath{done}; !isMerged {
					s.after[0].State = "opened"
				}
				owner, err := merging.Own(t.Context(), s.store, "p main")
				if err != nil {
					t.Fatal(err)
				}
				next := m
				next.Owner = owner
				told, err := next.Resume(t.Context())
				if err != nil || (told != nil) != isMerged {
					t.Errorf("got %+v, %v", told, err)
				}
				if r := owner.Record(); r.Intent != nil || (r.Base == "head2") != isMerged {
					t.Errorf("the record is %+v", r)
				}
				if err := m.Owner.Write(t.Context(), func(*merging.Record) {}); !errors.Is(err, merging.ErrFenced) {
					t.Errorf("the loop before writes: %v", err)
				}
			})
		})
	}
}

// A loop that lost the branch calls nothing more.
func TestFencing(t *testing.T) {
	s := good()
	m := s.merger(t)
	if _, err := merging.Own(t.Context(), s.store, "p main"); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Merge(t.Context(), accepted); !errors.Is(err, merging.ErrFenced) || s.calls != nil {
		t.Errorf("got %v, calls %q", err, s.calls)
	}
}

// A record that was lost begins anew, and a loop of before does not take it for its own.
func TestLostRecord(t *testing.T) {
	s := good()
	m := s.merger(t)
	for key := range s.store.Documents() {
		if err := s.store.Remove(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	other, err := merging.Own(t.Context(), s.store, "p main")
	if err != nil || other.Record().Fence != m.Owner.Record().Fence {
		t.Fatalf("got %+v, %v", other.Record(), err)
	}
	if _, err := m.Merge(t.Context(), accepted); !errors.Is(err, merging.ErrFenced) || s.calls != nil {
		t.Errorf("got %v, calls %q", err, s.calls)
	}
}

// A branch that no longer has what it had drops everything.
func TestReset(t *testing.T) {
	s := good()
	m := s.merger(t)
	for has, want := range map[bool]queue.Step{true: queue.PlanOn, false: queue.DropProofs} {
		r, err := m.Begin(t.Context(), fmt.Sprint("other ", has), func(context.Context, string, string) (bool, error) {
			return has, nil
		})
		if err != nil || !r.Has(want) {
			t.Errorf("got %+v, %v, want %s", r, err, want)
		}
	}
}

// A state that is damaged, newer, of another branch or gone merges nothing, and stays as it is.
func TestBadState(t *testing.T) {
	for name, text := range map[string]string{"damaged": "{", "newer": `{"version":"merge-queue/v9","fence":1,"branch":"p main"}`,
		"another branch": `{"version":"merge-queue/v1","fence":1,"holder":"x","branch":"q main"}`, "no fence": `{"version":"merge-queue/v1"}`} {
		s := statetest.NewMemory()
		key := "merge-queue/" + state.Name("p main") + ".json"
		if err := s.Write(t.Context(), key, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if _, err := merging.Own(t.Context(), s, "p main"); err == nil {
			t.Errorf("%s: it is owned", name)
		}
		if raw, err := s.Read(t.Context(), key); err != nil || string(raw) != text {
			t.Errorf("%s: it is %s now, %v", name, raw, err)
		}
	}
	s := good()
	m := s.merger(t)
	for key := range s.store.Documents() {
		if err := s.store.Remove(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.Merge(t.Context(), accepted); err == nil || s.calls != nil {
		t.Errorf("the state is gone: %v, calls %q", err, s.calls)
	}
}
