package reconcile_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/reconcile"
)

// After each wave it is waited for what was written. What does not work then fails what needs it.
func TestSettle(t *testing.T) {
	in := reconcile.Input{
		Owner: reconcile.Owner{Integration: "x", Caller: "a"}, Class: reconcile.Listing, Compare: never,
		Gate:    reconcile.Gate{Limits: reconcile.DefaultLimits()},
		Current: []reconcile.Thing{{Key: "old", Mark: reconcile.Mark{Integration: "x", Caller: "a"}}},
		Desired: []reconcile.Item{{Key: "canary"}, {Key: "free", After: []reconcile.Key{"canary"}},
			{Key: "rest", Needs: []reconcile.Key{"canary"}}},
	}
	for _, c := range []struct {
		name   string
		settle func(done []string) map[reconcile.Key]error
		want   []reconcile.Status // of canary, free, old, rest
		calls  string
		told   int
	}{
		{"all works", func([]string) map[reconcile.Key]error { return nil },
			[]reconcile.Status{reconcile.StatusDone, reconcile.StatusDone, reconcile.StatusDone, reconcile.StatusDone},
			"canary; free rest", 4},
		{"the canary does not work", func(done []string) map[reconcile.Key]error {
			if slices.Contains(done, "canary") {
				return map[reconcile.Key]error{"canary": errors.New("crash loop"), "free": nil, "nobody": errors.New("?")}
			}
			return nil
		}, []reconcile.Status{reconcile.StatusFailed, reconcile.StatusDone, reconcile.StatusDone, reconcile.StatusNotRun},
			"canary; free", 5},
		{"a panic", func([]string) map[reconcile.Key]error { panic("oops") },
			[]reconcile.Status{reconcile.StatusFailed, reconcile.StatusFailed, reconcile.StatusDone, reconcile.StatusNotRun},
			"canary; free", 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &world{things: map[reconcile.Key]reconcile.Thing{"old": in.Current[0]}, takeovers: map[reconcile.Key]int{}}
			var calls []string
			told := 0
			results, err := reconcile.Execute(t.Context(), reconcile.Make(in), s, nil, reconcile.Options{
				Done: func(reconcile.Result) { told++ },
				Settle: func(_ context.Context, done []reconcile.Step) map[reconcile.Key]error {
					if _, isThere := s.things["old"]; !isThere {
						t.Error("the deletion came first")
					}
					var keys []string
					for _, step := range done {
						keys = append(keys, string(step.Key))
					}
					calls = append(calls, strings.Join(keys, " "))
					return c.settle(keys)
				}})
			var got []reconcile.Status
			for _, r := range results {
				got = append(got, r.Status)
			}
			if !slices.Equal(got, c.want) || strings.Join(calls, "; ") != c.calls || told != c.told {
				t.Errorf("got %v after %q, told %d times; want %v after %q, %d times", got, calls, told, c.want, c.calls, c.told)
			}
			if isWrong := slices.Contains(c.want, reconcile.StatusFailed); isWrong != (err != nil) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// What is kept is neither changed nor deleted nor forgotten, and what would have been deleted is
// told.
func TestKept(t *testing.T) {
	ours := reconcile.Mark{Integration: "x", Caller: "a"}
	kept := map[reconcile.Key]string{}
	for _, k := range []reconcile.Key{"changed", "dropped", "gone", "left", "locked", "missing", "others"} {
		kept[k] = "it is doubtful"
	}
	p := reconcile.Make(reconcile.Input{
		Owner: reconcile.Owner{Integration: "x", Caller: "a"}, Class: reconcile.Listing, Kept: kept,
		Compare: func(reconcile.Item, reconcile.Thing, reconcile.Record) (reconcile.Difference, error) {
			return reconcile.Difference{Replace: true}, nil
		},
		Gate: reconcile.Gate{Limits: reconcile.DefaultLimits()},
		Current: []reconcile.Thing{{Key: "changed", Mark: ours}, {Key: "dropped", Mark: ours}, {Key: "left", Mark: ours},
			{Key: "locked", Mark: ours, Protected: true},
			{Key: "others", Mark: reconcile.Mark{Integration: "y"}}, {Key: "free", Mark: ours}},
		Desired: []reconcile.Item{{Key: "changed"}, {Key: "dropped", Delete: true}, {Key: "missing"}},
		Known:   map[reconcile.Key]reconcile.Record{"gone": {}},
	})
	var told []string
	for _, f := range p.Findings {
		told = append(told, string(f.Severity)+" "+string(f.Code)+" "+string(f.Keys[0]))
	}
	if want := []string{"note KEPT changed", "note KEPT dropped", "note KEPT left", "note KEPT locked",
		"note KEPT missing"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	for _, s := range p.Steps {
		if wants := s.Key == "free"; s.Action.Writes() != wants || s.Action == reconcile.Forget {
			t.Errorf("%s of %s", s.Action, s.Key)
		}
	}
	if !slices.Equal(p.Deletions.Keys, []reconcile.Key{"free"}) {
		t.Errorf("the gate counts %q", p.Deletions.Keys)
	}
}

// Things of another version of the integration are never silent, and are taken only if somebody
// says so.
func TestOtherVersion(t *testing.T) {
	peers := reconcile.Mark{Integration: "x", Version: "1.0.0", Caller: "upstream"}
	for _, c := range []struct {
		name    string
		owner   reconcile.Owner
		mark    reconcile.Mark
		wish    reconcile.Wish
		want    reconcile.Verdict
		removal reconcile.Action // of an entry that says delete
	}{
		{"without a word", reconcile.Owner{}, peers, reconcile.Wish{Desired: true},
			reconcile.Verdict{Owner: reconcile.OtherVersion, Code: reconcile.CodeNotAdopted}, reconcile.Blocked},
		{"not desired", reconcile.Owner{}, peers, reconcile.Wish{}, reconcile.Verdict{Owner: reconcile.OtherVersion},
			reconcile.Blocked},
		{"taken", reconcile.Owner{TakeOver: true, Callers: []string{"a"}}, peers, reconcile.Wish{Desired: true},
			reconcile.Verdict{Owner: reconcile.OtherVersion, Act: true, Mark: true}, reconcile.MarkIt},
		{"taken, but not desired", reconcile.Owner{TakeOver: true, Callers: []string{"a"}}, peers, reconcile.Wish{},
			reconcile.Verdict{Owner: reconcile.OtherVersion}, reconcile.MarkIt},
		{"of a living caller", reconcile.Owner{TakeOver: true, Callers: []string{"a", "upstream"}}, peers,
			reconcile.Wish{Desired: true}, reconcile.Verdict{Owner: reconcile.OtherVersion, Code: reconcile.CodeOwnedByOther},
			reconcile.Blocked},
		{"callers are not known", reconcile.Owner{TakeOver: true}, peers, reconcile.Wish{Desired: true},
			reconcile.Verdict{Owner: reconcile.OtherVersion, Code: reconcile.CodeOwnedByOther}, reconcile.Blocked},
		{"of no caller", reconcile.Owner{TakeOver: true}, reconcile.Mark{Integration: "x", Version: "1"},
			reconcile.Wish{Desired: true}, reconcile.Verdict{Owner: reconcile.OtherVersion, Act: true, Mark: true},
			reconcile.MarkIt},
		{"of another integration", reconcile.Owner{TakeOver: true}, reconcile.Mark{Integration: "y", Version: "1"},
			reconcile.Wish{Desired: true}, reconcile.Verdict{Owner: reconcile.OtherIntegration}, reconcile.Blocked},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.owner.Integration, c.owner.Caller = "x", "a"
			if got := c.owner.Judge(c.mark, c.wish); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			p := reconcile.Make(reconcile.Input{Owner: c.owner, Class: reconcile.Listing, Compare: never,
				Desired: []reconcile.Item{{Key: "k", Delete: true}}, Current: []reconcile.Thing{{Key: "k", Mark: c.mark}}})
			if p.Steps[0].Action != c.removal {
				t.Errorf("its entry says delete: %s, want %s", p.Steps[0].Action, c.removal)
			}
		})
	}
}
