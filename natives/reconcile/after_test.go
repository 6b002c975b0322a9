package reconcile_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/natives/reconcile"
)

// afterWaits runs a caller with faults. What an entry says about what comes before it is read from
// the data, and not from the plan.
func afterWaits(t *testing.T, newScene func() *scene) string {
	t.Helper()
	s := newScene()
	s.faults = 0.3
	caller := s.live[0]
	p, results := s.run(t.Context(), caller)
	for _, it := range s.desired[caller] {
		if slices.Contains(it.After, it.Key) {
			if step, _ := stepOf(p, it.Key); step.Action.Writes() {
				return fmt.Sprintf("%s comes after itself, and %s is done", it.Key, step.Action)
			}
		}
		i := slices.IndexFunc(results, func(r reconcile.Result) bool { return r.Step.Key == it.Key })
		if it.Delete || i < 0 || !results[i].Step.Action.Writes() {
			continue
		}
		for _, before := range it.After {
			if step, ok := stepOf(p, before); ok && (step.Action == reconcile.Remove || step.Item != nil && step.Item.Delete) {
				continue // deletions come last
			}
			if first, last := slices.Index(s.order, it.Key), lastIndex(s.order, before); first >= 0 && last > first {
				return fmt.Sprintf("%s is written before %s", it.Key, before)
			}
		}
		if needs := failed(results, it.Needs); results[i].Status == reconcile.StatusNotRun && !needs {
			return fmt.Sprintf("%s is not run: %v", it.Key, results[i].Err)
		}
	}
	return ""
}

func lastIndex(keys []reconcile.Key, k reconcile.Key) int {
	for i, other := range slices.Backward(keys) {
		if other == k {
			return i
		}
	}
	return -1
}

// failed reports whether the step of one of some keys failed or was not run.
func failed(results []reconcile.Result, keys []reconcile.Key) bool {
	return slices.ContainsFunc(results, func(r reconcile.Result) bool {
		return slices.Contains(keys, r.Step.Key) && (r.Status == reconcile.StatusFailed || r.Status == reconcile.StatusNotRun)
	})
}

// Each mutant reads an input as a library would that does not know a rule. A law must notice.
func TestInputMutants(t *testing.T) {
	each := func(change func(it *reconcile.Item)) func(reconcile.Input) reconcile.Input {
		return func(in reconcile.Input) reconcile.Input {
			in.Desired = slices.Clone(in.Desired)
			for i := range in.Desired {
				change(&in.Desired[i])
			}
			return in
		}
	}
	for name, mutant := range map[string]func(reconcile.Input) reconcile.Input{
		"what comes before does not count": each(func(it *reconcile.Item) { it.After = nil }),
		"what comes after needs it": each(func(it *reconcile.Item) {
			it.Needs = slices.Concat(it.Needs, it.After)
		}),
		"a mistake of the comparison does not count": func(in reconcile.Input) reconcile.Input {
			compare := in.Compare
			in.Compare = func(want reconcile.Item, is reconcile.Thing, r reconcile.Record) (reconcile.Difference, error) {
				d, err := compare(want, is, r)
				d.Mistake = reconcile.Mistake{}
				return d, err
			}
			return in
		},
	} {
		t.Run(name, func(t *testing.T) { mustBreakBy(t, func(s *scene) { s.rules = mutant }) })
	}
}

// An entry that comes after another one is done also if the other fails, and a circle of both kinds
// is found.
func TestAfter(t *testing.T) {
	in := reconcile.Input{Owner: reconcile.Owner{Integration: "x", Caller: "a"}, Class: reconcile.Blind, Compare: never,
		Desired: []reconcile.Item{
			{Key: "a", After: []reconcile.Key{"b", "b"}, Needs: []reconcile.Key{"b"}},
			{Key: "b", After: []reconcile.Key{"c", "nobody"}},
			{Key: "c"},
			{Key: "x", Needs: []reconcile.Key{"y"}}, {Key: "y", After: []reconcile.Key{"x"}},
		}}
	p := reconcile.Make(in)
	for key, want := range map[reconcile.Key]int{"c": 1, "b": 2, "a": 3, "x": 0, "y": 0} {
		if step, _ := stepOf(p, key); step.Wave != want {
			t.Errorf("%s is in wave %d, want %d", key, step.Wave, want)
		}
	}
	if len(p.Findings) != 1 || p.Findings[0].Code != reconcile.CodeCycle ||
		!slices.Equal(p.Findings[0].Keys, []reconcile.Key{"x", "y"}) {
		t.Errorf("got %+v", p.Findings)
	}
}
