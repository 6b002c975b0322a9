package reconcile_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/natives/reconcile"
)

// A doer calls a function for each write; nothing is there.
type doer func(reconcile.Key) error

func (doer) Read(context.Context, reconcile.Key) (*reconcile.Thing, error) { return nil, nil }

func (d doer) Write(_ context.Context, s reconcile.Step, _ *reconcile.Thing, _ reconcile.Mark) error {
	return d(s.Key)
}

// creating returns a plan that creates things; each needs the one before.
func creating(keys ...reconcile.Key) *reconcile.Plan {
	in := reconcile.Input{Owner: reconcile.Owner{Integration: "x", Caller: "a"}, Class: reconcile.Blind, Compare: never}
	for i, k := range keys {
		it := reconcile.Item{Key: k}
		if i > 0 {
			it.Needs = []reconcile.Key{keys[i-1]}
		}
		in.Desired = append(in.Desired, it)
	}
	return reconcile.Make(in)
}

func TestExecute(t *testing.T) {
	for _, c := range []struct {
		name   string
		write  func(reconcile.Key) error
		want   []reconcile.Status
		error  string
		class  reconcile.FailureClass
		cancel bool
	}{
		{name: "all is done", write: func(reconcile.Key) error { return nil },
			want: []reconcile.Status{reconcile.StatusDone, reconcile.StatusDone, reconcile.StatusDone}},
		{name: "what needs a failed step is not run", write: func(k reconcile.Key) error {
			if k == "b" {
				return errors.New("no room")
			}
			return nil
		}, want: []reconcile.Status{reconcile.StatusDone, reconcile.StatusFailed, reconcile.StatusNotRun},
			error: "b: create: no room\nc: create: not run: \"b\" failed", class: reconcile.ClassTask},
		{name: "a panic is a failure", write: func(reconcile.Key) error { panic("oops") },
			want:  []reconcile.Status{reconcile.StatusFailed, reconcile.StatusNotRun, reconcile.StatusNotRun},
			error: "a: create: panic at reconcile_test.TestExecute.func3, line ", class: reconcile.ClassTask},
		{name: "others change it all the time", write: func(reconcile.Key) error { return reconcile.ErrConflict },
			want:  []reconcile.Status{reconcile.StatusFailed, reconcile.StatusNotRun, reconcile.StatusNotRun},
			error: "a: create: somebody else changed it in the meantime\n", class: reconcile.ClassTransient},
		{name: "the data are wrong", write: func(reconcile.Key) error {
			return reconcile.Config(errors.New("400 Bad Request"))
		},
			want: []reconcile.Status{reconcile.StatusFailed, reconcile.StatusNotRun, reconcile.StatusNotRun}, error: "400",
			class: reconcile.ClassConfig},
		{name: "it was canceled", write: func(reconcile.Key) error { return nil }, cancel: true,
			want:  []reconcile.Status{reconcile.StatusNotRun, reconcile.StatusNotRun, reconcile.StatusNotRun},
			error: "a: create: not run: context canceled\n", class: reconcile.ClassTransient},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.cancel {
				cancel()
			}
			told := 0
			results, err := reconcile.Execute(ctx, creating("a", "b", "c"), doer(c.write), nil,
				reconcile.Options{Limit: 3, Done: func(reconcile.Result) { told++ }})
			for i, r := range results {
				if r.Status != c.want[i] {
					t.Errorf("%s ended as %s (%v), want %s", r.Step.Key, r.Status, r.Err, c.want[i])
				}
			}
			for _, r := range results {
				if r.Err != nil && strings.Contains(r.Err.Error(), "not run") {
					t.Errorf("the error of %s says its status again: %v", r.Step.Key, r.Err)
				}
			}
			if told != len(results) {
				t.Errorf("%d results were told of, want %d", told, len(results))
			}
			if (err == nil) != (c.error == "") ||
				err != nil && (!strings.Contains(err.Error(), c.error) || reconcile.ClassOf(err) != c.class) {
				t.Errorf("got %v of class %s, want %q of class %s", err, reconcile.ClassOf(err), c.error, c.class)
			}
		})
	}
}

// A step is tried five times when others change its thing, and not again when it worked.
func TestConflicts(t *testing.T) {
	for _, conflicts := range []int{0, 1, 4, 5} {
		tries := 0
		_, err := reconcile.Execute(t.Context(), creating("a"), doer(func(reconcile.Key) error {
			if tries++; tries <= conflicts {
				return reconcile.ErrConflict
			}
			return nil
		}), nil, reconcile.Options{Limit: 1})
		if want := min(conflicts+1, 5); tries != want || (err != nil) != (conflicts == 5) {
			t.Errorf("%d conflicts: tried %d times, %v", conflicts, tries, err)
		}
	}
}

