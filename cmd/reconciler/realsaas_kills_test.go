//go:build !race

package main

import (
	"cmp"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/kubetest"
)

// Kills of the loop at random moments, two loops at once, runs that fail or vanish: each intent
// has one run, a cell never has two at once, and no change is lost.
func TestRealSaasKills(t *testing.T) {
	kills, err := strconv.Atoi(cmp.Or(os.Getenv("PRCHECK_KILLS"), "12"))
	if err != nil {
		t.Fatal(err)
	}
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("PRCHECK_SEED"), strconv.FormatInt(time.Now().UnixNano(), 10)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	p := newPlant(t, 6, rand.New(rand.NewPCG(seed, 7))) //nolint:gosec // repeatable
	t.Logf("%d kills with PRCHECK_SEED=%d", kills, seed)
	w := &watcher{plant: p, t: t, intents: map[string]string{}, random: rand.New(rand.NewPCG(seed, 9))} //nolint:gosec // repeatable
	ended := make(chan struct{})
	var watching, working sync.WaitGroup
	watching.Go(func() { w.watch(ended) })
	var mu sync.Mutex // of the data
	for n := range 2 {
		random := rand.New(rand.NewPCG(seed, uint64(n))) //nolint:gosec // repeatable
		working.Go(func() {
			rounds := 0
			for done := 0; done < kills/2; rounds++ {
				mu.Lock()
				p.change(t, random.IntN(100), random.IntN(6))
				mu.Unlock()
				if p.kill(t, random) {
					done++
				}
			}
			t.Logf("loop %d: %d of %d rounds were killed", n, kills/2, rounds)
		})
	}
	working.Wait()
	w.calm()
	p.doom.calm()
	p.converge(t)
	t.Logf("%d kills just before a write, %d just after one", p.doom.before, p.doom.after)
	close(ended)
	watching.Wait()
	w.check()
}

// kill makes a round of the loop and kills it a little later. It reports whether it came in time.
func (p *plant) kill(t *testing.T, random *rand.Rand) bool {
	t.Helper()
	if random.IntN(2) == 0 {
		p.forgetLeases(t)
	}
	cmd := p.command(t, "--no-dry-run")
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return true
	}
	defer p.doom.watch(cmd)()
	after := 200*time.Millisecond + time.Duration(random.ExpFloat64()*float64(2*time.Second))
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() }) // it may have ended
	defer timer.Stop()
	_ = cmd.Wait() // it was killed
	return !cmd.ProcessState.Exited()
}

// converge makes rounds until nothing differs any more.
func (p *plant) converge(t *testing.T) {
	t.Helper()
	for range 100 {
		p.forgetLeases(t)
		out, err := p.command(t, "--no-dry-run").Output()
		var report struct {
			Units []struct{ Key, State string }
		}
		if err == nil {
			err = json.Unmarshal(out, &report)
		}
		isSame := err == nil && len(report.Units) > 0
		for _, u := range report.Units {
			isSame = isSame && u.State == "same"
		}
		if isSame {
			return
		}
		time.Sleep(300 * time.Millisecond)
	}
	p.forgetLeases(t)
	out, err := p.command(t, "--no-dry-run").CombinedOutput()
	t.Errorf("there is always something to do: %v\n%s", err, out)
}

// A watcher looks at the runs all the time, and plays them.
type watcher struct {
	*plant
	t       *testing.T
	mu      sync.Mutex
	isCalm  bool // no run fails any more
	random  *rand.Rand
	intents map[string]string    // names of runs, by intent
	done    []pipelineRun        // that succeeded
	started map[string]time.Time // when a run was seen first
	gone    int                  // runs that were taken away
	failed  int                  // runs that failed
	ends    map[string]kubetest.RunState
}

func (p *plant) list() (int, []byte, error) { return p.real.Ask("/apis/tekton.dev/v1/pipelineruns") }

func (w *watcher) calm() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isCalm = true
}

// watch plays the runs until the end.
func (w *watcher) watch(ended <-chan struct{}) {
	w.started, w.ends = map[string]time.Time{}, map[string]kubetest.RunState{}
	for {
		select {
		case <-ended:
			return
		case <-time.After(50 * time.Millisecond):
		}
		list, err := w.runs()
		if err != nil {
			w.t.Error(err)
			return
		}
		live := map[string]string{}
		for _, r := range list {
			w.note(r)
			if !r.isLive() {
				continue
			}
			if other := live[r.cell()]; other != "" {
				w.t.Errorf("the runs %s and %s of %s are under way at once", other, r.Metadata.Name, r.cell())
			}
			live[r.cell()] = r.Metadata.Name
			w.play(r)
		}
	}
}

// note checks that a run is the only one of its intent.
func (w *watcher) note(r pipelineRun) {
	intent, name := r.Metadata.Labels["qontract.intent"], r.Metadata.Name
	if other, ok := w.intents[intent]; intent == "" || ok && other != name {
		w.t.Errorf("the intent %q has the runs %s and %s", intent, other, name)
	}
	w.intents[intent] = name
	if _, ok := w.started[name]; !ok {
		w.started[name] = time.Now()
	}
}

// play lets a run go on, and end after a while.
func (w *watcher) play(r pipelineRun) {
	name := r.Metadata.Name
	if r.status() == "" {
		w.real.PlayRun(w.t, r.Metadata.Namespace, name, kubetest.RunRunning)
		return
	}
	w.mu.Lock()
	isCalm := w.isCalm
	w.mu.Unlock()
	state := w.ends[name]
	if state == "" {
		state = kubetest.RunSucceeded
		if n := w.random.IntN(10); n == 0 && !isCalm {
			state = kubetest.RunFailed
		}
		w.ends[name] = state
	}
	if time.Since(w.started[name]) < time.Duration(w.random.IntN(2000))*time.Millisecond {
		return
	}
	if w.random.IntN(20) == 0 && !isCalm {
		w.gone++
		w.real.PlayRun(w.t, r.Metadata.Namespace, name, kubetest.RunGone)
		return
	}
	w.real.PlayRun(w.t, r.Metadata.Namespace, name, state)
	if state == kubetest.RunFailed {
		w.failed++
		return
	}
	w.done = append(w.done, r)
}

// check checks that the last change of each cell is in a run that succeeded, and that the server
// made as many runs as there are intents.
func (w *watcher) check() {
	t := w.t
	for _, cell := range w.cells() {
		for kind, revision := range w.changed[cell] {
			found := 0
			for _, r := range w.done {
				if r.cell() == cell {
					found = max(found, r.reasonsOf(t)[kind])
				}
			}
			if found < revision {
				t.Errorf("%s: its %s changed last in revision %d, and the last run that succeeded with one is of revision %d", cell,
					kind, revision, found)
			}
		}
	}
	made := 0
	for _, q := range w.real.Audit(t, "admin") {
		if (q.Verb == "create" || q.Verb == "patch") && strings.Contains(q.Path, "/pipelineruns/") &&
			q.Code == http.StatusCreated {
			made++
			if name := q.Path[strings.LastIndex(q.Path, "/")+1:]; !slices.Contains(slices.Collect(maps.Values(w.intents)),
				name) {
				t.Errorf("the run %s was not seen", name)
			}
		}
	}
	if made > len(w.intents) { // the log lacks requests whose client died before the answer
		t.Errorf("%d runs were made for %d intents that were seen", made, len(w.intents))
	}
	t.Logf("%d runs for %d intents: %d succeeded, %d failed, %d were taken away; %d revisions", made, len(w.intents),
		len(w.done), w.failed, w.gone, w.at)
}
