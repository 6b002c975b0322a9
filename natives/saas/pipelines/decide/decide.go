package decide

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Policy says how failures are treated, and how runs are named.
type Policy struct {
	// Max is how often one fingerprint may run; 0 is once.
	Max int
	// Backoff is the pause after a failure before the next run. It doubles with each failure, up
	// to a day.
	Backoff time.Duration
	// Again are the fingerprints that a person wants to run again.
	Again []string
	// NewID returns an id for an intent. No two intents have the same one.
	NewID func(cell, fingerprint string) string
	// Name returns the name of the run of an intent.
	Name func(cell, id string) string
}

// A State says how a cell stands.
type State string

// The states of cells.
const (
	Same    State = "same"    // nothing differs, as far as anybody knows
	Off     State = "off"     // nothing is looked at, such as a saas file that is deprecated
	Start   State = "start"   // a run starts
	Busy    State = "running" // a run is under way
	Held    State = "held"    // something differs, and waits
	Failed  State = "failed"  // what differs failed before
	Broken  State = "broken"  // the data allow no run
	Unknown State = "unknown" // nothing differs, but a source does not answer
)

// A Decision is what becomes of a cell.
type Decision struct {
	Cell        string
	State       State
	Fingerprint string          // of what differs, "" if nothing does
	Reasons     []Reason        // why a run starts or would start
	Hold        string          // what the cell waits for, "" if it does not wait
	Opens       time.Time       // when the wait ends; zero if nobody knows
	Notes       []string        // for people
	Errors      []string        // fail the loop
	Finished    []WatchedTarget // targets that can be removed from the data
	Create      bool            // the run of the intent is to be created
	NeedsGates  bool            // the cell would start: ask the gates and decide again
	Memory      Memory          // what is remembered now
}

// Decide decides about a cell. The memory that it gets is not changed.
func Decide(c Cell, m Memory, p Policy, now time.Time) Decision {
	d := Decision{Cell: c.Key, Memory: m.clone()}
	if c.Runs.Unknown != "" {
		d.Errors = append(d.Errors, "its runs cannot be listed: "+c.Runs.Unknown)
	}
	_, d.Notes = observe(c, &d.Memory, now)
	diff := compare(c, d.Memory)
	d.Errors = append(d.Errors, diff.unknown...)
	d.finish(c)
	d.choose(c, diff, p, now)
	return d
}

// choose finds the first row of the table of decisions that fits.
func (d *Decision) choose(c Cell, diff difference, p Policy, now time.Time) {
	switch {
	case c.Deprecated:
		d.State, d.Hold = Off, "the saas file is deprecated"
		return
	case len(c.Targets) == 0:
		d.State, d.Hold = Off, "no target is enabled"
		return
	case c.Mistake != "":
		d.State, d.Hold = Broken, c.Mistake
		d.Errors = append(d.Errors, c.Mistake)
		return
	}
	d.learn(diff)
	if d.Memory.Intent != nil {
		d.wait(c, diff)
		return
	}
	d.Reasons = diff.reasons
	switch {
	case len(diff.holds) == 0 && len(diff.waits) > 0:
		d.State, d.Hold = Held, strings.Join(diff.waits, "; ")
	case len(diff.holds) == 0 && len(diff.unknown) > 0:
		d.State = Unknown
	case len(diff.holds) == 0:
		d.State = Same
	default:
		d.Notes = append(d.Notes, diff.waits...)
		d.Fingerprint = diff.holds.Fingerprint()
		d.start(c, diff, p, now)
	}
}

// learn remembers values that are seen for the first time at targets that were applied before.
func (d *Decision) learn(diff difference) {
	for uid, values := range diff.first {
		was := d.Memory.Targets[uid]
		was.Values = was.Values.overlay(values)
		d.Memory.Targets[uid] = was
	}
}

// wait decides about a cell with a run under way.
func (d *Decision) wait(c Cell, diff difference) {
	it := d.Memory.Intent
	d.State, d.Reasons, d.Fingerprint = Busy, it.Reasons, it.Fingerprint
	d.Hold = "run " + it.Run + " is under way"
	if it.Phase == Pending {
		other, isLive := stranger(c, d.Memory)
		d.Create = !isLive && c.Runs.Unknown == ""
		d.Hold = "run " + it.Run + " is to be created"
		if isLive {
			d.Hold += " after run " + other.Name + ", which somebody else started"
		}
	}
	then := d.Memory.clone()
	then.apply(it.Holds, it.Keys, it.Configs)
	after := compare(c, then)
	switch {
	case len(after.holds) > 0:
		d.Memory.Next = after.holds.Fingerprint()
		d.Notes = append(d.Notes, "then "+d.Memory.Next)
	case len(diff.unknown) == 0:
		d.Memory.Next = ""
	}
}

