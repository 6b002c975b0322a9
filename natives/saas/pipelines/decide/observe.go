package decide

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// A Run is a run of a cell as its executor shows it.
type Run struct {
	Name    string
	Intent  string // id of the intent for which it was made, "" if it was not made for one
	Phase   RunPhase
	Created time.Time
	Why     string // why it failed
}

// A RunPhase is how far a run is.
type RunPhase string

// The phases of runs.
const (
	Live      RunPhase = "running" // or not yet started
	Succeeded RunPhase = "succeeded"
	Errored   RunPhase = "failed"
)

// Runs are the runs of a cell.
type Runs struct {
	List    []Run
	Unknown string // why nobody knows them, "" if they were listed
	// Gone is how the run of an intent ended that is no longer there, as the records of promotions
	// tell; nil if they do not tell.
	Gone *RunPhase
}

// observe moves the memory by what became of the run under way. It returns notes for people. The
// memory is changed.
func observe(c Cell, m *Memory, now time.Time) (created bool, notes []string) {
	if c.Runs.Unknown != "" {
		return false, nil
	}
	if m.Intent == nil {
		return false, m.observeAgain(c.Runs.List)
	}
	mine := slices.DeleteFunc(slices.Clone(c.Runs.List), func(r Run) bool { return r.Intent != m.Intent.ID })
	has := func(p RunPhase) int { return slices.IndexFunc(mine, func(r Run) bool { return r.Phase == p }) }
	switch at := has(Errored); {
	case has(Live) >= 0:
		created = m.Intent.Phase == Pending
	case has(Succeeded) >= 0:
		m.succeed()
		notes = append(notes, "a run succeeded, and what it held is applied")
	case at >= 0:
		m.fail(c, mine[at].Why, now, false)
	case m.Intent.Phase == Pending: // it is created now
	case c.Runs.Gone == nil:
		m.fail(c, "the run is gone, and nothing tells how it ended", now, true)
	case *c.Runs.Gone == Succeeded:
		m.succeed()
		notes = append(notes, "the run is gone, and the records of promotions say that it succeeded")
	default:
		m.fail(c, "the run is gone, and the records of promotions say that it failed", now, false)
	}
	if created {
		next := *m.Intent
		next.Phase = Running
		m.Intent = &next
	}
	return created, notes
}

// observeAgain takes a run that a person started again after a failure and that succeeded.
func (m *Memory) observeAgain(runs []Run) []string {
	if m.Failed == nil {
		return nil
	}
	for _, r := range runs {
		if r.Intent == m.Failed.ID && r.Phase == Succeeded {
			was := m.Failed
			m.apply(was.Own, was.Keys, was.Configs)
			return []string{fmt.Sprintf("run %s of %s, which a person started, succeeded", r.Name, was.Fingerprint)}
		}
	}
	return nil
}

// succeed makes what the run under way held applied.
func (m *Memory) succeed() {
	m.apply(m.Intent.Holds, m.Intent.Keys, m.Intent.Configs)
	m.Intent, m.Next = nil, ""
}

// fail makes the run under way the last failure.
func (m *Memory) fail(c Cell, why string, now time.Time, lost bool) {
	it, was := m.Intent, m.Failed
	f := &Failure{
		ID: it.ID, Fingerprint: it.Fingerprint, Run: it.Run, Runs: 1, Since: now, Why: why, Lost: lost,
		Own: it.Holds, Holds: it.Holds, Keys: it.Keys, Configs: it.Configs, AskedFor: it.AskedFor,
	}
	if was != nil {
		if was.Fingerprint == it.Fingerprint {
			f.Runs = was.Runs + 1
		}
		f.inherit(was, c)
	}
	m.Failed, m.Intent, m.Next = f, nil, ""
}

// inherit adds what an earlier failure held and is still in the cell. Nobody knows what is
// deployed of it either.
func (f *Failure) inherit(was *Failure, c Cell) {
	holds, keys, configs := maps.Clone(f.Holds), maps.Clone(f.Keys), maps.Clone(f.Configs)
	for _, t := range c.Targets {
		if was.Keys[t.UID] != t.Key {
			continue
		}
		for kind, value := range was.Holds[t.UID] {
			if _, isNew := f.Holds[t.UID][kind]; isNew {
				continue
			}
			holds[t.UID] = holds[t.UID].overlay(Values{kind: value})
			keys[t.UID] = t.Key
			if raw, ok := was.Configs[t.UID]; ok && kind == Config {
				if configs == nil {
					configs = map[string]json.RawMessage{}
				}
				configs[t.UID] = raw
			}
		}
	}
	f.Holds, f.Keys, f.Configs = holds, keys, configs
}

// stranger returns a live run of the cell that is not the run under way.
func stranger(c Cell, m Memory) (Run, bool) {
	for _, r := range c.Runs.List {
		if r.Phase == Live && (m.Intent == nil || r.Intent != m.Intent.ID) {
			return r, true
		}
	}
	return Run{}, false
}
