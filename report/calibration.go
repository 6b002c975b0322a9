package report

import (
	"math"
	"slices"

	"github.com/app-sre/prcheck/plan"
)

// A calibration tells how good the estimates of a plan were, for the tasks that
// had one and ran to an end of their own. Both lists are sorted.
type calibration struct {
	errors []float64 // how far off, in seconds
	ratios []float64 // what they took, as a part of the estimate
}

func calibrate(p *plan.Plan, rep *Report) calibration {
	estimates := make(map[string]float64, len(p.Tasks))
	for _, t := range p.Tasks {
		estimates[t.ID] = t.EstimateSeconds
	}
	var c calibration
	for _, t := range rep.Results {
		estimate := estimates[t.Task]
		ended := t.OK() || t.Status == plan.Failed && t.Class == plan.ClassTask
		if estimate <= 0 || t.Attempts == 0 || !ended {
			continue
		}
		took := t.Seconds
		if n := len(t.Spans); n > 0 {
			took = t.Spans[n-1].Seconds // estimates are of one attempt
		}
		c.errors = append(c.errors, math.Abs(took-estimate))
		c.ratios = append(c.ratios, took/estimate)
	}
	slices.Sort(c.errors)
	slices.Sort(c.ratios)
	return c
}

// percentile is the smallest of sorted values that at least percent of all do
// not exceed.
func percentile(sorted []float64, percent int) float64 {
	return sorted[(len(sorted)*percent+99)/100-1]
}
