package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

var (
	owner = reconcile.Owner{Integration: "x", Caller: "a", Callers: []string{"a", "b"}}
	us    = reconcile.Mark{Integration: "x", Caller: "a"}
)

// saidOf returns a step of a plan as text.
func saidOf(t *testing.T, p *reconcile.Plan, k reconcile.Key) string {
	t.Helper()
	i := slices.IndexFunc(p.Steps, func(s reconcile.Step) bool { return s.Key == k })
	if i < 0 {
		t.Fatalf("there is no step of %q in %+v", k, p.Steps)
	}
	return strings.TrimSpace(fmt.Sprint(p.Steps[i].Action, " ", p.Steps[i].Code, " ", p.Steps[i].Reason))
}

// What cannot be compared is left alone, and fails the run. Others go on, also the deletions.
func TestCannotBeCompared(t *testing.T) {
	things := map[reconcile.Key]reconcile.Thing{}
	in := reconcile.Input{Owner: owner, Class: reconcile.Listing, Gate: reconcile.Gate{Limits: reconcile.DefaultLimits()},
		Compare: func(want reconcile.Item, _ reconcile.Thing, _ reconcile.Record) (reconcile.Difference, error) {
			if want.Key == "odd" {
				return reconcile.Difference{Changes: []reconcile.Change{{Path: "/x"}}, Replace: true},
					errors.New("it has another form")
			}
			return reconcile.Difference{Changes: []reconcile.Change{{Path: "/x"}}}, nil
		}}
	for _, k := range []reconcile.Key{"odd", "even", "gone"} {
		things[k] = reconcile.Thing{Key: k, Mark: us, Body: 1, Version: "1"}
		in.Current = append(in.Current, things[k])
		if k != "gone" {
			in.Desired = append(in.Desired, reconcile.Item{Key: k, Body: 2})
		}
	}
	p := reconcile.Make(in)
	for k, want := range map[reconcile.Key]string{"odd": "blocked COMPARE it cannot be compared: it has another form",
		"even": "update  it differs", "gone": "delete  no entry names it"} {
		if got := saidOf(t, p, k); got != want {
			t.Errorf("%s: got %s, want %s", k, got, want)
		}
	}
	if !p.Failed() || !slices.ContainsFunc(p.Findings, func(f reconcile.Finding) bool {
		return f.Code == reconcile.CodeCompare && f.Severity == plan.SeverityError &&
			slices.Equal(f.Keys, []reconcile.Key{"odd"})
	}) {
		t.Errorf("the findings are %+v", p.Findings)
	}
	w := &world{things: things}
	if _, err := reconcile.Execute(t.Context(), p, w, nil, reconcile.Options{}); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(w.order, "odd") || len(w.order) != 2 || w.things["odd"].Body != 1 {
		t.Errorf("wrote %q, and it is %+v", w.order, w.things["odd"])
	}
}

// A fate says what becomes of the steps of one plan.
type fate struct {
	*world
	fails map[reconcile.Key]error // of writes
	stays map[reconcile.Key]bool  // it takes long until they are gone
	blind map[reconcile.Key]bool  // nobody can look whether they are gone
	wrote map[reconcile.Key]bool
}

func (f *fate) Read(ctx context.Context, k reconcile.Key) (*reconcile.Thing, error) {
	if f.blind[k] && f.wrote[k] {
		return nil, errFault
	}
	return f.world.Read(ctx, k)
}

func (f *fate) Write(ctx context.Context, s reconcile.Step, fresh *reconcile.Thing, mark reconcile.Mark) error {
	if err := f.fails[s.Key]; err != nil {
		return err
	}
	f.wrote[s.Key] = true
	if f.stays[s.Key] {
		return nil
	}
	return f.world.Write(ctx, s, fresh, mark)
}

