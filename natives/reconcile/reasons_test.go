package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/app-sre/prcheck/natives/reconcile"
)

// A step says in words whose its thing is, and why it is taken.
func TestReasonsOfOwners(t *testing.T) {
	for name, c := range map[string]struct {
		mark    reconcile.Mark
		known   bool
		item    reconcile.Item
		differs bool
		replace bool
		action  reconcile.Action
		want    string
	}{
		"the same": {reconcile.Mark{Integration: "it", Caller: "a"}, true, reconcile.Item{}, false, false,
			reconcile.None, "nothing differs"},
		"another body": {reconcile.Mark{Integration: "it", Caller: "a"}, true, reconcile.Item{}, true, false,
			reconcile.Update, "it differs"},
		"it cannot be changed": {reconcile.Mark{Integration: "it", Caller: "a"}, true, reconcile.Item{}, true, true,
			reconcile.Replace, "it cannot be changed, only replaced"},
		"no mark any more": {reconcile.Mark{}, true, reconcile.Item{}, false, false, reconcile.MarkIt,
			"it lost our mark"},
		"to adopt": {reconcile.Mark{}, false, reconcile.Item{Claim: reconcile.Adopt}, false, false,
			reconcile.AdoptIt, "the settings allow to adopt it"},
		"not to adopt": {reconcile.Mark{}, false, reconcile.Item{}, false, false, reconcile.Blocked,
			"it belongs to nobody: adopt it first"},
		"how to adopt": {reconcile.Mark{}, false, reconcile.Item{HowToAdopt: "say adopt"}, false, false,
			reconcile.Blocked, "it belongs to nobody: say adopt"},
		"a retired caller": {reconcile.Mark{Integration: "it", Caller: "gone"}, false, reconcile.Item{}, false, false,
			reconcile.MarkIt, `caller "gone" is gone: it is taken over`},
		"to replace, if taken": {reconcile.Mark{Integration: "it", Caller: "gone"}, false, reconcile.Item{}, true, true,
			reconcile.MarkIt, "it is taken now; the next run replaces it"},
		"another caller": {reconcile.Mark{Integration: "it", Caller: "b"}, false, reconcile.Item{}, false, false,
			reconcile.Blocked, `it belongs to caller "b"`},
		"to take over": {reconcile.Mark{Integration: "it", Caller: "b"}, false,
			reconcile.Item{Claim: reconcile.TakeOver}, false, false, reconcile.MarkIt,
			`the settings allow to take it over from caller "b"`},
		"another integration": {reconcile.Mark{Integration: "other", Caller: "b"}, false, reconcile.Item{}, false, false,
			reconcile.Skip, `it belongs to integration "other"`},
		"the integration before": {reconcile.Mark{Integration: "before", Caller: "b"}, false, reconcile.Item{}, false, false,
			reconcile.MarkIt, `the settings allow to take it over from integration "before"`},
		"another version": {reconcile.Mark{Integration: "it", Version: "7", Caller: "c"}, false, reconcile.Item{}, false,
			false, reconcile.Blocked,
			`it belongs to another version of the integration, "7", and its caller "c": take it over with reconciler take-over it`},
	} {
		c.item.Key = "k"
		in := reconcile.Input{Owner: reconcile.Owner{Integration: "it", Caller: "a", Callers: []string{"a", "b"},
			From: "before"}, Class: reconcile.Listing,
			Gate:    reconcile.Gate{Limits: reconcile.DefaultLimits()},
			Desired: []reconcile.Item{c.item}, Current: []reconcile.Thing{{Key: "k",
				Mark: c.mark}}, Known: map[reconcile.Key]reconcile.Record{},
			Compare: func(reconcile.Item, reconcile.Thing, reconcile.Record) (d reconcile.Difference, err error) {
				if c.differs {
					d.Changes, d.Replace = []reconcile.Change{{Path: "/x"}}, c.replace
				}
				return d, nil
			}}
		if c.known {
			in.Known["k"] = reconcile.Record{}
		}
		if s := reconcile.Make(in).Steps[0]; s.Action != c.action || s.Reason != c.want {
			t.Errorf("%s: got %s, %q, want %s, %q", name, s.Action, s.Reason, c.action, c.want)
		}
	}
}

