package native_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
)

// A random world: some shards with books, some of which are there already.
type random struct {
	*rand.Rand
	data  map[string]map[string]string
	shelf *shelf
}

func newRandom(seed uint64) *random {
	r := &random{rand.New(rand.NewPCG(seed, 1)), map[string]map[string]string{},
		&shelf{things: map[reconcile.Key]reconcile.Thing{}}}
	for i := range 1 + r.IntN(4) {
		shard := fmt.Sprintf("s%d", i)
		r.data[shard] = map[string]string{}
		for j := range r.IntN(6) {
			r.data[shard][fmt.Sprintf("%s-%d", shard, j)] = r.title()
		}
		for j := range r.IntN(8) {
			k := reconcile.Key(fmt.Sprintf("%s-%d", shard, j))
			mark := reconcile.Mark{Integration: "books", Caller: shard}
			switch r.IntN(6) {
			case 0:
				mark = reconcile.Mark{}
			case 1:
				mark.Integration = "papers"
			case 2:
				mark.Caller = "gone"
			}
			r.shelf.things[k] = reconcile.Thing{Key: k, Body: r.title(), Mark: mark}
		}
	}
	return r
}

// title returns a title, "!" for a book that must go.
func (r *random) title() string { return []string{"Atlas", "Bible", "Comic", "!"}[r.IntN(4)] }

