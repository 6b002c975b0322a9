package loop

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/natives/saas/pipelines/decide"
	"github.com/app-sre/prcheck/natives/saas/pipelines/executor"
	"github.com/app-sre/prcheck/natives/saas/pipelines/ledger"
	"github.com/app-sre/prcheck/state"
)

// A testRun is a run in the world.
type testRun struct {
	executor.CellRun
	holds decide.Holding
	ended time.Time
}

// A world has saas files, a state and runs, and breaks as tests want it.
type world struct {
	rng  *rand.Rand
	now  time.Time
	docs map[string][]byte // the state, by key
	runs []*testRun

	values  map[string]map[decide.Kind]string // what the sources say, by uid
	unknown map[string]map[decide.Kind]bool
	gates   map[string]decide.Gate // by cell
	gone    map[string]bool        // targets that the data do not have

	calls   int    // of the store and of the executor
	killAt  int    // the call at which the process dies, 0 for never
	isAfter bool   // it dies after the call took effect
	dead    bool   // no call of the process that runs takes effect
	meet    int    // the call at which another process makes a whole iteration, 0 for never
	other   func() // that iteration
	writes  int
	creates int
	ids     int
	m       mutant

	again     []string        // fingerprints that a person wants again
	tries     int             // how often one fingerprint may run
	succeeded map[string]bool // uid, kind and value that a run that succeeded held
	tick      int             // grows with each intent and each run
	intended  map[string]int  // the tick of an intent, by id
	born      map[string]int  // the tick of the last run of an intent, by id
	broken    []string        // laws that were broken
}

// A mutant is a mistake that a law must find.
type mutant struct {
	sameID       bool // intents of one fingerprint have the same id
	anyName      bool // the executor makes a second run of a name
	blind        bool // the executor lists no runs
	lies         bool // the executor says that failed runs succeeded
	unguarded    bool // the store ignores conditions
	forgetful    bool // the store forgets writes
	fewerTargets bool // the loop does not see some targets
	noLabel      bool // runs do not carry their intent
	impatient    bool // gates that nobody can read count as open
}

var errKilled = errors.New("killed")

// Names of the world.
var (
	testFiles = []string{"a", "b"}
	testEnvs  = []string{"stage", "prod"}
	testKinds = []decide.Kind{decide.Config, decide.Commit, decide.Upstream, decide.Image}
)

func uidOf(file, env string, n int) string { return fmt.Sprintf("%s-%s-%d", file, env, n) }

func newWorld(seed uint64, m mutant) *world {
	w := &world{rng: rand.New(rand.NewPCG(seed, 16)), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		docs:   map[string][]byte{},
		values: map[string]map[decide.Kind]string{}, unknown: map[string]map[decide.Kind]bool{},
		gates: map[string]decide.Gate{}, gone: map[string]bool{},
		tries: int(seed % 3), succeeded: map[string]bool{}, intended: map[string]int{}, born: map[string]int{}, m: m}
	for _, f := range testFiles {
		for _, e := range testEnvs {
			for n := range 2 {
				uid := uidOf(f, e, n)
				w.values[uid] = map[decide.Kind]string{}
				w.unknown[uid] = map[decide.Kind]bool{}
				for _, k := range testKinds[:1+(n+len(e))%4] {
					w.values[uid][k] = "v0"
				}
			}
		}
	}
	return w
}

// call counts a call, and says whether it takes effect and whether its answer arrives.
func (w *world) call() (effect, answer bool) {
	if w.dead {
		return false, false
	}
	w.calls++
	if w.meet > 0 && w.calls == w.meet && w.other != nil {
		other, calls := w.other, w.calls
		w.other = nil
		other()
		w.calls, w.dead = calls, false
	}
	if w.killAt > 0 && w.calls >= w.killAt {
		w.dead = true
		return w.isAfter, false
	}
	return true, true
}

