package loop

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/natives/saas/pipelines/decide"
	"github.com/app-sre/prcheck/natives/saas/pipelines/executor"
	"github.com/app-sre/prcheck/natives/saas/pipelines/ledger"
	"github.com/app-sre/prcheck/state"
)

// run makes one iteration without faults.
func (w *world) run(t *testing.T) []Outcome {
	t.Helper()
	w.calls, w.killAt, w.dead = 0, 0, false
	out, err := w.loop().Run(t.Context(), w.files())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A slowWorld is a world in which another process does everything while runs are listed.
type slowWorld struct {
	*world
	meanwhile func()
}

func (s slowWorld) Runs(ctx context.Context, at executor.Place) ([]executor.CellRun, error) {
	out, err := s.world.Runs(ctx, at)
	s.meanwhile()
	return out, err
}

// A process that slept does not create a run that others have dealt with in the meantime.
func TestSleeper(t *testing.T) {
	w := newWorld(1, mutant{})
	w.killAt = 1 + len(testFiles) + 1 + 1 // the intents of one file are written, and its first run is not created
	_, _ = w.loop().Run(t.Context(), w.files())
	w.calls, w.killAt, w.dead = 0, 0, false
	files := w.files()
	slow := slowWorld{w, func() {
		w.run(t)
		for _, r := range w.runs {
			w.end(r, decide.Succeeded)
		}
		w.run(t)
		w.now = w.now.Add(2 * time.Hour)
		w.prune()
	}}
	for i := range files {
		for j := range files[i].Cells {
			files[i].Cells[j].Executor = slow
		}
	}
	creates := w.creates
	out, err := w.loop().Run(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	if made := w.creates - creates; made != 4 || len(w.runs) > 0 {
		t.Errorf("%d runs were made, want those 4 of the other process: %+v", made, out)
	}
}

// A name that belongs to the run of somebody else starts nothing, and the next round takes
// another name.
func TestTakenNames(t *testing.T) {
	w := newWorld(1, mutant{})
	l := w.loop()
	name := l.Policy.Name
	l.Policy.Name = func(cell, id string) string { return strings.ReplaceAll(cell, "/", "-") }
	for _, f := range w.files() {
		for _, c := range f.Cells {
			w.runs = append(w.runs,
				&testRun{CellRun: executor.CellRun{Run: decide.Run{Name: strings.ReplaceAll(c.Key, "/", "-"),
					Intent: "somebody else", Phase: decide.Succeeded}, File: "other", Environment: "other"}})
		}
	}
	out, err := l.Run(t.Context(), w.files())
	if err != nil || w.creates > 0 || !strings.Contains(strings.Join(out[0].Errors, ""), executor.ErrTaken.Error()) {
		t.Fatalf("%v, %d runs, %q", err, w.creates, out[0].Errors)
	}
	l = w.loop()
	l.Policy.Name = name
	if _, err := l.Run(t.Context(), w.files()); err != nil || w.creates != 4 {
		t.Errorf("then %v, %d runs, want 4", err, w.creates)
	}
}

// A state that cannot be reached starts nothing at all.
func TestUnreachableState(t *testing.T) {
	w := newWorld(1, mutant{})
	w.killAt = 2
	if out, err := w.loop().Run(t.Context(), w.files()); !errors.Is(err, ErrState) || len(out) > 0 || w.creates > 0 {
		t.Errorf("%v, %v, %d runs", out, err, w.creates)
	}
}

// Without the take-over of what other programs remember, nothing of the file starts.
func TestBegin(t *testing.T) {
	w := newWorld(1, mutant{})
	l := w.loop()
	l.Begin = func(_ context.Context, doc *ledger.Document) (*ledger.Document, error) {
		if doc.File == "a" {
			return nil, errors.New("they still write")
		}
		for _, uid := range w.uids() {
			if values := w.values[uid]; strings.HasPrefix(uid, "b-") {
				doc.Targets[uid] = decide.Applied{Key: uid, Values: decide.Values{decide.Config: values[decide.Config]},
					TakenOver: true}
			}
		}
		return doc, nil
	}
	out, err := l.Run(t.Context(), w.files())
	if err != nil || w.creates > 0 {
		t.Fatalf("%v, %d runs", err, w.creates)
	}
	for _, o := range out {
		if want := map[string]decide.State{"a": decide.Broken, "b": decide.Same}[o.File]; o.State != want ||
			(o.File == "a") != strings.Contains(o.Hold, "they still write") {
			t.Errorf("%s is %s %q, want %s", o.Cell, o.State, o.Hold, want)
		}
	}
	keys := slices.DeleteFunc([]string{ledger.Key("a"), ledger.Key("b")}, func(key string) bool {
		return w.docs[key] == nil
	})
	if len(keys) != 1 || keys[0] != ledger.Key("b") {
		t.Errorf("the state has %v, want the file that was taken over", keys)
	}
	if w.run(t); w.creates == 0 {
		t.Error("a file of which nothing is remembered starts nothing")
	}
}

var _ state.Store = testStore{}