func (r *random) json(t *testing.T) string {
	t.Helper()
	raw, err := json.Marshal(r.data)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// wide are settings whose limits refuse no deletion.
func wide(e *integration.Environment) {
	n, all := 1000, 100
	e.Settings.Deletes = settings.Deletes{Max: &n, Percent: &all, Floor: &n}
}

// effects returns the effects of a dry run, sorted.
func (r *random) effects(t *testing.T, base string, change func(*integration.Environment)) []string {
	t.Helper()
	before := r.shelf.writes
	said, err := r.shelf.run(t, base, r.json(t), true, change)
	if err != nil && !strings.Contains(err.Error(), "there is no shard") {
		t.Fatal(err)
	}
	if r.shelf.writes != before {
		t.Fatal("a dry run has written")
	}
	var out []string
	for line := range strings.SplitSeq(said, "\n") {
		if _, subject, ok := strings.Cut(line, " "); ok && !strings.Contains(subject, " ") {
			out = append(out, line)
		}
	}
	slices.Sort(out)
	return out
}

// For every world: a dry run writes nothing and says what the run does; the run converges; the
// shards and the static shards together do what the whole does.
func TestLaws(t *testing.T) {
	worlds := uint64(1000)
	if testing.Short() {
		worlds = 300
	}
	for seed := range worlds {
		r := newRandom(seed)
		whole := r.effects(t, "", wide)
		var shards, static []string
		for _, shard := range slices.Sorted(maps.Keys(r.data)) {
			shards = append(shards, r.effects(t, "", func(e *integration.Environment) { wide(e); e.Shard = shard })...)
		}
		for i := range 3 {
			static = append(static, r.effects(t, "", func(e *integration.Environment) {
				wide(e)
				e.Static = plan.Fraction{Part: i + 1, Of: 3}
			})...)
		}
		slices.Sort(shards)
		slices.Sort(static)
		hasEmpty := slices.ContainsFunc(slices.Collect(maps.Values(r.data)), func(m map[string]string) bool {
			return len(m) == 0
		})
		if !slices.Equal(whole, shards) {
			t.Fatalf("world %d: the shards do %q, the whole %q", seed, shards, whole)
		}
		// A static shard in which nothing is desired deletes nothing, so it may do less.
		if left := slices.DeleteFunc(slices.Clone(static), func(e string) bool {
			return slices.Contains(whole, e)
		}); len(left) > 0 {
			t.Fatalf("world %d: only static shards do %q", seed, left)
		}
		if missing := missing(whole, static); len(missing) > 0 && !hasEmpty &&
			slices.ContainsFunc(missing, func(e string) bool { return !strings.HasPrefix(e, "delete ") }) {
			t.Fatalf("world %d: static shards do not %q", seed, missing)
		}
		before := maps.Clone(r.shelf.things)
		if _, err := r.shelf.run(t, "", r.json(t), false, wide); err != nil {
			t.Fatalf("world %d: %v", seed, err)
		}
		if done := changes(before, r.shelf.things); !slices.Equal(done, whole) {
			t.Fatalf("world %d: the run does %q, the dry run says %q", seed, done, whole)
		}
		for range 2 { // a thing that was taken over is deleted by the run after it
			if _, err := r.shelf.run(t, "", r.json(t), false, wide); err != nil {
				t.Fatal(err)
			}
		}
		if left := r.effects(t, "", wide); len(left) > 0 {
			t.Fatalf("world %d: in the end there is still to do %q", seed, left)
		}
		for k, th := range before {
			if (th.Mark == reconcile.Mark{} || th.Mark.Integration == "papers") && !reflect.DeepEqual(r.shelf.things[k], th) {
				t.Fatalf("world %d: %s of somebody else was changed", seed, k)
			}
		}
	}
}

func missing(want, got []string) []string {
	return slices.DeleteFunc(slices.Clone(want), func(e string) bool { return slices.Contains(got, e) })
}

// changes returns how two shelves differ, in the words of effects.
func changes(before, after map[reconcile.Key]reconcile.Thing) []string {
	var out []string
	for k, b := range after {
		switch a, ok := before[k]; {
		case !ok:
			out = append(out, "create "+string(k))
		case a.Body != b.Body || a.Mark != b.Mark:
			out = append(out, "change "+string(k))
		}
	}
	for k := range before {
		if _, ok := after[k]; !ok {
			out = append(out, "delete "+string(k))
		}
	}
	slices.Sort(out)
	return out
}

// For every change of the data: if the desired states are equal, the dry run of the change says
// what the dry run of base says. This is what a skip relies on.
func TestEqualDesiredStatesDoTheSame(t *testing.T) {
	equal := 0
	for seed := range uint64(400) {
		r := newRandom(seed)
		base := r.json(t)
		before := r.effects(t, base, wide)
		if seed%2 == 0 { // most changes of the data are changes of the state
			shard := slices.Sorted(maps.Keys(r.data))[0]
			r.data[shard][fmt.Sprintf("%s-%d", shard, r.IntN(6))] = r.title()
		}
		same := stateText(t, r.shelf, base) == stateText(t, r.shelf, r.json(t))
		if same {
			equal++
		}
		if after := r.effects(t, base, wide); same && !slices.Equal(before, after) {
			t.Fatalf("world %d: equal states, and the dry runs say %q and %q", seed, before, after)
		}
	}
	if equal < 200 || equal == 400 {
		t.Errorf("%d of 400 changes keep the state", equal)
	}
}

// stateText returns the desired state of some data as JSON.
func stateText(t *testing.T, s *shelf, data string) string {
	t.Helper()
	stater, ok := s.books().(integration.Stater)
	if !ok {
		t.Fatal("it has no desired state")
	}
	v, err := stater.DesiredState(t.Context(), answer(data), settings.Integration{})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// An error of the data is one for the whole, whatever the side.
func TestUnreadableData(t *testing.T) {
	s := &shelf{things: map[reconcile.Key]reconcile.Thing{}}
	broken := func(context.Context, string, map[string]any) ([]byte, error) { return nil, errors.New("status 503") }
	said, err := s.run(t, "", `{}`, true, func(e *integration.Environment) { e.Query = broken })
	if err == nil || !strings.Contains(err.Error(), "status 503") || said != "" {
		t.Errorf("head: got %q, %v", said, err)
	}
	// Without base nobody knows which targets may be asked.
	said, err = s.run(t, "", `{"north":{"a":"x"}}`, true, func(e *integration.Environment) { e.Base = broken })
	if err != nil || !strings.Contains(said, "warning BASE_UNREADABLE") || !strings.Contains(said, "note NEW_TARGET") ||
		strings.Contains(said, "create") {
		t.Errorf("base: got %q, %v", said, err)
	}
}

// The log of a dry run has what people must know, and ends with a summary. A failure on base is
// compared with it, so it is never empty.
func TestLog(t *testing.T) {
	var log bytes.Buffer
	s := &shelf{things: map[reconcile.Key]reconcile.Thing{}, broken: "north"}
	data := `{"north": {"a": "Atlas"}, "south": {"b": "Bible", "c": "?"}}`
	_, _ = s.run(t, "", data, true, func(e *integration.Environment) { e.Log = &log })
	want := "error UNREACHABLE north: nobody answers\nerror VAL_TYPE c: ?\ncreate b: it is not there\nsteps: 1 blocked, 1 create; errors: 2\n"
	if log.String() != want {
		t.Errorf("got %q, want %q", &log, want)
	}
	log.Reset()
	_, _ = s.run(t, "", `{"north": {}}`, true, func(e *integration.Environment) { e.Log = &log })
	if log.String() != "error UNREACHABLE north: nobody answers\nerrors: 1\n" {
		t.Errorf("got %q", &log)
	}
	s.broken = ""
	_, _ = s.run(t, "", `{"north": {}}`, true, func(e *integration.Environment) { e.Log = &log })
	if !strings.HasSuffix(log.String(), "\nnothing to do\n") {
		t.Errorf("got %q", &log)
	}
}
