package loop

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/natives/saas/pipelines/decide"
	"github.com/app-sre/prcheck/natives/saas/pipelines/ledger"
)

var steps = flag.Int("steps", 20_000, "steps of the laws over random worlds")

// stepsOfWorld is how many steps a world has before the next one.
const stepsOfWorld = 250

// step does one random thing.
func (w *world) step(t *testing.T) {
	uids := w.uids()
	uid := uids[w.rng.IntN(len(uids))]
	kinds := testKinds[:len(w.values[uid])]
	kind := kinds[w.rng.IntN(len(kinds))]
	switch n := w.rng.IntN(100); {
	case n < 18:
		w.values[uid][kind] = fmt.Sprintf("v%d", w.rng.IntN(4)) // values come back
	case n < 22 && kind != decide.Config:
		w.values[uid][kind] = "wait for " + string(kind)
	case n < 30 && kind != decide.Config:
		w.unknown[uid][kind] = !w.unknown[uid][kind]
	case n < 34:
		w.setGate()
	case n < 37:
		w.gone[uid] = !w.gone[uid]
	case n < 52:
		w.endSome()
	case n < 56:
		w.prune()
	case n < 60:
		w.rerun()
	case n < 62:
		w.ask()
	case n < 65: // the clock jumps, also back
		w.now = w.now.Add(time.Duration(w.rng.IntN(240)-60) * time.Hour)
	default:
		w.iterate(t)
	}
}

func (w *world) uids() []string {
	var out []string
	for _, f := range testFiles {
		for _, e := range testEnvs {
			out = append(out, uidOf(f, e, 0), uidOf(f, e, 1))
		}
	}
	return out
}

// ask is a person who wants a failed run again, or no longer.
func (w *world) ask() {
	w.again = nil
	for _, doc := range w.documents() {
		for _, c := range doc.Cells {
			if c.Failed != nil {
				w.again = append(w.again, c.Failed.Fingerprint)
			}
		}
	}
}

// setGate opens or closes the gate of a cell.
func (w *world) setGate() {
	cell := cellOf(testFiles[w.rng.IntN(2)], testEnvs[w.rng.IntN(2)])
	switch w.rng.IntN(3) {
	case 0:
		w.gates[cell] = decide.Gate{Kind: decide.PromotionGate, Closed: "it soaks"}
	case 1:
		w.gates[cell] = decide.Gate{Kind: decide.SLOGate, Unknown: "no answer"}
	default:
		delete(w.gates, cell)
	}
}

// endSome ends a live run.
func (w *world) endSome() {
	for _, r := range w.runs {
		if r.isLive() {
			p := decide.Succeeded
			if w.rng.IntN(4) == 0 {
				p = decide.Errored
			}
			w.end(r, p)
			return
		}
	}
}

// prune removes runs that ended some time ago, also those that nobody saw end.
func (w *world) prune() {
	w.runs = slices.DeleteFunc(w.runs, func(r *testRun) bool { return !r.isLive() && w.now.Sub(r.ended) > time.Hour })
}

// rerun is a person who starts a failed run again, which copies its labels.
func (w *world) rerun() {
	for _, r := range w.runs {
		if r.Phase != decide.Errored || slices.ContainsFunc(w.runs, func(o *testRun) bool {
			return o.isLive() && o.cell() == r.cell()
		}) {
			continue
		}
		w.ids++
		again := *r
		again.Name, again.Phase = fmt.Sprintf("by-hand-%d", w.ids), decide.Live
		w.runs = append(w.runs, &again)
		return
	}
}

// iterate runs the loop. It may be killed at any call, and another process may make a whole
// iteration within any call.
func (w *world) iterate(t *testing.T) {
	w.now = w.now.Add(time.Duration(w.rng.IntN(20)) * time.Minute)
	w.calls, w.dead, w.killAt, w.meet, w.other = 0, false, 0, 0, nil
	if w.rng.IntN(3) == 0 {
		w.killAt, w.isAfter = 1+w.rng.IntN(10), w.rng.IntN(2) == 0
	}
	if w.rng.IntN(3) == 0 {
		w.meet, w.other = 1+w.rng.IntN(10), func() {
			killAt := w.killAt
			w.killAt = 0
			_, _ = w.loop().Run(t.Context(), w.files())
			w.killAt = killAt
		}
	}
	out, err := w.loop().Run(t.Context(), w.files())
	if err != nil && !errors.Is(err, ErrState) {
		w.breaks("the loop failed: %v", err)
	}
	wasDead := w.dead
	w.killAt, w.meet, w.other, w.dead = 0, 0, nil, false
	w.checkApplied()
	if !wasDead && err == nil {
		w.checkOutcomes(out)
	}
}

// documents returns the documents of the state.
func (w *world) documents() map[string]*ledger.Document {
	out := map[string]*ledger.Document{}
	for _, f := range testFiles {
		doc, err := ledger.Read(context.Background(), w.store(), f)
		if err != nil {
			w.breaks("the document of %s: %v", f, err)
			continue
		}
		out[f] = doc
	}
	return out
}

