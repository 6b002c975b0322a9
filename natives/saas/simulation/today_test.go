package simulation

import (
	"strconv"
	"time"

	"github.com/app-sre/prcheck/natives/saas/pipelines/decide"
)

// every is how often a loop looks, if there may be something to see.
const every = 3 * time.Minute

// A today is a model of the four trigger integrations of qontract-reconcile. Each looks at all
// targets, and starts a run for what differs from its own memory.
type today struct {
	*world
	memory map[decide.Kind]map[*target]string
	dirty  map[decide.Kind]map[*file]bool
	loops  map[decide.Kind]*pacer
	failed map[*target]snapshot // what the last run of a target held, if it failed
}

func newToday(w *world) *today {
	s := &today{world: w, memory: map[decide.Kind]map[*target]string{}, dirty: map[decide.Kind]map[*file]bool{},
		loops: map[decide.Kind]*pacer{}, failed: map[*target]snapshot{}}
	for i, k := range kinds {
		s.memory[k], s.dirty[k] = map[*target]string{}, map[*file]bool{}
		s.loops[k] = &pacer{clock: &w.clock, every: every, offset: time.Duration(i) * every / 4, do: func() { s.trigger(k) }}
		for _, t := range w.all {
			if t.follows == k {
				s.memory[k][t] = t.now().follows
			}
			if k == decide.Config {
				s.memory[k][t] = t.config()
			}
		}
	}
	return s
}

// kinds are the four triggers.
var kinds = []decide.Kind{decide.Config, decide.Commit, decide.Upstream, decide.Image}

func (s *today) changed(f *file, of ...decide.Kind) {
	for _, k := range of {
		s.dirty[k][f] = true
		s.loops[k].ask()
	}
}

// trigger is one look of one integration.
func (s *today) trigger(k decide.Kind) {
	files := s.dirty[k]
	s.dirty[k] = map[*file]bool{}
	for _, f := range s.files {
		if files[f] {
			s.look1(k, f)
		}
	}
}

// look1 starts what one file needs. The name of a cell is noted before its run is created; a
// target of a cell whose name is noted counts as started.
func (s *today) look1(k decide.Kind, f *file) {
	noted := map[*cell]bool{}
	for _, c := range f.cells {
		for _, t := range c.targets {
			value, differs := s.diff(k, t)
			if !differs {
				continue
			}
			if !noted[c] {
				noted[c] = true
				if _, err := s.start(c, "", ""); err != nil {
					s.changed(f, k)
					continue
				}
				if s.luck.Float64() < killed {
					s.changed(f, k)
					return // nothing is remembered
				}
			}
			s.memory[k][t] = value
		}
	}
}

// diff returns what a trigger sees of a target, and whether it starts a run.
func (s *today) diff(k decide.Kind, t *target) (string, bool) {
	r := t.cell.file.repo
	switch {
	case k == decide.Config && t.cell.file.slo:
		return "", false
	case k == decide.Config:
		return t.config(), t.config() != s.memory[k][t]
	case t.follows != k:
		return "", false
	case k == decide.Commit:
		return r.head(), r.head() != s.memory[k][t]
	case k == decide.Image:
		return r.head(), r.images[r.head()] && r.head() != s.memory[k][t]
	}
	b := r.builds[len(r.builds)-1] // the newest, whatever became of it
	n := strconv.Itoa(b.Number)
	return n, b.Result == "SUCCESS" && n != s.memory[k][t]
}

func (s *today) ended(r *run) {
	for t, held := range r.holds {
		if delete(s.failed, t); !r.isGood {
			s.failed[t] = held
		}
	}
}

// believes tells what the memories say. A run that failed is not remembered anywhere.
func (s *today) believes(t *target) (bool, string) {
	for _, k := range kinds {
		if _, differs := s.diff(k, t); differs {
			return false, ""
		}
	}
	if t.cell.file.slo {
		return false, "the service misses its objectives"
	}
	if held, ok := s.failed[t]; ok && held == t.now() {
		return true, "the run failed"
	}
	return true, ""
}