// A failure that passes by itself and a failure of the data are together one of the data, also
// for those who only know the method FailureClass.
func TestWorstClass(t *testing.T) {
	in := reconcile.Input{Owner: reconcile.Owner{Integration: "x", Caller: "a"}, Class: reconcile.Blind, Compare: never,
		Desired: []reconcile.Item{{Key: "a"}, {Key: "b"}}}
	for _, c := range []struct {
		b    error
		want reconcile.FailureClass
	}{{reconcile.Config(errors.New("400")), reconcile.ClassConfig}, {errors.New("500"), reconcile.ClassTask},
		{reconcile.ErrConflict, reconcile.ClassTransient}} {
		_, err := reconcile.Execute(t.Context(), reconcile.Make(in), doer(func(k reconcile.Key) error {
			if k == "a" {
				return reconcile.Transient(errors.New("503"))
			}
			return c.b
		}), nil, reconcile.Options{})
		var classed interface{ FailureClass() string }
		if !errors.As(err, &classed) || classed.FailureClass() != string(c.want) || reconcile.ClassOf(err) != c.want {
			t.Errorf("%v has class %q, want %q", err, reconcile.ClassOf(err), c.want)
		}
	}
}

func TestEach(t *testing.T) {
	errs, err := reconcile.Each(t.Context(), []string{"a", "b", "c", "d"}, 9, time.Millisecond,
		func(ctx context.Context, shard string, workers int) error {
			if workers != 2 {
				t.Errorf("shard %s has %d workers, want 2", shard, workers)
			}
			switch shard {
			case "a":
				panic("oops")
			case "b":
				<-ctx.Done()
				return ctx.Err()
			case "c":
				return errors.New("no room")
			}
			return nil
		})
	if err != nil || len(errs) != 4 || errs[0] == nil ||
		!strings.HasPrefix(errs[0].Error(), "panic at reconcile_test.TestEach.func1, line ") ||
		!errors.Is(errs[1], context.DeadlineExceeded) || errs[2] == nil || errs[3] != nil {
		t.Errorf("got %v, %v", errs, err)
	}
	if _, err := reconcile.Each(t.Context(), nil, 9, 0, nil); !errors.Is(err, reconcile.ErrNoShards) {
		t.Errorf("no shards: got %v", err)
	}
}

// Many entries that need each other in one long row, and in one large circle.
func TestManyItems(t *testing.T) {
	n := 30_000
	if testing.Short() {
		n = 2_000
	}
	key := func(i int) reconcile.Key {
		return reconcile.Key(strings.Repeat("x", 5) + string(rune('a'+i%26)) + time.Duration(i).String())
	}
	in := reconcile.Input{Owner: reconcile.Owner{Integration: "x", Caller: "a"}, Class: reconcile.Blind, Compare: never}
	for i := range n {
		in.Desired = append(in.Desired, reconcile.Item{Key: key(i), Needs: []reconcile.Key{key((i + 1) % n)}})
	}
	p := reconcile.Make(in)
	if len(p.Findings) != 1 || p.Findings[0].Code != reconcile.CodeCycle || len(p.Findings[0].Keys) != n {
		t.Errorf("the circle gives %d findings", len(p.Findings))
	}
	in.Desired[n-1].Needs = nil
	p = reconcile.Make(in)
	first, _ := stepOf(p, key(n-1))
	last, _ := stepOf(p, key(0))
	if len(p.Findings) != 0 || first.Wave != 1 || last.Wave != n {
		t.Errorf("the row gives %d findings, and waves from %d to %d", len(p.Findings), first.Wave, last.Wave)
	}
}

// Nothing to do for 10,000 things.
func BenchmarkPlan(b *testing.B) {
	me := reconcile.Owner{Integration: "x", Caller: "a", Callers: []string{"a"}}
	in := reconcile.Input{Owner: me, Class: reconcile.Listing, Compare: same,
		Gate: reconcile.Gate{Limits: reconcile.DefaultLimits()}}
	for i := range 10_000 {
		k := reconcile.Key(time.Duration(i).String())
		in.Desired = append(in.Desired, reconcile.Item{Key: k, Body: i})
		in.Current = append(in.Current, reconcile.Thing{Key: k, Body: i, Mark: me.Mark()})
	}
	b.ReportAllocs()
	for b.Loop() {
		if p := reconcile.Make(in); p.Failed() {
			b.Fatal(p.Findings)
		}
	}
}
