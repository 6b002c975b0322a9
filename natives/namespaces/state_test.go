package namespaces

import (
	"slices"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/state"
)

// A namespace whose mark was stripped is still known to be ours, and one whose entry went is
// not forgotten while it is there.
func TestMemory(t *testing.T) {
	w := newWorld(t)
	remembered, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run := func(entries ...string) (deeds []string) {
		t.Helper()
		env := w.env(nil, answer(entries...))
		env.State, env.Workers = remembered, 1
		act := w.actors()
		act.State, act.Did = remembered, func(d integration.Deed) { deeds = append(deeds, d.Action+" "+d.Key+" "+d.Status) }
		if err := New().Run(t.Context(), env, act); err != nil {
			t.Fatal(err)
		}
		slices.Sort(deeds)
		return deeds
	}
	for _, c := range []struct {
		name    string
		entries []string
		want    []string
	}{
		{"made", []string{entryOf("a", ""), entryOf("b", "")}, []string{"create c1/a done", "create c1/b done"}},
		{"the entry of a goes", []string{entryOf("b", "")}, nil},
		{"the mark of b is stripped", []string{entryOf("b", "")}, []string{"mark c1/b done"}},
		{"b is gone", []string{entryOf("b", `"delete":true`)}, []string{"forget c1/b done"}},
	} {
		switch c.name {
		case "the mark of b is stripped":
			w.cluster.put("b", nil, nil)
		case "b is gone":
			w.cluster.Remove(folder + "b")
		}
		if got := run(c.entries...); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