// Start implements [executor.Executor] as a cluster does: a name is there once.
func (w *world) Start(_ context.Context, o executor.Order) error {
	effect, answer := w.call()
	if effect {
		at := slices.IndexFunc(w.runs, func(r *testRun) bool { return r.Name == o.Intent.Run })
		if at >= 0 && !w.m.anyName {
			if w.runs[at].Intent != o.Intent.ID {
				return executor.ErrTaken
			}
		} else {
			w.create(o)
		}
	}
	if !answer {
		return errKilled
	}
	return nil
}

// create makes a run. It holds the law of one live run.
func (w *world) create(o executor.Order) {
	r := &testRun{CellRun: executor.CellRun{Run: decide.Run{Name: o.Intent.Run, Intent: o.Intent.ID, Phase: decide.Live,
		Created: w.now}, File: o.File, Environment: o.Environment}, holds: o.Intent.Holds}
	for _, other := range w.runs {
		if other.isLive() && other.cell() == r.cell() {
			w.breaks("two live runs of %s: %s and %s", r.cell(), other.Name, r.Name)
		}
	}
	w.creates++
	w.tick++
	w.born[r.Intent] = w.tick
	w.runs = append(w.runs, r)
}

// end ends a run.
func (w *world) end(r *testRun, p decide.RunPhase) {
	r.Phase, r.ended, r.Why = p, w.now, "it failed"
	if p == decide.Succeeded {
		for uid, values := range r.holds {
			for k, v := range values {
				w.succeeded[valueKey(uid, k, v)] = true
			}
		}
	}
}

// files returns the saas files as the loop gets them.
func (w *world) files() []RunnableFile {
	var out []RunnableFile
	for _, f := range testFiles {
		file := RunnableFile{Name: f, Named: map[string]bool{}, Environments: map[string]bool{}}
		for _, e := range testEnvs {
			c := RunnableCell{Environment: e, Executor: w, Order: executor.Order{File: f, Environment: e,
				Place: executor.Place{Namespace: "pipelines"}}}
			c.Key = cellOf(f, e)
			for n := range 2 {
				if uid := uidOf(f, e, n); !w.gone[uid] {
					file.Named[uid] = true
					if t := w.target(uid); !w.m.fewerTargets || n == 0 {
						c.Targets = append(c.Targets, t)
					}
				}
			}
			file.Environments[e] = true
			file.Cells = append(file.Cells, c)
		}
		out = append(out, file)
	}
	return out
}

// target returns a target with what its sources say.
func (w *world) target(uid string) decide.WatchedTarget {
	t := decide.WatchedTarget{UID: uid, Key: uid, Label: uid}
	for _, k := range testKinds {
		value, ok := w.values[uid][k]
		switch {
		case !ok:
		case w.unknown[uid][k]:
			t.Signals = append(t.Signals, decide.Signal{Kind: k, Unknown: "no answer"})
		case strings.HasPrefix(value, "wait"):
			t.Signals = append(t.Signals, decide.Signal{Kind: k, Wait: value})
		default:
			t.Signals = append(t.Signals, decide.Signal{Kind: k, Value: value, Reason: value,
				Content: []byte(fmt.Sprintf("%q", value))})
		}
	}
	return t
}

// loop returns an iteration of a process.
func (w *world) loop() *Loop {
	w.ids++
	s := w.store()
	writer := fmt.Sprint(w.ids)
	return &Loop{State: s, Writes: s, Writer: writer, Now: func() time.Time { return w.now }, Policy: decide.Policy{
		Max: w.tries, Backoff: 20 * time.Minute, Again: w.again, Name: ledger.RunName,
		NewID: func(cell, fp string) string {
			if w.m.sameID {
				return state.Name(cell, fp)
			}
			return state.Name(cell, fp, writer)
		},
	}, Gates: func(_ context.Context, c RunnableCell) []decide.Gate {
		g, ok := w.gates[c.Key]
		if !ok {
			return nil
		}
		if w.m.impatient {
			g = decide.Gate{}
		}
		return []decide.Gate{g}
	}}
}
