package pending_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/pending"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func deletes(subjects ...string) *plan.Effects {
	e := &plan.Effects{Items: []plan.Effect{}}
	for _, s := range subjects {
		e.Items = append(e.Items, plan.Effect{Kind: plan.EffectDelete, Subject: s})
	}
	return e
}

func openState(t *testing.T) (state.Store, string) {
	t.Helper()
	dir := t.TempDir()
	s, err := state.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s, dir
}

// What a run announced is found again by base, command, shard and rules, and not for longer
// than asked.
func TestFind(t *testing.T) {
	memory, _ := openState(t)
	store := pending.NewStore(memory)
	one := pending.Run{Task: plan.Task{Integration: "a", Command: "c", Shard: "s"}, Base: "b", Rules: "r", Began: noon,
		Effects: deletes("x")}
	unknown := one
	unknown.Base, unknown.Effects = "unknown", &plan.Effects{Unknown: "the task failed"}
	huge := one
	huge.Base, huge.Effects = "huge", deletes(strings.Repeat("x", 65<<10))
	if err := store.Add(t.Context(), []pending.Run{one, unknown, huge}, noon); err != nil {
		t.Fatal(err)
	}
	with := func(change func(*pending.Run)) pending.Run {
		out := one
		change(&out)
		return out
	}
	for name, c := range map[string]struct {
		ask    pending.Run
		within time.Duration
		at     time.Time
		want   bool
	}{
		"the same":        {one, time.Hour, noon.Add(time.Hour), true},
		"too long ago":    {one, time.Hour, noon.Add(61 * time.Minute), false},
		"never":           {one, 0, noon.Add(time.Second), false},
		"in the future":   {one, time.Hour, noon.Add(-time.Second), false},
		"another base":    {with(func(r *pending.Run) { r.Base = "x" }), time.Hour, noon, false},
		"another command": {with(func(r *pending.Run) { r.Task.Command = "x" }), time.Hour, noon, false},
		"another shard":   {with(func(r *pending.Run) { r.Task.Shard = "" }), time.Hour, noon, false},
		"a static shard": {with(func(r *pending.Run) { r.Task.Static = plan.Fraction{Part: 1, Of: 2} }), time.Hour, noon,
			false},
		"other rules":         {with(func(r *pending.Run) { r.Rules = "x" }), time.Hour, noon, false},
		"another integration": {with(func(r *pending.Run) { r.Task.Integration = "x" }), time.Hour, noon, false},
		"unknown effects":     {unknown, time.Hour, noon, false},
		"too many effects":    {huge, time.Hour, noon, false},
	} {
		if _, ok := store.Snapshot(c.at).Find(t.Context(), c.ask, c.within); ok != c.want {
			t.Errorf("%s: got %v, want %v", name, ok, c.want)
		}
	}
	later := with(func(r *pending.Run) { r.Began, r.Effects = noon.Add(time.Minute), deletes("y") })
	if err := store.Add(t.Context(), []pending.Run{later}, noon.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if e, ok := store.Snapshot(noon.Add(time.Minute)).Find(t.Context(), one, time.Hour); !ok || e.Items[0].Subject != "y" {
		t.Errorf("got %+v, want what the later run announced", e)
	}
}

// A document stays small, and the latest runs are kept.
func TestBounds(t *testing.T) {
	for _, c := range []struct{ runs, size, least, most int }{{700, 10, 500, 500}, {100, 60 << 10, 60, 70}} {
		memory, dir := openState(t)
		var runs []pending.Run
		for i := range c.runs {
			runs = append(runs, pending.Run{Task: plan.Task{Integration: "a"}, Base: fmt.Sprint(i),
				Began: noon.Add(time.Duration(i) * time.Second), Effects: deletes(strings.Repeat("x", c.size))})
		}
		store := pending.NewStore(memory)
		for from := 0; from < len(runs); from += len(runs) / 2 {
			if err := store.Add(t.Context(), runs[from:from+len(runs)/2], noon.Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		found, s := 0, store.Snapshot(noon.Add(time.Hour))
		for _, r := range runs {
			if _, ok := s.Find(t.Context(), r, 24*time.Hour); ok {
				found++
			} else if found > 0 {
				t.Errorf("run %s is forgotten, and an earlier one is not", r.Base)
			}
		}
		if found < c.least || found > c.most {
			t.Errorf("%d of %d runs with %d bytes are kept", found, c.runs, c.size)
		}
		files, err := filepath.Glob(filepath.Join(dir, "pending", "*"))
		if err != nil || len(files) != 1 {
			t.Fatalf("got files %v, %v", files, err)
		}
		raw, err := os.ReadFile(files[0])
		if err != nil || len(raw) > 5<<20 {
			t.Errorf("the document has %d bytes, %v", len(raw), err)
		}
		for _, bad := range []string{string(raw[:len(raw)/2]), strings.Replace(string(raw), `"kind":"delete"`,
			`"kind":"evil"`, 1), strings.Replace(string(raw), `"effects":{`, `"effects":null,"x":{`, 1)} {
			if err := os.WriteFile(files[0], []byte(bad), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, ok := store.Snapshot(noon.Add(time.Hour)).Find(t.Context(), runs[len(runs)-1], 24*time.Hour); ok {
				t.Error("a damaged document counts")
			}
		}
	}
}