// start decides whether what differs runs now.
func (d *Decision) start(c Cell, diff difference, p Policy, now time.Time) {
	asked := false
	if f := d.Memory.Failed; f != nil {
		asked = d.allowAgain(diff, f, p, now, c.Asked)
	}
	if d.State != "" {
		return
	}
	switch other, isLive := stranger(c, d.Memory); {
	case c.Runs.Unknown != "":
		d.State, d.Hold = Held, "nobody knows whether a run is under way"
		return
	case isLive:
		d.State, d.Hold = Held, "run "+other.Name+", which somebody else started, is under way"
		return
	case c.Gates == nil:
		d.State, d.NeedsGates = Start, true
		return
	}
	if d.holdAtGates(c, diff); d.State != "" {
		return
	}
	d.State, d.Create = Start, true
	d.Memory.Intent = newIntent(c, diff, p, now, asked)
	d.Memory.Next = ""
}

// allowAgain holds a cell whose values failed before, unless they may run again. It reports
// whether a person asked for that.
func (d *Decision) allowAgain(diff difference, f *Failure, p Policy, now time.Time, byWord bool) bool {
	isAsked := slices.Contains(p.Again, f.Fingerprint)
	if f.AskedFor && !isAsked {
		next := *f
		next.AskedFor = false // the person may ask once more
		d.Memory.Failed = &next
	}
	if !diff.isAs(f.Holds) {
		return false
	}
	if byWord {
		return true
	}
	if isAsked && !f.AskedFor {
		return true
	}
	tries := max(p.Max, 1)
	if f.Lost {
		tries = max(tries, 2) // it may have succeeded, and then it does no harm
	}
	why := fmt.Sprintf("run %s of %s failed: %s", f.Run, f.Fingerprint, f.Why)
	if f.Runs >= tries {
		d.State, d.Hold = Failed, why+"; it stays so until something changes, until a person says retry, or until the settings say retry: "+
			f.Fingerprint
		return false
	}
	if opens := f.Since.Add(p.pause(f.Runs)); now.Before(opens) {
		d.State, d.Hold, d.Opens = Failed, why+"; it runs again later", opens
	}
	return false
}

// maxPause is the longest pause before a failed run is repeated.
const maxPause = 24 * time.Hour

// pause returns how long to wait after a number of failures.
func (p Policy) pause(runs int) time.Duration {
	out := p.Backoff
	for range min(runs-1, 64) {
		if out = min(2*out, maxPause); out == maxPause {
			break
		}
	}
	return out
}

// holdAtGates holds the cell if a gate of one of its targets is closed: a run deploys all of
// them. Objectives do not hold a run in which everything that changed is a hotfix.
func (d *Decision) holdAtGates(c Cell, diff difference) {
	var why []string
	if g := c.Gates; g.NoPipeline != "" {
		why = append(why, g.NoPipeline)
	} else if g.Unknown != "" {
		why = append(why, "nobody knows whether its pipeline is there: "+g.Unknown)
		d.Errors = append(d.Errors, why...)
	}
	hotfix := !slices.ContainsFunc(c.Targets, func(t WatchedTarget) bool { return diff.changed[t.UID] && !t.Hotfix })
	for _, g := range c.Gates.Gates {
		switch {
		case g.Kind == SLOGate && hotfix:
		case g.Unknown != "":
			text := fmt.Sprintf("%s unknown: %s", g.Kind, g.Unknown)
			why = append(why, text)
			d.Errors = append(d.Errors, text)
		case g.Closed != "":
			why = append(why, fmt.Sprintf("%s: %s", g.Kind, g.Closed))
			if g.Opens.After(d.Opens) {
				d.Opens = g.Opens // the last gate that opens
			}
		}
	}
	if len(why) > 0 {
		d.State, d.Hold = Held, strings.Join(why, "; ")
	}
}

// newIntent returns the intent of a run for a difference.
func newIntent(c Cell, diff difference, p Policy, now time.Time, asked bool) *Intent {
	fp := diff.holds.Fingerprint()
	id := p.NewID(c.Key, fp)
	it := &Intent{
		ID: id, Fingerprint: fp, Run: p.Name(c.Key, id), Phase: Pending, Since: now, Reasons: diff.reasons,
		Holds: diff.holds, Keys: map[string]string{}, Configs: map[string]json.RawMessage{}, AskedFor: asked,
	}
	for _, t := range c.Targets {
		values, isHeld := diff.holds[t.UID]
		if !isHeld {
			continue
		}
		it.Keys[t.UID] = t.Key
		if s, ok := t.signal(Config); ok && values[Config] != "" {
			it.Configs[t.UID] = s.Content
		}
	}
	return it
}

// finish finds the targets that were removed from their namespaces.
func (d *Decision) finish(c Cell) {
	for _, t := range c.Targets {
		s, ok := t.signal(Config)
		was := d.Memory.Targets[t.UID]
		inDoubt := d.Memory.Failed != nil && d.Memory.Failed.has(t, Config)
		if t.Delete && ok && was.Key == t.Key && was.Values[Config] != "" && was.has(s) && !inDoubt {
			d.Finished = append(d.Finished, t)
		}
	}
}