// A thing that changed between the plan and the write is judged again.
func TestJudgedAgain(t *testing.T) {
	ours, others := reconcile.Mark{Integration: "x", Caller: "a"}, reconcile.Mark{Integration: "x", Caller: "b"}
	for name, c := range map[string]struct {
		item   []reconcile.Item
		before []reconcile.Thing
		after  map[reconcile.Key]reconcile.Thing
		want   string
	}{
		"a deletion of what is gone": {nil, []reconcile.Thing{{Key: "k", Mark: ours}}, nil, ""},
		"a change of what is gone": {[]reconcile.Item{{Key: "k"}}, []reconcile.Thing{{Key: "k", Mark: ours}}, nil,
			"k: update: it is gone; the next run makes it"},
		"a new thing": {[]reconcile.Item{{Key: "k"}}, nil, nil, ""},
		"a new thing that is there": {[]reconcile.Item{{Key: "k"}}, nil,
			map[reconcile.Key]reconcile.Thing{"k": {Mark: ours}}, "k: create: it is there now; the next run compares it"},
		"of somebody else now": {[]reconcile.Item{{Key: "k"}}, []reconcile.Thing{{Key: "k", Mark: ours}},
			map[reconcile.Key]reconcile.Thing{"k": {Mark: others}}, "k: update: it belongs to other caller now"},
		"protected now": {nil, []reconcile.Thing{{Key: "k", Mark: ours}},
			map[reconcile.Key]reconcile.Thing{"k": {Mark: ours, Protected: true}},
			"k: delete: it is protected now, or no longer ours"},
	} {
		w := &world{things: map[reconcile.Key]reconcile.Thing{}}
		maps.Copy(w.things, c.after)
		in := reconcile.Input{Owner: reconcile.Owner{Integration: "x", Caller: "a", Callers: []string{"a", "b"}},
			Class: reconcile.Listing, Desired: c.item, Current: c.before,
			Gate: reconcile.Gate{Limits: reconcile.DefaultLimits(), MayEmpty: true},
			Compare: func(reconcile.Item, reconcile.Thing, reconcile.Record) (reconcile.Difference, error) {
				return reconcile.Difference{Changes: []reconcile.Change{{Path: "/x"}}}, nil
			}}
		said := ""
		if _, err := reconcile.Execute(t.Context(), reconcile.Make(in), w, nil, reconcile.Options{Limit: 1}); err != nil {
			said = err.Error()
		}
		if said != c.want {
			t.Errorf("%s: got %q, want %q", name, said, c.want)
		}
	}
}

// A stubborn is a memory that forgets nothing.
type stubborn struct{ *memory }

func (stubborn) Forget(context.Context, reconcile.Key) error { return errors.New("no room") }

// What is gone and cannot be forgotten is told.
func TestForgetFails(t *testing.T) {
	w := &world{}
	m := &memory{known: map[reconcile.Key]reconcile.Record{"k": {}}, world: w}
	p := reconcile.Make(reconcile.Input{Owner: reconcile.Owner{Integration: "x", Caller: "a"}, Class: reconcile.Listing,
		Compare: never, Known: m.snapshot()})
	if _, err := reconcile.Execute(t.Context(), p, w, stubborn{m},
		reconcile.Options{}); err == nil || err.Error() != "k: forget: it is gone, but not forgotten: no room" {
		t.Errorf("got %v", err)
	}
}

// Of a pool without workers one shard runs at a time.
func TestEachWithoutPool(t *testing.T) {
	var running, most atomic.Int32
	errs, err := reconcile.Each(t.Context(), strings.Fields("a b c d"), 0, 0,
		func(_ context.Context, _ string, workers int) error {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			if workers != 1 {
				t.Errorf("got %d workers", workers)
			}
			for range 1000 {
				most.Store(max(most.Load(), running.Load()))
			}
			return nil
		})
	if err != nil || len(errs) != 4 || most.Load() != 1 {
		t.Errorf("got %v, %v, at most %d at once", errs, err, most.Load())
	}
}

// A broken is a system that cannot be asked.
type broken struct{ *world }

func (broken) Read(context.Context, reconcile.Key) (*reconcile.Thing, error) {
	return nil, errors.New("no answer")
}

// A thing that cannot be read again is not written, and not forgotten.
func TestReadingAgainFails(t *testing.T) {
	m := &memory{known: map[reconcile.Key]reconcile.Record{"gone": {}}}
	p := reconcile.Make(reconcile.Input{Owner: reconcile.Owner{Integration: "x", Caller: "a"}, Class: reconcile.Listing,
		Compare: never,
		Desired: []reconcile.Item{{Key: "new"}}, Known: m.snapshot()})
	_, err := reconcile.Execute(t.Context(), p, broken{&world{}}, m, reconcile.Options{Limit: 1})
	if err == nil ||
		err.Error() != "gone: forget: reading it again: no answer\nnew: create: reading it again: no answer" ||
		len(m.known) != 1 {
		t.Errorf("got %v, remembered is %v", err, m.known)
	}
}

// The words stand in reports and in settings, so they stay.
func TestWords(t *testing.T) {
	got := fmt.Sprint([]reconcile.Status{reconcile.StatusDone, reconcile.StatusUnchanged, reconcile.StatusHeld,
		reconcile.StatusFailed, reconcile.StatusNotRun},
		[]reconcile.Class{reconcile.Listing, reconcile.Knowing, reconcile.Blind},
		[]reconcile.Action{reconcile.Create, reconcile.Update, reconcile.Replace, reconcile.Remove, reconcile.MarkIt,
			reconcile.AdoptIt, reconcile.Forget,
			reconcile.None, reconcile.Skip, reconcile.Blocked},
		[]reconcile.Whose{reconcile.Us, reconcile.Nobody, reconcile.OtherCaller, reconcile.RetiredCaller,
			reconcile.OtherIntegration, reconcile.OtherVersion},
		[]reconcile.Claim{reconcile.NoClaim, reconcile.Adopt, reconcile.TakeOver, reconcile.AdoptOrTakeOver},
		[]reconcile.Policy{reconcile.Manage, reconcile.Observe, reconcile.Detach})
	const want = "[done unchanged held failed not_run] [listing knowing blind] " +
		"[create update replace delete mark adopt forget none skip blocked] " +
		"[us nobody other caller retired caller other integration other version] [ adopt take_over adopt_or_take_over] " +
		"[ observe detach-on-delete]"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
