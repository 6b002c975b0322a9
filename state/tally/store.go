package tally

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state"
)

// Version is the version of the documents.
const Version = "1"

// The bounds of a document.
const (
	maxDocument     = 8 << 20
	maxIntegrations = 2000
	maxName         = 300 // bytes
	maxSeconds      = 1e9
)

// Folder is the folder of the state for tallies.
const Folder = "tally"

// A Day is the tally of one day.
type Day struct {
	Version      string           `json:"version"`
	Day          string           `json:"day"`  // as 2006-01-02, UTC
	Runs         int              `json:"runs"` // of plans; each part of a plan that ran in parts is a run
	Integrations map[string]Count `json:"integrations"`
	// Forecasts tell how long runs were to take and how long they took: those of the last
	// MaxForecasts runs of the day of which both are known, the newest last.
	Forecasts []plan.Forecast `json:"forecasts,omitempty"`
}

// MaxForecasts is how many forecasts a day keeps.
const MaxForecasts = 100

func kind(day string) state.Kind[Day] {
	return state.Kind[Day]{Version: Version, Limit: maxDocument, Valid: func(d *Day) error {
		if d.Day != day || d.Runs < 0 || len(d.Integrations) > maxIntegrations+1 {
			return errors.New("it is not valid")
		}
		for _, c := range d.Integrations {
			if !c.isValid() {
				return errors.New("it is not valid")
			}
		}
		if len(d.Forecasts) > MaxForecasts || slices.ContainsFunc(d.Forecasts, func(f plan.Forecast) bool {
			return !isPossible(f)
		}) {
			return errors.New("a forecast in it is not valid")
		}
		return nil
	}}
}

// isValid reports whether this package can have written a count.
func (c Count) isValid() bool {
	numbers := []float64{c.Seconds, c.Quiet, float64(c.Believed), float64(c.Reused),
		float64(c.Passed), float64(c.Failed), float64(c.OnBase), float64(c.Other), float64(c.Flaked)}
	for _, n := range c.Needless {
		numbers = append(numbers, n)
	}
	for _, n := range []int{c.Decided(), sum(c.Run), sum(c.Shards), sum(c.Skip)} {
		numbers = append(numbers, float64(n))
	}
	for _, n := range numbers {
		if n < 0 || n > maxSeconds {
			return false
		}
	}
	return true
}

// A Store keeps tallies in a state. Several processes may use one at once.
type Store struct{ in state.Store }

// NewStore returns a store that keeps tallies in a state.
func NewStore(in state.Store) Store { return Store{in} }

// isPossible reports whether a forecast can be that of a run that ended.
func isPossible(f plan.Forecast) bool {
	return f.P50 > 0 && f.P50 <= f.P90 && f.P90 <= maxSeconds && f.Took > 0 && f.Took <= maxSeconds
}

// Add adds the counts of a run, by integration, to the day, and how well its forecast was, if
// it had one and was not interrupted.
func (s Store) Add(ctx context.Context, counts map[string]Count, forecast *plan.Forecast, now time.Time) error {
	if len(counts) == 0 {
		return nil
	}
	day := now.UTC().Format(time.DateOnly)
	warning, err := kind(day).Update(ctx, s.in, key(day), func(d *Day) {
		d.Version, d.Day, d.Runs = Version, day, d.Runs+1
		if d.Integrations == nil {
			d.Integrations = map[string]Count{}
		}
		for name, c := range counts {
			if _, known := d.Integrations[name]; len(name) > maxName || !known && len(d.Integrations) >= maxIntegrations {
				name = ""
			}
			d.Integrations[name] = d.Integrations[name].Plus(c).rounded()
		}
		if forecast != nil && isPossible(*forecast) {
			d.Forecasts = append(d.Forecasts, *forecast)
			d.Forecasts = d.Forecasts[max(0, len(d.Forecasts)-MaxForecasts):]
		}
	})
	if err = errors.Join(warning, err); err != nil {
		return fmt.Errorf("counting what ran: %w", err)
	}
	return nil
}

// rounded returns a count with seconds to the millisecond, so that documents stay small.
func (c Count) rounded() Count {
	round := func(s float64) float64 { return math.Round(s*1000) / 1000 }
	c.Seconds, c.Quiet = round(c.Seconds), round(c.Quiet)
	for cause, s := range c.Needless {
		c.Needless[cause] = round(s)
	}
	return c
}

func key(day string) string { return Folder + "/" + day + ".json" }

// Days returns the tallies of the days from since until now, the oldest first. Days without
// runs are left out. A day that cannot be read is left out and reported in ignored.
func (s Store) Days(ctx context.Context, since, now time.Time) (days []Day, ignored []string, err error) {
	list, err := s.in.List(ctx, Folder)
	if err != nil {
		return nil, nil, fmt.Errorf("listing the tallies of the state: %w", err)
	}
	exists := map[string]bool{}
	for _, e := range list {
		exists[strings.TrimSuffix(strings.TrimPrefix(e.Key, Folder+"/"), ".json")] = true
	}
	for at := since.UTC().Truncate(24 * time.Hour); !at.After(now); at = at.Add(24 * time.Hour) {
		day := at.Format(time.DateOnly)
		if !exists[day] {
			continue
		}
		d, err := kind(day).Read(ctx, s.in, key(day))
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case errors.Is(err, state.ErrNotFound): // collected in the meantime
		case err != nil:
			ignored = append(ignored, fmt.Sprintf("%s is not counted: %v", day, err))
		default:
			days = append(days, *d)
		}
	}
	return days, ignored, nil
}
