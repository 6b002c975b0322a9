package simulation

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Figures are what became of a system.
type figures struct {
	runs, failed, calls int
	perMerge            []int // runs of a cell until the first run with a merge ended
	atOnce              int   // most runs of a cell at the same time
	doubled             int   // runs that started while another one of the cell was under way
	older               int   // runs that deployed something older than what was there
	lost                map[string]bool
	forgotten           map[string]bool
	unnamed             map[string]bool
	held                int // targets at the end that are held or failed, and the system says so

	promotions     int // targets whose commit was set by a merge request
	mergeRequests  int // merged ones
	pushes         int // to branches of promotions
	ownConflicts   int // since another promotion was merged
	otherConflicts int // since a person changed main
	conflicting    map[string]bool
	waits          []time.Duration // from when a commit could be promoted until one was
	forever        map[string]bool
}

var errCall = errors.New("the server answered 503")

// start starts a run of a cell, or fails as requests do.
func (w *world) start(c *cell, name, id string) (*run, error) {
	w.calls++
	if w.luck.Float64() < failedCall {
		return nil, errCall
	}
	r := &run{cell: c, started: w.now, name: name, id: id, isLive: true, holds: map[*target]snapshot{}}
	for _, t := range c.targets {
		r.holds[t] = t.now()
	}
	for _, m := range c.merges {
		m.runs++
	}
	if len(c.live) > 0 {
		w.doubled++
	}
	c.live = append(c.live, r)
	w.runs, w.atOnce = w.runs+1, max(w.atOnce, len(c.live))
	fails := w.luck.Float64() < failedRun
	w.in(between(w.luck, 4*time.Minute, 30*time.Minute), func() { w.end(r, !fails) })
	return r, nil
}

// end ends a run.
func (w *world) end(r *run, isGood bool) {
	c := r.cell
	r.isLive, r.isGood = false, isGood
	c.live = slices.DeleteFunc(c.live, func(other *run) bool { return other == r })
	for _, m := range c.merges {
		if !m.at.After(r.started) {
			w.perMerge = append(w.perMerge, m.runs)
		}
	}
	c.merges = slices.DeleteFunc(c.merges, func(m *merge) bool { return !m.at.After(r.started) })
	if isGood {
		isOlder := false
		for t, s := range r.holds {
			isOlder = isOlder || t.since.After(r.started) && t.deployed != s
			t.deployed, t.since = s, r.started
		}
		if isOlder {
			w.older++
		}
	} else {
		w.failed++
	}
	if w.data != nil {
		w.publish(r)
	}
	w.ended(r)
}

// publish writes the records of a run, and looks what can be promoted.
func (w *world) publish(r *run) {
	for t, held := range r.holds {
		if t.cell.env == "stage" {
			w.record(t, held, r.isGood)
			w.observe(t.cell.file.cells[1].targets[t.template])
		}
	}
	w.wake()
}

// look compares what is deployed with what the data and the services say, when nobody works and
// all runs have ended. What the system believes to be deployed and is not, is lost; what differs
// without a word of the system about it is unnamed.
func (w *world) look() {
	w.held = 0
	if w.data != nil {
		w.lookAtPromotions()
	}
	for _, t := range w.all {
		is, want := t.deployed, t.now()
		if is.config == want.config && is.follows == want.follows || len(t.cell.live) > 0 {
			continue
		}
		what := fmt.Sprintf("%s %s %s", t.uid, want.config, want.follows)
		switch done, why := w.believes(t); {
		case done && why != "":
			w.forgotten[what] = true
		case done:
			w.lost[what] = true
		case why == "":
			w.unnamed[what] = true
		default:
			w.held++
		}
	}
}
