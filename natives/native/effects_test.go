package native_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
)

// effectsOfRun returns the effects of a dry run.
func (s *shelf) effectsOfRun(t *testing.T, base, head string, change func(*integration.Environment)) []plan.Effect {
	t.Helper()
	var out []plan.Effect
	_, err := s.run(t, base, head, true, func(e *integration.Environment) {
		if change != nil {
			change(e)
		}
		e.Report = func(r integration.Remark) {
			if r.Effect != nil {
				out = append(out, *r.Effect)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// For every change and every drift: an effect is pending exactly if a dry run of base announces it, too. One that
// the change causes is never called pending, so it asks for its label.
func TestPendingIsWhatBaseAnnounces(t *testing.T) {
	pending, fresh := 0, 0
	for seed := range uint64(600) {
		base, head, s := newChangeOfLibrary(seed)
		r := rand.New(rand.NewPCG(seed, 11))
		for _, shard := range slices.Sorted(maps.Keys(base)) { // what somebody did by hand
			for _, key := range slices.Sorted(maps.Keys(base[shard])) {
				switch r.IntN(4) {
				case 0:
					s.put(reconcile.Key(key), reconcile.Thing{Body: fmt.Sprint("by hand ", r.IntN(9)),
						Mark: reconcile.Mark{Integration: "books", Caller: shard}})
				case 1:
					delete(s.things, reconcile.Key(key))
				}
			}
		}
		if r.IntN(3) == 0 {
			s.put("s0-left", reconcile.Thing{Body: "left", Mark: reconcile.Mark{Integration: "books", Caller: "s0"}})
		}
		limits := wide
		if most, all, floor := 1+r.IntN(2), 100, 0; r.IntN(2) == 0 { // the limits of deletions hold on both sides
			limits = func(e *integration.Environment) {
				e.Settings.Deletes = settings.Deletes{Max: &most, Percent: &all, Floor: &floor}
			}
		}
		onBase := map[string]int{}
		for _, e := range s.effectsOfRun(t, base.json(t), base.json(t), limits) {
			if e.Since != plan.SinceBase {
				t.Fatalf("change %d: without a change %s %s is %q", seed, e.Kind, e.Subject, e.Since)
			}
			onBase[e.Identity()]++
		}
		for _, e := range s.effectsOfRun(t, base.json(t), head.json(t), limits) {
			switch {
			case e.Since == plan.SinceBase && onBase[e.Identity()] == 0:
				t.Errorf("change %d: %s %s is called pending, and base does not announce it", seed, e.Kind, e.Subject)
			case e.Since == plan.SinceChange && e.Known.How == plan.KnownLive && onBase[e.Identity()] > 0:
				t.Errorf("change %d: %s %s is called new, and base announces it", seed, e.Kind, e.Subject)
			case e.Since == plan.SinceBase:
				pending++
			case e.Since == plan.SinceChange:
				fresh++
			}
		}
	}
	if pending < 300 || fresh < 300 {
		t.Errorf("only %d effects were pending, and %d new", pending, fresh)
	}
}

// An effect says what it is about, what changes, where it is done and which place of the data asks for it.
func TestEffectsSayAll(t *testing.T) {
	s := &shelf{things: map[reconcile.Key]reconcile.Thing{}}
	s.with = func(r *native.Recipe) {
		r.Label = func(k reconcile.Key, _ any) (kind, name string) { return "Book", strings.ToUpper(string(k)) }
		r.Places = func(it reconcile.Item, _ []reconcile.Change) []string { return []string{it.Place.Pointer + "/title"} }
		r.Alters = func(base, head reconcile.Item) ([]reconcile.Change, bool) {
			return []reconcile.Change{{Path: "/", Old: fmt.Sprint(base.Body), New: fmt.Sprint(head.Body)},
				{Path: "/secret", Old: "***", New: "***"}}, true
		}
	}
	s.desire = func(d *native.Desired) {
		for i := range d.Parts {
			d.Parts[i].Target = integration.EndpointRef{Name: "n", URL: "https://user:password@shelf.example:81/x?token=y"}
			for j := range d.Parts[i].Items {
				d.Parts[i].Items[j].Place = plan.Place{File: "/" + string(d.Parts[i].Items[j].Key) + ".yml", Pointer: "/b"}
			}
		}
	}
	s.put("north-a", reconcile.Thing{Body: "Atlas", Mark: reconcile.Mark{Integration: "books", Caller: "north"}})
	const base, head = `{"north": {"north-a": "Atlas"}}`, `{"north": {"north-a": "Bible", "north-b": "Comic"}}`
	const common = `"target":"https://shelf.example:81","part":"north",`
	for _, c := range []struct{ broken, changes, known string }{
		{"", `[{"path":"/","old":"Atlas","new":"Bible"}]`, `{"how":"live"}`},
		{"north", `[{"path":"/","old":"Atlas","new":"Bible"},{"path":"/secret","secret":true}]`,
			`{"how":"data","why":"north: nobody answers"}`},
	} {
		s.broken = c.broken
		var got []string
		_, _ = s.run(t, base, head, true, func(e *integration.Environment) {
			e.Report = func(r integration.Remark) {
				if r.Effect != nil {
					raw, _ := json.Marshal(r.Effect)
					got = append(got, string(raw))
				}
			}
		})
		slices.Sort(got)
		want := []string{
			`{"kind":"change","subject":"north-a","type":"Book","name":"NORTH-A",` + common +
				`"cause":[{"file":"/north-a.yml","pointer":"/b/title"}],"changes":` + c.changes +
				`,"since":"new","known":` + c.known + `}`,
			`{"kind":"create","subject":"north-b","type":"Book","name":"NORTH-B",` + common +
				`"cause":[{"file":"/north-b.yml","pointer":"/b"}],"since":"new","known":` + c.known + `}`,
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
