package report

import (
	"math"
	"slices"

	"github.com/app-sre/prcheck/plan"
)

// A Calibration compares the estimated durations of tasks with their real ones.
// It covers the tasks that had an estimate and ended by themselves: they were not
// stopped, and did not fail for an outside reason.
type Calibration struct {
	Tasks    int     `json:"tasks"`
	ErrorP50 float64 `json:"error_p50_seconds"` // half of the estimates were at most this far off
	ErrorP90 float64 `json:"error_p90_seconds"`

	errors []float64 // differences between estimate and duration in seconds, sorted
	ratios []float64 // durations divided by their estimates, sorted
}

// calibrate compares the estimates of a plan with the durations of its tasks. It
// returns nil if no task can be compared.
func calibrate(p *plan.Plan, results []TaskResult) *Calibration {
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
			took = t.Spans[n-1].Seconds // an estimate is for one attempt, not for all
		}
		c.errors = append(c.errors, roundError(took-estimate))
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

// roundError returns the size of an error, rounded to the millisecond.
func roundError(s float64) float64 { return math.Round(math.Abs(s)*1000) / 1000 }

// percentile returns the smallest of some sorted values that is at least as large
// as the given percentage of them.
func percentile(sorted []float64, percent int) float64 {
	return sorted[(len(sorted)*percent+99)/100-1]
}

// writeCalibration writes how far the estimates were off, if there were any.
func (t *text) writeCalibration(c *Calibration) {
	switch {
	case c == nil:
	case c.Tasks == 1:
		t.printLine("  (the estimate of 1 task was off by %s)", formatSeconds(c.ErrorP50))
	default:
		t.printLine("  (half of the estimates of %d tasks were within %s, 9 of 10 within %s)", c.Tasks,
			formatSeconds(c.ErrorP50), formatSeconds(c.ErrorP90))
	}
}

// writeForecast writes how long the tasks took together beside how long they were to take.
func (t *text) writeForecast(f *plan.Forecast) {
	if f == nil || f.Took <= 0 {
		return
	}
	foreseen := formatSeconds(f.P50)
	if within := formatSeconds(f.P90); within != foreseen {
		foreseen += ", nine times of ten within " + within
	}
	t.printLine("  (together they took %s; foreseen: %s)", formatSeconds(f.Took), foreseen)
}
