package pending

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state"
)

// Version is the version of the documents.
const Version = "1"

// The bounds of a document.
const (
	maxRuns     = 500
	maxEffects  = 64 << 10 // bytes of JSON of one run
	maxAll      = 4 << 20  // of all runs
	maxDocument = 8 << 20
	maxSkew     = time.Hour // by which the clocks of machines may differ
)

// A Run is a run of a task on base.
type Run struct {
	Task    plan.Task
	Base    string        // digest of what base contains
	Rules   string        // digest of the rules by which the effects were found
	Began   time.Time     // when the run began
	Effects *plan.Effects // nil when they are asked for
}

// name identifies what a run announces.
func (r Run) name() string { return state.Name(r.Base, r.Task.Command, r.Task.Label(), r.Rules) }

// A document holds the runs of an integration.
type document struct {
	Version     string `json:"version"`
	Integration string `json:"integration"`
	Runs        []run  `json:"runs"` // the latest first
}

// A run is what one run announced.
type run struct {
	Name    string        `json:"name"`
	Began   time.Time     `json:"began"`
	Effects *plan.Effects `json:"effects"`
}

// size returns the bytes of the effects in JSON.
func (r run) size() int {
	raw, _ := json.Marshal(r.Effects) // strings and numbers always encode
	return len(raw)
}

func key(integration string) string { return "pending/" + state.Name(integration) + ".json" }

// kind describes the document of an integration.
func kind(integration string, now time.Time) state.Kind[document] {
	return state.Kind[document]{Version: Version, Limit: maxDocument, Valid: func(d *document) error {
		isWrong := func(r run) bool {
			return r.Name == "" || r.Began.Sub(now) > maxSkew || !r.Effects.IsWhole() || r.size() > maxEffects
		}
		if d.Integration != integration || len(d.Runs) > maxRuns || slices.ContainsFunc(d.Runs, isWrong) {
			return errors.New("it is not valid")
		}
		return nil
	}}
}

// A Store remembers what tasks announce on base.
type Store struct{ in state.Store }

// NewStore returns a store that keeps its documents in a state.
func NewStore(in state.Store) Store { return Store{in} }

// A Snapshot says what tasks announce on base. It reads each document once. It is for one
// goroutine.
type Snapshot struct {
	in   state.Store
	now  time.Time
	read map[string]*document // by integration
}

// Snapshot returns a snapshot that has read nothing yet.
func (s Store) Snapshot(now time.Time) *Snapshot { return &Snapshot{s.in, now, map[string]*document{}} }

// Find returns what a run with the same base, command, shard and rules announced, if it
// began at most within ago. A document that cannot be read is as good as none.
func (s *Snapshot) Find(ctx context.Context, asked Run, within time.Duration) (*plan.Effects, bool) {
	name, integration := asked.name(), asked.Task.Integration
	doc, ok := s.read[integration]
	if !ok {
		var err error
		if doc, err = kind(integration, s.now).Read(ctx, s.in, key(integration)); err != nil {
			doc = &document{}
		}
		s.read[integration] = doc
	}
	for _, r := range doc.Runs {
		if age := s.now.Sub(r.Began); r.Name == name && age >= 0 && age <= within {
			return r.Effects, true
		}
	}
	return nil, false
}

// Add remembers runs. Runs whose effects are not known, not complete or too many are left
// out.
func (s Store) Add(ctx context.Context, runs []Run, now time.Time) error {
	byName := map[string][]run{}
	for _, r := range runs {
		added := run{r.name(), r.Began.UTC().Truncate(time.Second), r.Effects}
		if r.Effects.IsWhole() && added.size() <= maxEffects {
			byName[r.Task.Integration] = append(byName[r.Task.Integration], added)
		}
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		warning, err := kind(name, now).Update(ctx, s.in, key(name), func(doc *document) {
			doc.Version, doc.Integration = Version, name
			doc.add(byName[name])
		})
		if err = errors.Join(warning, err); err != nil {
			errs = append(errs, fmt.Errorf("remembering what %q announces on base: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// add adds runs, in place of earlier runs of the same name.
func (d *document) add(runs []run) {
	kept := slices.DeleteFunc(d.Runs, func(old run) bool {
		return slices.ContainsFunc(runs, func(r run) bool { return r.Name == old.Name })
	})
	all := slices.Concat(runs, kept)
	slices.SortStableFunc(all, func(a, b run) int { return b.Began.Compare(a.Began) })
	d.Runs = []run{}
	sum := 0
	for _, r := range all {
		if sum += r.size(); len(d.Runs) < maxRuns && sum <= maxAll {
			d.Runs = append(d.Runs, r)
		}
	}
}
