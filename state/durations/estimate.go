package durations

import (
	"context"
	"slices"
)

// An Estimate is how long a task will take, in seconds.
type Estimate struct {
	P50, P90 float64 // half of the runs, and nine tenths of them, took no longer
	Runs     int     // the number of runs that the estimate rests on; 0 if nothing is known
	Pooled   bool    // it rests on other shards, since this shard never ran
}

// Estimate returns the estimate for a shard of an integration, or for the integration
// as a whole if the shard is "".
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

// Overall returns the percentiles over the remembered runs of all shards of an integration,
// and of the integration as a whole.
func (s Store) Overall(ctx context.Context, integration string) Estimate {
	var all []measured
	for _, sh := range s.read(ctx, integration).Shards {
		all = append(all, sh.Runs...)
	}
	return estimate(all)
}

// A Snapshot estimates many tasks and reads each document once, so that the estimates
// of a plan do not change while it is made. It is for one goroutine.
type Snapshot struct {
	store Store
	read  map[string]document // by integration
}

// Snapshot returns a snapshot that has read nothing yet.
func (s Store) Snapshot() *Snapshot { return &Snapshot{s, map[string]document{}} }

// Seconds returns the 50th and the 90th percentile of [Store.Estimate] in seconds, or 0
// if nothing is known. If ctx ends during the reading, the next call reads again.
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

// estimate returns the estimate of the runs that passed, or of all if none passed.
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
	return Estimate{P50: percentile(passed, 50), P90: percentile(passed, 90), Runs: len(passed)}
}

// percentile returns the nearest-rank percentile of sorted values: the smallest value
// that at least this percentage of the values do not exceed. It returns 0 if there are
// no values.
func percentile(sorted []float64, percent int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*percent+99)/100-1]
}