// What was done is remembered as it was done, and what was not done is not: what failed, what was not
// run because of that, what is blocked, what others changed since the plan, and what is deleted and
// not gone.
func TestRemembered(t *testing.T) {
	old := reconcile.Record{Applied: 1}
	thing := func(k reconcile.Key) reconcile.Thing { return reconcile.Thing{Key: k, Mark: us, Body: 1, Version: "1"} }
	f := &fate{world: &world{things: map[reconcile.Key]reconcile.Thing{}},
		fails: map[reconcile.Key]error{"fails": errFault},
		stays: map[reconcile.Key]bool{"slow": true}, blind: map[reconcile.Key]bool{"unseen": true},
		wrote: map[reconcile.Key]bool{}}
	in := reconcile.Input{Owner: owner, Class: reconcile.Knowing, Prune: true, Compare: compareBodies,
		Gate: reconcile.Gate{Limits: reconcile.Limits{Max: 10, Percent: 100}}}
	m := &memory{known: map[reconcile.Key]reconcile.Record{}, world: f.world}
	for _, k := range []reconcile.Key{"done", "fails", "after", "odd", "slow", "unseen", "gone"} {
		f.things[k], m.known[k] = thing(k), old
		in.Current = append(in.Current, f.things[k])
	}
	in.Desired = []reconcile.Item{{Key: "done", Body: 3, Policy: reconcile.Detach}, {Key: "new", Body: 3},
		{Key: "fails", Body: 3},
		{Key: "after", Body: 3, Needs: []reconcile.Key{"fails"}},
		{Key: "odd", Mistake: reconcile.Mistake{Code: "X", Message: "a mistake"}}}
	// Since the plan one thing was lost, another one was taken by its next owner, and a third one was made.
	for _, k := range []reconcile.Key{"lost", "taken"} {
		m.known[k] = old
		in.Current = append(in.Current, thing(k))
	}
	for _, k := range []reconcile.Key{"lost", "taken", "made"} {
		in.Desired = append(in.Desired, reconcile.Item{Key: k, Body: 3})
	}
	f.things["taken"] = reconcile.Thing{Key: "taken", Mark: reconcile.Mark{Integration: "x", Caller: "b"}, Body: 1,
		Version: "2"}
	f.things["made"] = thing("made")
	in.Known = m.snapshot()
	_, err := reconcile.Execute(t.Context(), reconcile.Make(in), f, m, reconcile.Options{})
	if text := fmt.Sprint(err); !strings.Contains(text, "unseen: delete: looking whether it is gone: the call failed") ||
		!strings.Contains(text, "fails: update: the call failed") {
		t.Errorf("got %v", err)
	}
	want := map[reconcile.Key]reconcile.Record{"done": {Applied: 3, Policy: reconcile.Detach}, "new": {Applied: 3},
		"fails": old, "after": old, "odd": old, "slow": old, "unseen": old, "lost": old, "taken": old}
	if got := fmt.Sprint(m.known); got != fmt.Sprint(want) {
		t.Errorf("remembered\n%v, want\n%v", got, want)
	}
	f.faults, m.world = 0, &world{faults: 1, random: rand.New(rand.NewPCG(1, 1))}
	in.Desired, in.Current, in.Known = []reconcile.Item{{Key: "late", Body: 3}}, nil, nil
	if _, err := reconcile.Execute(t.Context(), reconcile.Make(in), f, m, reconcile.Options{}); err == nil ||
		!strings.Contains(err.Error(), "late: create: it is done, but not remembered: the call failed") {
		t.Errorf("a state that cannot be written: got %v", err)
	}
}

