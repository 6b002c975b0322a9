package durations

import (
	"context"
	"slices"
)

// An Estimate is how long a task will take, in seconds.
type Estimate struct {
	P50, P90 float64 // half and nine tenths of the runs took no longer
	Runs     int     // how many it rests on; 0 when nothing is known
	Pooled   bool    // it rests on other shards, since this one never ran
}

// Estimate estimates a task: a shard of an integration, or "" for the whole.
func (s Store) Estimate(ctx context.Context, integration, shard string) Estimate {
	return s.read(ctx, integration).estimate(shard)
}

func (d document) estimate(name string) Estimate {
	var all []measured
	for _, sh := range d.Shards {
		if sh.Shard == name {
			return estimate(sh.Runs)
		}
		if name != "" && sh.Shard != "" {
			all = append(all, sh.Runs...)
		}
	}
	e := estimate(all)
	e.Pooled = e.Runs > 0
	return e
}

// A Snapshot estimates many tasks from one reading of each document, so that
// all estimates of a plan are of one time. It is for one goroutine.
type Snapshot struct {
	store Store
	read  map[string]document
}

// Snapshot returns a snapshot in which nothing was read yet.
func (s Store) Snapshot() *Snapshot { return &Snapshot{s, map[string]document{}} }

// Seconds returns the percentiles 50 and 90 of [Store.Estimate], in seconds; 0
// when nothing is known. A reading that ctx ended is made anew next time.
func (s *Snapshot) Seconds(ctx context.Context, integration, shard string) (p50, p90 float64) {
	doc, ok := s.read[integration]
	if !ok {
		doc = s.store.read(ctx, integration)
		if ctx.Err() == nil {
			s.read[integration] = doc
		}
	}
	e := doc.estimate(shard)
	return e.P50, e.P90
}

// estimate looks at the runs that passed, or at all when none did.
func estimate(runs []measured) Estimate {
	var passed, failed []float64
	for _, r := range runs {
		if r.Passed {
			passed = append(passed, r.Seconds)
		} else {
			failed = append(failed, r.Seconds)
		}
	}
	if len(passed) == 0 {
		passed = failed
	}
	slices.Sort(passed)
	return Estimate{P50: rank(passed, 50), P90: rank(passed, 90), Runs: len(passed)}
}

// rank is the nearest-rank percentile of sorted values: the smallest of them
// that at least percent of all do not exceed; 0 of none.
func rank(sorted []float64, percent int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*percent+99)/100-1]
}
