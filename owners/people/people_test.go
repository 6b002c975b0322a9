package people

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/app-sre/prcheck/internal/shared"
)

// An approversCase is who may approve what, and whom to ask.
type approversCase struct {
	Input struct {
		Needs        map[string][]string
		Approved     map[string][]string
		Author       string
		AuthorCounts *bool `json:"author_counts"`
		Absent       []string
		Show         int
	}
	Expected struct {
		Sets   [][]string
		Size   int
		Nobody []string
		Why    string
	}
}

// The smallest sets are those of the recorded cases.
func TestApproverCases(t *testing.T) {
	shared.Each(t, "owners_approvers", func(t *testing.T, c approversCase) {
		q := Question{Needs: c.Input.Needs, Approved: c.Input.Approved, Author: c.Input.Author, Absent: c.Input.Absent,
			Show: c.Input.Show}
		q.AuthorCounts = c.Input.AuthorCounts == nil || *c.Input.AuthorCounts
		got := Find(q)
		if len(got.Sets)+len(c.Expected.Sets) > 0 && !reflect.DeepEqual(got.Sets, c.Expected.Sets) ||
			got.Size != c.Expected.Size ||
			!slices.Equal(got.Nobody, c.Expected.Nobody) {
			t.Errorf("got %+v, want %+v", got, c.Expected)
		}
	})
}

// random makes a question with a number of people and places.
func random(r *rand.Rand, people, places int) Question {
	q := Question{Needs: map[string][]string{}, AuthorCounts: true}
	for i := range places {
		var who []string
		for range 1 + r.IntN(4) {
			who = append(who, fmt.Sprintf("p%03d", r.IntN(people)))
		}
		q.Needs[fmt.Sprint(i)] = who
	}
	return q
}

// smallest tries all sets of people.
func smallest(q Question) int {
	var names []string
	for _, who := range q.Needs {
		names = append(names, who...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	best := len(names)
	for set := range 1 << len(names) {
		size := 0
		for i := range names {
			size += set >> i & 1
		}
		reaches := true
		for _, who := range q.Needs {
			reaches = reaches && slices.ContainsFunc(who, func(name string) bool {
				return set>>slices.Index(names, name)&1 == 1
			})
		}
		if reaches {
			best = min(best, size)
		}
	}
	return best
}

// Sets of up to 12 people are as small as any set that reaches all places, and they reach all places.
func TestSmallest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 37))
	for range 2000 {
		q := random(r, 1+r.IntN(12), 1+r.IntN(9))
		got := Find(q)
		if want := smallest(q); got.Size != want || got.AtLeast != want {
			t.Fatalf("%v: %d people, want %d", q.Needs, got.Size, want)
		}
		for _, set := range got.Sets {
			if !reachesAll(q, set) {
				t.Fatalf("%v: %v does not reach all places", q.Needs, set)
			}
		}
	}
}

func reachesAll(q Question, set []string) bool {
	for _, who := range q.Needs {
		if !slices.ContainsFunc(who, func(name string) bool { return slices.Contains(set, name) }) {
			return false
		}
	}
	return true
}

// The way for many people finds sets that reach all places, never says that more people are needed than are, and is
// at most one person off for a few.
func TestReductions(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 37))
	for range 2000 {
		q := random(r, 1+r.IntN(12), 1+r.IntN(9))
		open, _ := q.open()
		s := newSearch(open, q)
		set, atLeast := s.many()
		if want := smallest(q); atLeast > want || len(set) > want+1 || !reachesAll(q, s.named(set)) {
			t.Fatalf("%v: %v, at least %d, want %d", q.Needs, s.named(set), atLeast, want)
		}
	}
}

// Many people and places take little time, and the set is at most a tenth larger than the bound.
func TestManyPeople(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 37))
	for range 20 {
		q := random(r, 300, 200)
		start := time.Now()
		got := Find(q)
		if took := time.Since(start); took > time.Second {
			t.Errorf("it took %s", took)
		}
		if !reachesAll(q, got.Sets[0]) || got.AtLeast > got.Size || 10*got.Size > 11*got.AtLeast {
			t.Errorf("%d people, at least %d", got.Size, got.AtLeast)
		}
		t.Logf("%d people, at least %d", got.Size, got.AtLeast)
	}
}

// Those who are absent, and the author, are asked last.
func TestAskedLast(t *testing.T) {
	q := Question{Needs: map[string][]string{"a": {"ann", "bob", "zoe"}}, Absent: []string{"ann"}, Author: "bob",
		AuthorCounts: true}
	if got, want := Find(q).Sets, [][]string{{"zoe"}, {"ann"}, {"bob"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
