package native_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// For every change: what is told by the data alone is what a dry run tells whose targets have what base says. No
// target is asked, and no entry is completed by services.
func TestTellIsTheDryRun(t *testing.T) {
	told := 0
	for seed := range uint64(300) {
		base, head, s := newChangeOfLibrary(seed)
		live := describeNew(s.effectsOfRun(t, base.json(t), head.json(t), wide))
		s.with = func(r *native.Recipe) {
			r.Current = func(context.Context, integration.Environment, native.Part) (native.Current, error) {
				t.Error("a target is asked")
				return native.Current{}, nil
			}
			r.Complete = func(_ context.Context, _ integration.Environment, p native.Part) (native.Part, error) {
				t.Error("a service is asked")
				return p, nil
			}
		}
		var data []plan.Effect
		env := integration.Environment{Integration: "books", Base: answer(base.json(t)), Query: answer(head.json(t)),
			Report: func(r integration.Remark) {
				if r.Effect != nil {
					data = append(data, *r.Effect)
				}
			}}
		wide(&env)
		of, ok := s.books().(integration.Teller)
		if !ok {
			t.Fatal("it tells nothing")
		}
		if err := of.Tell(t.Context(), env); err != nil {
			t.Fatalf("change %d: %v", seed, err)
		}
		for _, e := range data {
			if e.Since != plan.SinceChange || e.Known.How != plan.KnownData || e.Known.Why == "" {
				t.Errorf("change %d: %+v", seed, e)
			}
		}
		got := describeNew(data)
		for _, subject := range neverThere(base, head) { // the data do not tell that nothing was ever there
			got = slices.DeleteFunc(got, func(e string) bool { return e == "delete "+subject })
		}
		if !slices.Equal(got, live) {
			t.Errorf("change %d: the data say %q, and a dry run %q", seed, got, live)
		}
		told += len(got)
	}
	if told < 300 {
		t.Errorf("only %d effects were told", told)
	}
}

// describeNew returns the effects that a change causes or may cause, sorted.
func describeNew(all []plan.Effect) []string {
	out := []string{}
	for _, e := range all {
		if e.Since == plan.SinceChange || e.Since == "" {
			out = append(out, string(e.Kind)+" "+e.Subject)
		}
	}
	slices.Sort(out)
	return out
}

// neverThere returns the entries of head that say delete, and of which base has made nothing.
func neverThere(base, head library) []string {
	var out []string
	for shard, books := range head {
		for key, title := range books {
			was, isOld := base[shard][key]
			if title == "!" && (!isOld || was == "!") {
				out = append(out, key)
			}
		}
	}
	return out
}

// Without a change, or with a base that cannot be read, nothing is told as known.
func TestTellWithoutBase(t *testing.T) {
	s := &shelf{things: map[reconcile.Key]reconcile.Thing{}}
	of, _ := s.books().(integration.Teller)
	var said []string
	env := integration.Environment{Integration: "books", Base: answer("no JSON"), Query: answer(`{"north": {"a": "Atlas"}}`),
		Report: func(r integration.Remark) {
			switch {
			case r.Effect != nil:
				said = append(said, "effect")
			case r.Unlooked != nil:
				said = append(said, string(r.Unlooked.What))
			}
		}}
	if err := of.Tell(t.Context(), env); err != nil || strings.Join(said, " ") != "all" {
		t.Errorf("got %q, %v", said, err)
	}
}
