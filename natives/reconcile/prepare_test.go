package reconcile_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/natives/reconcile"
)

// Before the first step that writes there is one preparation. Steps that it refuses are not run,
// nor is what needs them.
func TestPrepare(t *testing.T) {
	in := reconcile.Input{
		Owner: reconcile.Owner{Integration: "x", Caller: "a"}, Class: reconcile.Listing, Compare: never,
		Desired: []reconcile.Item{{Key: "a"}, {Key: "b", Needs: []reconcile.Key{"a"}}, {Key: "c"}},
	}
	done, notRun, failed := reconcile.StatusDone, reconcile.StatusNotRun, reconcile.StatusFailed
	for _, c := range []struct {
		name    string
		prepare func() map[reconcile.Key]error
		want    []reconcile.Status // of a, b, c
	}{
		{"all may run", func() map[reconcile.Key]error { return nil }, []reconcile.Status{done, done, done}},
		{"one is refused", func() map[reconcile.Key]error { return map[reconcile.Key]error{"a": errors.New("in the way")} },
			[]reconcile.Status{notRun, notRun, done}},
		{"a panic", func() map[reconcile.Key]error { panic("oops") }, []reconcile.Status{notRun, notRun, notRun}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &world{things: map[reconcile.Key]reconcile.Thing{}, takeovers: map[reconcile.Key]int{}}
			calls := 0
			opts := reconcile.Options{Prepare: func(_ context.Context, p *reconcile.Plan) map[reconcile.Key]error {
				calls++
				if len(s.things) > 0 || len(p.Steps) != len(in.Desired) {
					t.Error("it came late, or for another plan")
				}
				return c.prepare()
			}}
			results, err := reconcile.Execute(t.Context(), reconcile.Make(in), s, nil, opts)
			var got []reconcile.Status
			for _, r := range results {
				got = append(got, r.Status)
			}
			if !slices.Equal(got, c.want) || calls != 1 || (err == nil) != !slices.Contains(got, notRun) ||
				slices.Contains(got, failed) {
				t.Errorf("got %v, %d calls and %v, want %v", got, calls, err, c.want)
			}
			if c.name == "all may run" {
				if _, err := reconcile.Execute(t.Context(),
					reconcile.Make(reconcile.Input{Owner: in.Owner, Class: in.Class, Compare: never}), s, nil,
					opts); err != nil || calls != 1 {
					t.Errorf("a plan with nothing to do was prepared: %d calls, %v", calls, err)
				}
			}
		})
	}
}
