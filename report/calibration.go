package report

import (
	"math"
	"slices"

	"github.com/app-sre/prcheck/plan"
)

// A Calibration tells how good the estimates of a plan were, for the tasks that
// had one and ran to an end of their own.
type Calibration struct {
	Tasks    int     `json:"tasks"`
	ErrorP50 float64 `json:"error_p50_seconds"` // half of the estimates were no further off
	ErrorP90 float64 `json:"error_p90_seconds"`

	errors []float64 // how far off, in seconds, sorted
	ratios []float64 // what they took, as a part of the estimate, sorted
}

// calibrate compares the estimates with what tasks took; nil when none can be.
func calibrate(p *plan.Plan, results []Task) *Calibration {
	estimates := make(map[string]float64, len(p.Tasks))
	for _, t := range p.Tasks {
		estimates[t.ID] = t.EstimateSeconds
	}
	var c Calibration
	for _, t := range results {
		estimate := estimates[t.Task]
		ended := t.OK() || t.Status == plan.Failed && (t.Class == plan.ClassTask || t.OnBase())
		if estimate <= 0 || t.Attempts == 0 || !ended {
			continue
		}
		took := t.Seconds
		if n := len(t.Spans); n > 0 {
			took = t.Spans[n-1].Seconds // estimates are of one attempt
		}
		c.errors = append(c.errors, milliseconds(took-estimate))
		c.ratios = append(c.ratios, took/estimate)
	}
	slices.Sort(c.errors)
	slices.Sort(c.ratios)
	if c.Tasks = len(c.errors); c.Tasks == 0 {
		return nil
	}
	c.ErrorP50, c.ErrorP90 = percentile(c.errors, 50), percentile(c.errors, 90)
	return &c
}

// milliseconds is how far off an estimate was, without digits that mean nothing.
func milliseconds(s float64) float64 { return math.Round(math.Abs(s)*1000) / 1000 }

// percentile is the smallest of sorted values that at least percent of all do
// not exceed.
func percentile(sorted []float64, percent int) float64 {
	return sorted[(len(sorted)*percent+99)/100-1]
}

// estimates says how good the estimates were, if there were any.
func (t *text) estimates(c *Calibration) {
	switch {
	case c == nil:
	case c.Tasks == 1:
		t.line("  (the estimate of 1 task was off by %s)", seconds(c.ErrorP50))
	default:
		t.line("  (half of the estimates of %d tasks were within %s, 9 of 10 within %s)", c.Tasks, seconds(c.ErrorP50), seconds(c.ErrorP90))
	}
}
