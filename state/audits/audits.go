package audits

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state"
)

// Version is the version of the document.
const Version = "1"

// Folder is the folder of the state for audits. It must never be collected.
const Folder = "audits"

const key = Folder + "/all.json"

// The bounds of the document.
const (
	maxDocument = 8 << 20
	maxAge      = 365 * 24 * time.Hour // of counts
	maxMisses   = 2000
	maxText     = 1000 // bytes
	maxName     = 300  // bytes
)

// A Miss is a wrong skip: the unit says something else on head than on base.
type Miss struct {
	Integration string    `json:"integration"`
	Rung        plan.Rung `json:"rung"`
	Shard       string    `json:"shard,omitempty"`
	Finding     string    `json:"finding"`
	Remedy      string    `json:"remedy,omitempty"`
	First       time.Time `json:"first"`
	Last        time.Time `json:"last"`
	Times       int       `json:"times"` // how many units
	// Confirmed is when somebody said that the cause is gone; zero if the miss is open.
	Confirmed time.Time `json:"confirmed,omitzero"`
}

// IsOpen reports whether nobody has confirmed that the cause is gone.
func (m Miss) IsOpen() bool { return m.Confirmed.IsZero() }

// A document is all that is remembered.
type document struct {
	Version string                                   `json:"version"`
	Days    map[string]map[plan.Rung]plan.AuditCount `json:"days"` // by day, as 2006-01-02, UTC
	Misses  []Miss                                   `json:"misses"`
	// Full tells that misses were left out because there were too many.
	Full bool `json:"full,omitempty"`
}

var kind = state.Kind[document]{Version: Version, Limit: maxDocument, Valid: func(d *document) error {
	if len(d.Misses) > maxMisses {
		return errors.New("it is not valid")
	}
	for _, day := range d.Days {
		for _, c := range day {
			if c.Right < 0 || c.Wrong < 0 || c.Unclear < 0 {
				return errors.New("it is not valid")
			}
		}
	}
	return nil
}}

// A Store keeps audits in a state. Several processes may use one at once.
type Store struct{ in state.Store }

// NewStore returns a store that keeps audits in a state.
func NewStore(in state.Store) Store { return Store{in} }

// Add adds an audit, and returns what is remembered with it.
func (s Store) Add(ctx context.Context, a *plan.Audit, now time.Time) (AuditSnapshot, error) {
	var out AuditSnapshot
	warning, err := kind.Update(ctx, s.in, key, func(d *document) {
		d.Version = Version
		if d.Days == nil {
			d.Days = map[string]map[plan.Rung]plan.AuditCount{}
		}
		day := now.UTC().Format(time.DateOnly)
		d.Days[day] = added(d.Days[day], a.Count())
		oldest := now.UTC().Add(-maxAge).Format(time.DateOnly)
		maps.DeleteFunc(d.Days, func(day string, _ map[plan.Rung]plan.AuditCount) bool { return day < oldest })
		for _, u := range a.Units {
			if u.Outcome == plan.AuditWrong {
				d.add(u, now.UTC().Truncate(time.Second))
			}
		}
		out = AuditSnapshot{*d}
	})
	if err = errors.Join(warning, err); err != nil {
		return out, fmt.Errorf("remembering an audit: %w", err)
	}
	return out, nil
}

// add notes a wrong skip. If there are too many, confirmed ones go first.
func (d *document) add(u plan.Audited, now time.Time) {
	i := slices.IndexFunc(d.Misses, func(m Miss) bool { return m.Integration == u.Integration && m.Rung == u.Rung })
	if i < 0 {
		if len(d.Misses) >= maxMisses {
			d.Misses = slices.DeleteFunc(d.Misses, func(m Miss) bool { return !m.IsOpen() })
		}
		if len(d.Misses) >= maxMisses || len(u.Integration) > maxName {
			d.Full = true
			return
		}
		d.Misses, i = append(d.Misses, Miss{Integration: u.Integration, Rung: u.Rung, First: now}), len(d.Misses)
	}
	m := &d.Misses[i]
	m.Shard, m.Finding, m.Remedy = cut(u.Shard), cut(u.Finding), cut(u.Remedy)
	m.Last, m.Times, m.Confirmed = now, m.Times+1, time.Time{}
}

// cut returns the beginning of a text that is too long.
func cut(s string) string { return s[:min(len(s), maxText)] }

// added returns the sums of counts by rung.
func added(a, b map[plan.Rung]plan.AuditCount) map[plan.Rung]plan.AuditCount {
	out := maps.Clone(a)
	if out == nil {
		out = map[plan.Rung]plan.AuditCount{}
	}
	for rung, c := range b {
		out[rung] = out[rung].Plus(c)
	}
	return out
}

// Confirm notes that the causes of all open misses of an integration are gone. It reports
// whether there were any.
func (s Store) Confirm(ctx context.Context, integration string, now time.Time) (bool, error) {
	found := false
	warning, err := kind.Update(ctx, s.in, key, func(d *document) {
		d.Version, found = Version, false
		for i := range d.Misses {
			if m := &d.Misses[i]; m.Integration == integration && m.IsOpen() {
				m.Confirmed, found = now.UTC().Truncate(time.Second), true
			}
		}
	})
	if err = errors.Join(warning, err); err != nil {
		return found, fmt.Errorf("confirming the misses of %q: %w", integration, err)
	}
	return found, nil
}

// An AuditSnapshot is all that was remembered at one time. The zero value knows nothing.
type AuditSnapshot struct{ d document }

// Snapshot reads all that is remembered.
func (s Store) Snapshot(ctx context.Context) (AuditSnapshot, error) {
	d, err := kind.Read(ctx, s.in, key)
	switch {
	case errors.Is(err, state.ErrNotFound):
		return AuditSnapshot{}, nil
	case err != nil:
		return AuditSnapshot{}, fmt.Errorf("how audits ended is not known: %w", err)
	}
	return AuditSnapshot{*d}, nil
}

// Total returns the counts of the days from since until now, by rung.
func (s AuditSnapshot) Total(since time.Time) map[plan.Rung]plan.AuditCount {
	out := map[plan.Rung]plan.AuditCount{}
	for day, counts := range s.d.Days {
		if day >= since.UTC().Format(time.DateOnly) {
			out = added(out, counts)
		}
	}
	return out
}

// Misses returns the misses, the latest first.
func (s AuditSnapshot) Misses() []Miss {
	return slices.SortedStableFunc(slices.Values(s.d.Misses), func(a, b Miss) int {
		return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Integration, b.Integration), cmp.Compare(a.Rung, b.Rung))
	})
}

// Distrusted returns the rungs with an open miss of an integration, and when it was found. If
// there were too many misses to remember, no rung is believed about any integration.
func (s AuditSnapshot) Distrusted(integration string) map[plan.Rung]string {
	out := map[plan.Rung]string{}
	for _, rung := range plan.Rungs() {
		if s.d.Full {
			out[rung] = "it is not known which misses are open"
		}
	}
	for _, m := range s.d.Misses {
		if m.Integration == integration && m.IsOpen() {
			out[m.Rung] = "last on " + m.Last.UTC().Format(time.DateOnly)
		}
	}
	return out
}

// Unknown returns the snapshot for when the document cannot be read: no rung is believed about
// any integration.
func Unknown() AuditSnapshot { return AuditSnapshot{document{Full: true}} }
