package durations

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/app-sre/prcheck/state"
)

// Version is the version of the documents.
const Version = "1"

// The bounds of a document.
const (
	maxRuns     = 20   // of a shard
	maxShards   = 1000 // of an integration
	maxName     = 300  // bytes of an integration's or a shard's name
	maxDocument = 4 << 20
	maxSeconds  = 30 * 24 * 3600 // of a run; a longer duration is a mistake
)

// A Run is how long one task took.
type Run struct {
	Integration string
	Shard       string // "" for the integration as a whole
	Seconds     float64
	Passed      bool // false: it failed
	At          time.Time
}

// A Store remembers durations between runs. Several processes may use one at
// once.
type Store struct{ in state.Store }

// NewStore returns a store that keeps durations in a state.
func NewStore(in state.Store) Store { return Store{in} }

// A document holds the durations of an integration.
type document struct {
	Version     string  `json:"version"`
	Integration string  `json:"integration"`
	Shards      []shard `json:"shards"` // by name
}

type shard struct {
	Shard string     `json:"shard"` // "" for the integration as a whole
	Runs  []measured `json:"runs"`  // the oldest first
}

type measured struct {
	Seconds float64   `json:"seconds"`
	Passed  bool      `json:"passed"`
	At      time.Time `json:"at"`
}

func key(integration string) string { return "durations/" + state.Name(integration) + ".json" }

// Add remembers runs. It leaves out runs whose name is too long or whose duration is not
// positive. The error joins the documents that could not be written, and those that
// were corrupt. When the state does not answer, it says so once.
func (s Store) Add(ctx context.Context, runs []Run) error {
	byName := map[string][]Run{}
	for _, r := range runs {
		if r.isValid() {
			byName[r.Integration] = append(byName[r.Integration], r)
		}
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		warning, err := kind(name).Update(ctx, s.in, key(name), func(doc *document) {
			doc.Version, doc.Integration = Version, name
			for _, r := range byName[name] {
				doc.add(r)
			}
			doc.trim()
		})
		if errors.Is(err, state.ErrUnreachable) || errors.Is(err, state.ErrReadOnly) || ctx.Err() != nil {
			return fmt.Errorf("remembering durations: %w", err) // the others would fail alike
		}
		if err = errors.Join(warning, err); err != nil {
			errs = append(errs, fmt.Errorf("remembering the durations of %q: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

func (r Run) isValid() bool {
	return r.Integration != "" && len(r.Integration) <= maxName && len(r.Shard) <= maxName && isPlausible(r.Seconds)
}

func isPlausible(seconds float64) bool { return seconds > 0 && seconds <= maxSeconds }

// read returns the document of an integration, or an empty one if there is none or it
// cannot be read.
func (s Store) read(ctx context.Context, integration string) document {
	doc, err := kind(integration).Read(ctx, s.in, key(integration))
	if err != nil {
		return document{}
	}
	return *doc
}

// kind describes the document of an integration.
func kind(integration string) state.Kind[document] {
	return state.Kind[document]{Version: Version, Limit: maxDocument, Valid: func(d *document) error {
		if d.Integration != integration {
			return errors.New("it belongs to another integration")
		}
		return d.check()
	}}
}

func (d *document) check() error {
	if len(d.Shards) > maxShards {
		return errors.New("it has too many shards")
	}
	for i, s := range d.Shards {
		if len(s.Runs) == 0 || len(s.Runs) > maxRuns || len(s.Shard) > maxName || i > 0 && s.Shard <= d.Shards[i-1].Shard {
			return fmt.Errorf("shard %.40q in it is not valid", s.Shard)
		}
		for _, r := range s.Runs {
			if !isPlausible(r.Seconds) {
				return fmt.Errorf("a duration of shard %.40q in it is not possible", s.Shard)
			}
		}
	}
	return nil
}

// add adds a run to its shard, and removes the oldest run if there are too many.
func (d *document) add(r Run) {
	i, found := slices.BinarySearchFunc(d.Shards, r.Shard, func(s shard, name string) int {
		return cmp.Compare(s.Shard, name)
	})
	if !found {
		d.Shards = slices.Insert(d.Shards, i, shard{Shard: r.Shard})
	}
	to := &d.Shards[i]
	seconds := math.Max(math.Round(r.Seconds*1000)/1000, 0.001)
	to.Runs = append(to.Runs, measured{seconds, r.Passed, r.At.UTC().Truncate(time.Second)})
	to.Runs = to.Runs[max(0, len(to.Runs)-maxRuns):]
}

// trim removes the shards that have not run for longest if there are too many.
func (d *document) trim() {
	if len(d.Shards) <= maxShards {
		return
	}
	last := func(s shard) time.Time { return s.Runs[len(s.Runs)-1].At }
	slices.SortStableFunc(d.Shards, func(a, b shard) int { return last(b).Compare(last(a)) })
	d.Shards = d.Shards[:maxShards]
	slices.SortFunc(d.Shards, func(a, b shard) int { return cmp.Compare(a.Shard, b.Shard) })
}
