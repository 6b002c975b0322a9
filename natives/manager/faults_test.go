package manager

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/settings"
)

var (
	roughWorlds = flag.Int("rough", 6, "how many worlds with random faults are tried")
	firstRough  = flag.Int("rough-from", 0, "number of the first world with random faults")
)

// For every world, whatever goes wrong: a run deletes nothing that the data want, touches nothing
// of others, keeps the limits of deletions and explains what it leaves; a dry run writes nothing
// and says what the run does; and in the end everything is as the data say.
func TestFaults(t *testing.T) {
	n := *roughWorlds
	if testing.Short() {
		n = min(n, 8)
	}
	clusters := []*kubetest.Server{kubetest.New(t), kubetest.New(t)}
	total := tally{}
	for seed := *firstRough; seed < *firstRough+n; seed++ {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			r := newRough(t, uint64(seed), clusters)
			for range 3 + r.IntN(4) {
				r.change()
				r.tryRun(total)
				if t.Failed() {
					return
				}
			}
			r.converge(total)
		})
	}
	t.Logf("%d worlds: %v", n, total)
	for _, what := range []string{"runs", "faulty runs", "failed runs", "writes", "deleted", "refused", "explained",
		"dry runs compared"} {
		if total[what] == 0 && n >= 25 {
			t.Errorf("no world has %s", what)
		}
	}
}

// A tally counts what happened in all worlds.
type tally map[string]int

// tryRun makes a dry run and a run in which things may go wrong, and checks the laws.
func (r *rough) tryRun(total tally) {
	of := r.next()
	clean := r.expect(of)
	isBroken := r.IntN(6) == 0
	if isBroken {
		r.breakData(of.data)
		of.query = of.data.query(r.t)
	}
	r.rest()
	r.settle()
	before := r.snapshot()
	if r.IntN(2) == 0 {
		clean.planned = r.dryRun(of)
	}
	isHopeless := r.setFaults(&of)
	r.mu.Lock()
	started := r.rate > 0 || r.left > 0 || isHopeless
	r.mu.Unlock()
	err, fails := r.run(of, false)
	fired := r.fired || isHopeless
	said, log, writes := slices.Clone(r.said), r.log.String(), r.writes
	r.rest()
	r.settle()
	after := r.snapshot()
	total["runs"]++
	total["writes"] += writes
	if started {
		total["faulty runs"]++
	}
	if fails {
		total["failed runs"]++
	}
	about := fmt.Sprintf("manager %q, fails: %t, faults: %t, broken data: %t\nsettings %+v\nerror %v\nsaid %s\nlog %s",
		of.by.upstream, fails, fired, isBroken, of.settings.Deletes, err, strings.Join(said, "\n"), log)
	if isHopeless && (err == nil || writes > 0) {
		r.t.Errorf("nothing can be known, and %d requests wrote: %s", writes, about)
	}
	told := strings.Join(said, "\n") + "\n" + log
	clean.check(r, before, after, about, told, total)
	if !fired && !isBroken {
		clean.checkPlanned(r, before, after, fails, about, total)
	}
	if err == nil && !fired && !isBroken {
		clean.checkExplained(r, after, told, about, total)
	}
}

// setFaults decides what goes wrong in the next run. It reports whether the manager cannot know
// anything then.
func (r *rough) setFaults(of *runOf) (isHopeless bool) {
	switch r.IntN(8) {
	case 0, 1:
		r.rate = 1 + r.IntN(30)
	case 2, 3:
		r.left = 1 + r.IntN(40)
		of.by.state.ask = func() error {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.dead {
				return errFault
			}
			return nil
		}
	case 4:
		r.left, r.dying = 1+r.IntN(20), r.IntN(2)
	case 5:
		return r.loseKnowledge(of)
	}
	return false
}

// loseKnowledge lets the state or a query fail, or the state be lost.
func (r *rough) loseKnowledge(of *runOf) (isHopeless bool) {
	switch r.IntN(3) {
	case 0:
		of.by.state.ask = func() error { return errFault }
		return true
	case 1:
		n, query := r.IntN(4), of.query
		of.query = func(ctx context.Context, text string, variables map[string]any) ([]byte, error) {
			if n--; n < 0 {
				return nil, reconcile.Transient(errFault)
			}
			return query(ctx, text, variables)
		}
		return true
	}
	of.by.state.docs, of.by.hasLost, r.fired = map[string][]byte{}, true, true
	return false
}

// dryRun returns the steps of a dry run by the names of their objects, and the others that the
// gate refuses.
func (r *rough) dryRun(of runOf) map[string]string {
	err, _ := r.run(of, true)
	if r.writes > 0 {
		r.t.Errorf("the dry run wrote: %v", err)
	}
	out := map[string]string{}
	for _, f := range r.said {
		if text, ok := strings.CutPrefix(f, "step "); ok {
			action, key, _ := strings.Cut(text, " ")
			out[physical(key)] = action
		}
	}
	return out
}

// converge makes runs without faults until there is nothing to do.
func (r *rough) converge(total tally) {
	for _, m := range r.managers {
		m.hasLost = m.hasLost || len(r.managers) > 1
	}
	isWide := r.IntN(2) == 0
	quiet := 0 // rounds without a write
	for round := range 8 {
		writes := 0
		for _, m := range r.managers {
			writes += r.convergeOnce(m, isWide, round, total)
		}
		if quiet++; writes > 0 {
			quiet = 0
		}
		if r.t.Failed() || quiet == 2 {
			return
		}
	}
}

// convergeOnce makes a dry run and a run of a manager without faults, and returns how often the
// run wrote.
func (r *rough) convergeOnce(m *roughManager, isWide bool, round int, total tally) int {
	r.rest()
	r.settle()
	of := r.next()
	of.by, of.leftGoes = m, isWide
	own := "exclude_service: false\n"
	if m.upstream != "" {
		own += "upstream: " + m.upstream + "\n"
	}
	many := 1000
	limits := settings.Deletes{}
	if isWide {
		own += "left_behind: delete\n"
		limits = settings.Deletes{Percent: &many, Floor: &many, Max: &many}
	}
	of.settings = settingsOf(r.t, own)
	of.settings.Deletes = limits
	want := r.expect(of)
	want.planned = r.dryRun(of)
	before := r.snapshot()
	err, fails := r.run(of, false)
	writes := r.writes
	r.settle()
	after := r.snapshot()
	total["runs"]++
	told := strings.Join(r.said, "\n") + "\n" + r.log.String()
	about := fmt.Sprintf("converging, round %d, manager %q, wide %t: %v\n%s", round, m.upstream, isWide, err, told)
	want.check(r, before, after, about, told, total)
	want.checkPlanned(r, before, after, fails, about, total)
	if err == nil {
		want.checkExplained(r, after, told, about, total)
	}
	for id := range want.stays {
		if _, key, _ := strings.Cut(id, "/"); after[id] == nil && !strings.Contains(told, key) && round > 0 {
			r.t.Errorf("%s is missing in the end: %s", id, about)
		}
	}
	if round == 7 && writes > 0 {
		r.t.Errorf("it does not come to rest: %s", about)
	}
	return writes
}