// The words with which a plan says what stays, and why.
func TestReasons(t *testing.T) {
	foreign := reconcile.Thing{Key: "k"}
	mine := reconcile.Thing{Key: "k", Mark: us, Body: 1}
	for name, c := range map[string]struct {
		item  reconcile.Item
		thing *reconcile.Thing
		want  string
	}{
		"observed": {reconcile.Item{Key: "k", Policy: reconcile.Observe}, &mine,
			"none  its policy is observe"},
		"observed, and not there": {reconcile.Item{Key: "k", Policy: reconcile.Observe}, nil,
			"none  its policy is observe, and it is not there"},
		"of nobody": {reconcile.Item{Key: "k"}, &foreign,
			"blocked NOT_ADOPTED it belongs to nobody: adopt it first"},
		"of nobody, with a way": {reconcile.Item{Key: "k", HowToAdopt: "run x"}, &foreign,
			"blocked NOT_ADOPTED it belongs to nobody: run x"},
		"protected, and it differs": {reconcile.Item{Key: "k", Protected: true}, &mine, "update  it differs"},
		"of another, with that way": {reconcile.Item{Key: "k", HowToAdopt: "run x"},
			&reconcile.Thing{Key: "k", Mark: reconcile.Mark{Integration: "x", Caller: "b"}},
			`blocked OWNED_BY_OTHER it belongs to caller "b"`},
	} {
		in := reconcile.Input{Owner: owner, Class: reconcile.Listing, Compare: differs, Desired: []reconcile.Item{c.item}}
		if c.thing != nil {
			in.Current = []reconcile.Thing{*c.thing}
		}
		if got := saidOf(t, reconcile.Make(in), "k"); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// A thing stays as long as something in it stays that no entry names, whoever it belongs to.
func TestForeignChild(t *testing.T) {
	p := reconcile.Make(reconcile.Input{Owner: owner, Class: reconcile.Listing, Compare: never,
		Gate:    reconcile.Gate{Limits: reconcile.DefaultLimits()},
		Current: []reconcile.Thing{{Key: "room", Mark: us}, {Key: "chair", Parent: "room"}},
		Desired: []reconcile.Item{{Key: "room", Delete: true}}})
	if got := saidOf(t, p, "room"); !strings.HasPrefix(got, "blocked DELETE_WITH_CHILD") {
		t.Errorf("got %s", got)
	}
}

// The gate counts what is ours, and says which limit holds deletions back.
func TestGateSays(t *testing.T) {
	make := func(ours, others, gone int, limits reconcile.Limits) *reconcile.Plan {
		in := reconcile.Input{Owner: owner, Class: reconcile.Listing, Compare: compareBodies,
			Gate: reconcile.Gate{Limits: limits}}
		for i := range ours + others {
			k := reconcile.Key(fmt.Sprintf("k%02d", i))
			mark := us
			if i >= ours {
				mark.Caller = "b"
			}
			in.Current = append(in.Current, reconcile.Thing{Key: k, Mark: mark, Body: 1})
			if i >= gone && i < ours {
				in.Desired = append(in.Desired, reconcile.Item{Key: k, Body: 1})
			}
		}
		return reconcile.Make(in)
	}
	for name, c := range map[string]struct {
		plan *reconcile.Plan
		want string
	}{
		"as much as is allowed": {make(10, 0, 2, reconcile.Limits{Max: 10, Percent: 20}), ""},
		"others do not count": {make(10, 90, 3, reconcile.Limits{Max: 10, Percent: 20}),
			"more deletions (3) than 20 % of the things that are ours (10), and than the floor (0)"},
		"more than max": {make(10, 0, 5, reconcile.Limits{Max: 4, Percent: 100}),
			"more deletions (5) than max allows (4)"},
		"as many as max": {make(10, 0, 4, reconcile.Limits{Max: 4, Percent: 20}),
			"more deletions (4) than 20 % of the things that are ours (10), and than the floor (0)"},
		"as many as the floor": {make(10, 0, 3, reconcile.Limits{Max: 1, Percent: 0, Floor: 3}), ""},
		"one more than the floor": {make(10, 0, 4, reconcile.Limits{Max: 9, Percent: 30, Floor: 3}),
			"more deletions (4) than 30 % of the things that are ours (10), and than the floor (3)"},
	} {
		got := ""
		for _, f := range c.plan.Findings {
			got, _, _ = strings.Cut(f.Message, ": confirm")
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// A change that removes an entry before its thing was deleted is told if nobody would delete it.
func TestRemovedTooEarly(t *testing.T) {
	const early = "this change removes its entry before it was deleted, and then nobody deletes it"
	for class, want := range map[reconcile.Class]bool{reconcile.Blind: true, reconcile.Listing: false,
		reconcile.Knowing: false} {
		for _, isThere := range []bool{true, false} {
			in := reconcile.Input{Owner: owner, Class: class, Compare: never,
				Removed: []reconcile.Item{{Key: "k", Delete: true}}}
			if isThere {
				in.Current = []reconcile.Thing{{Key: "k", Mark: us}}
			}
			told := slices.ContainsFunc(reconcile.Make(in).Findings, func(f reconcile.Finding) bool {
				return f.Message == early
			})
			if told != (want && isThere) {
				t.Errorf("%s, there: %t: told: %t", class, isThere, told)
			}
		}
	}
}

// A migration takes the desired things of one integration, and of no other.
func TestTakeOverFrom(t *testing.T) {
	o := reconcile.Owner{Integration: "x", Caller: "a", From: "old"}
	for name, c := range map[string]struct {
		mark reconcile.Mark
		wish reconcile.Wish
		act  bool
	}{
		"desired, of the old one":     {reconcile.Mark{Integration: "old", Caller: "z"}, reconcile.Wish{Desired: true}, true},
		"not desired, of the old one": {reconcile.Mark{Integration: "old", Caller: "z"}, reconcile.Wish{}, false},
		"desired, of a third one": {reconcile.Mark{Integration: "third", Caller: "a"}, reconcile.Wish{Desired: true},
			false},
		"not desired, of a third one": {reconcile.Mark{Integration: "third", Caller: "a"}, reconcile.Wish{}, false},
	} {
		if v := o.Judge(c.mark, c.wish); v.Act != c.act || v.Owner != reconcile.OtherIntegration {
			t.Errorf("%s: got %+v, want %t", name, v, c.act)
		}
	}
	if v := (reconcile.Owner{Integration: "x"}).Judge(reconcile.Mark{Integration: "", Caller: "z"},
		reconcile.Wish{Desired: true}); v.Act {
		t.Errorf("without a migration: got %+v", v)
	}
}

// Tags have letters, digits and some signs as they are, and everything else as numbers.
func TestEdgesOfTags(t *testing.T) {
	m := reconcile.Mark{Integration: " azAZ09`{@[/:=x ", Caller: strings.Repeat("a", 256)}
	tags, err := m.Tags()
	if err != nil || !slices.Contains(slices.Collect(maps.Values(tags)), "=20azAZ09=60=7B@=5B/:=3Dx=20") ||
		reconcile.MarkOfTags(tags) != m {
		t.Errorf("got %q, %v", tags, err)
	}
	m.Caller += "a"
	if tags, err := m.Tags(); err == nil {
		t.Errorf("a tag of 257 characters: %q", tags)
	}
}

// Nothing joined is no error.
func TestJoinOfNothing(t *testing.T) {
	if err := reconcile.Join(nil, nil); err != nil {
		t.Errorf("got %v", err)
	}
	err := reconcile.Join(nil, errFault, nil)
	if !errors.Is(err, errFault) || err.Error() != "the call failed" {
		t.Errorf("got %v", err)
	}
}

// Entries of one key are named by their files, at most three.
func TestFilesOfDuplicates(t *testing.T) {
	for n, want := range map[int]string{1: "1 entries", 3: "3 entries have this key: /0.yml, /1.yml, /2.yml",
		4: "4 entries have this key: /0.yml, /1.yml, /2.yml, and 1 more"} {
		in := reconcile.Input{Owner: owner, Class: reconcile.Listing, Compare: never}
		for i := range n {
			in.Desired = append(in.Desired, reconcile.Item{Key: "k", Place: plan.Place{File: fmt.Sprintf("/%d.yml", i)}})
		}
		got := ""
		for _, f := range reconcile.Make(in).Findings {
			got = f.Message
		}
		if n > 1 && got != want || n == 1 && got != "" {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}

// Keys that differ in their case are two keys, unless the system takes them for one.
func TestCaseOfKeys(t *testing.T) {
	for _, folds := range []bool{false, true} {
		p := reconcile.Make(reconcile.Input{Owner: owner, Class: reconcile.Listing, Compare: never, FoldCase: folds,
			Desired: []reconcile.Item{{Key: "Key"}, {Key: "key"}}})
		for _, k := range []reconcile.Key{"Key", "key"} {
			if got := saidOf(t, p, k); strings.HasPrefix(got, "blocked DUPLICATE") != folds ||
				strings.HasPrefix(got, "create") == folds {
				t.Errorf("folded: %t: %s is %s", folds, k, got)
			}
		}
	}
}