// checkApplied holds that a value is applied only if a run that held it succeeded.
func (w *world) checkApplied() {
	for _, doc := range w.documents() {
		for uid, a := range doc.Targets {
			for k, v := range a.Values {
				if v != decide.Unseen && !w.succeeded[valueKey(uid, k, v)] {
					w.breaks("%s of %s is applied as %s, and no run that held it succeeded", k, uid, v)
				}
			}
		}
	}
}

// checkOutcomes holds that what differs has a run, a hold, a failure or an error that names it.
func (w *world) checkOutcomes(out []Outcome) {
	docs := w.documents()
	for _, o := range out {
		differs := ""
		for n := range 2 {
			uid := uidOf(o.File, o.Environment, n)
			for k, v := range w.values[uid] {
				is := docs[o.File].Targets[uid].Values[k]
				if !w.gone[uid] && v != is && (k == decide.Config || is != "") {
					differs = fmt.Sprintf("%s of %s is %s and not %s", k, uid, is, v)
				}
			}
		}
		isNamed := o.State == decide.Busy || o.State == decide.Start && o.Memory.Intent != nil || o.Hold != "" ||
			len(o.Errors) > 0
		if differs != "" && !isNamed {
			w.breaks("%s: %s, and the cell is %s", o.Cell, differs, o.State)
		}
		if g, ok := w.gates[o.Cell]; ok && o.State == decide.Start {
			w.breaks("%s starts although its gate says %v", o.Cell, g)
		}
	}
}

// settle makes the world calm until nothing is to be done, and holds that then nothing is written
// and everything is applied.
func (w *world) settle(t *testing.T) {
	w.calls, w.killAt, w.meet, w.other, w.dead = 0, 0, 0, nil, false
	w.unknown, w.gates, w.gone = map[string]map[decide.Kind]bool{}, map[string]decide.Gate{}, map[string]bool{}
	for _, uid := range w.uids() {
		w.unknown[uid] = map[decide.Kind]bool{}
		for k, v := range w.values[uid] {
			if strings.HasPrefix(v, "wait") {
				w.values[uid][k] = "v9"
			}
		}
		w.values[uid][decide.Config] = "final" // so that what failed may run again
	}
	for range 8 {
		_, _ = w.loop().Run(t.Context(), w.files())
		for _, r := range w.runs {
			if r.isLive() {
				w.end(r, decide.Succeeded)
			}
		}
	}
	writes, creates := w.writes, w.creates
	out, err := w.loop().Run(t.Context(), w.files())
	if err != nil || w.writes != writes || w.creates != creates {
		w.breaks("a quiet world: %d writes and %d runs, %v", w.writes-writes, w.creates-creates, err)
	}
	w.checkApplied()
	for _, o := range out {
		if o.State != decide.Same {
			w.breaks("a quiet world: %s is %s: %s", o.Cell, o.State, o.Hold)
		}
	}
	w.checkOutcomes(out)
}

// live makes worlds until a law is broken or all steps are done.
func live(t *testing.T, n int, m mutant) []string {
	for seed := uint64(1); n > 0; seed++ {
		w := newWorld(seed, m)
		for range min(stepsOfWorld, n) {
			w.step(t)
			if len(w.broken) > 0 {
				return w.broken
			}
		}
		w.settle(t)
		if len(w.broken) > 0 {
			return append(w.broken, fmt.Sprintf("seed %d", seed))
		}
		n -= stepsOfWorld
	}
	return nil
}

func TestLaws(t *testing.T) {
	n := *steps
	if testing.Short() {
		n = min(n, 3000)
	}
	if broken := live(t, n, mutant{}); broken != nil {
		t.Fatal(strings.Join(broken, "\n"))
	}
}

// Each mutant breaks the law that it is named for.
func TestMutants(t *testing.T) {
	for name, c := range map[string]struct {
		m   mutant
		law string
	}{
		"ids come back":                {mutant{sameID: true}, "no run was made for it"},
		"names are not unique":         {mutant{anyName: true}, "two live runs"},
		"runs cannot be seen":          {mutant{blind: true}, "two live runs"},
		"failures count as successes":  {mutant{lies: true}, "no run that held it succeeded"},
		"writes have no conditions":    {mutant{unguarded: true}, "two live runs"},
		"writes are forgotten":         {mutant{forgetful: true}, ""},
		"targets are not looked at":    {mutant{fewerTargets: true}, "and the cell is"},
		"runs do not name their cause": {mutant{noLabel: true}, ""},
		"unknown gates are open":       {mutant{impatient: true}, "although its gate says"},
	} {
		t.Run(name, func(t *testing.T) {
			broken := strings.Join(live(t, 50_000, c.m), "\n")
			if broken == "" || !strings.Contains(broken, c.law) {
				t.Errorf("broken laws %q, want %q", broken, c.law)
			}
			t.Log(broken)
		})
	}
}
