package forecast

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/wrapper"
)

// Capacity are those of the run. Jobs counts as 1 if it is less.
type Capacity struct {
	Jobs    int
	Memory  int64                            // bytes that the running tasks may need together; 0 is no limit
	Targets func(plan.Task) []wrapper.Target // may be nil
}

// The bounds of a forecast.
const (
	maxRuns  = 400        // simulated runs
	minRuns  = 50         // fewer make no forecast
	maxTasks = 100_000    // over all simulated runs, unless these are the fewest
	maxSteps = 20_000_000 // looks at waiting tasks, over all simulated runs
)

// z90 is the 90th percentile of the standard normal distribution.
const z90 = 1.2815515655446004

// Make returns how long the tasks will take together. The same input gives the same forecast.
// It returns nil if there is nothing to go by: no task has an estimate, or so many tasks wait
// for each other that simulating them takes too long.
func Make(tasks []plan.Task, opts Capacity) *plan.Forecast {
	typical := median(tasks)
	if typical == 0 {
		return nil
	}
	out := &plan.Forecast{}
	laws := make([]law, len(tasks))
	for i, t := range tasks {
		if t.EstimateSeconds <= 0 && t.Blocked == "" {
			out.Unknown++
		}
		laws[i] = newLaw(t, typical)
	}
	s := newSchedule(tasks, opts)
	random := rand.New(rand.NewPCG(1, 2))
	var totals []float64
	took := make([]float64, len(tasks))
	for range min(max(maxTasks/len(tasks), minRuns), maxRuns) {
		for i, l := range laws {
			took[i] = l.draw(random)
		}
		total := s.run(took)
		if s.steps > maxSteps {
			break
		}
		totals = append(totals, total)
	}
	if len(totals) < minRuns {
		return nil
	}
	slices.Sort(totals)
	out.P50, out.P90 = percentile(totals, 50), percentile(totals, 90)
	return out
}

// percentile returns the nearest-rank percentile of sorted values, rounded to the millisecond.
func percentile(sorted []float64, percent int) float64 {
	return math.Round(sorted[(len(sorted)*percent+99)/100-1]*1000) / 1000
}

// median returns the median estimate, for tasks that have none; 0 if no task has one.
func median(tasks []plan.Task) float64 {
	var known []float64
	for _, t := range tasks {
		if t.EstimateSeconds > 0 && t.Blocked == "" {
			known = append(known, t.EstimateSeconds)
		}
	}
	if len(known) == 0 {
		return 0
	}
	slices.Sort(known)
	return known[len(known)/2]
}

// A law is the distribution of a task's duration.
type law struct {
	mu, sigma float64
	limit     float64 // in seconds
	isNothing bool    // the task never starts
}

func newLaw(t plan.Task, typical float64) law {
	p50 := t.EstimateSeconds
	if p50 <= 0 {
		p50 = typical
	}
	l := law{mu: math.Log(p50), limit: math.MaxFloat64, isNothing: t.Blocked != ""}
	if t.EstimateP90 > p50 {
		l.sigma = math.Log(t.EstimateP90/p50) / z90
	}
	if limit, err := time.ParseDuration(t.Timeout); err == nil && limit > 0 {
		l.limit = limit.Seconds()
	}
	return l
}

func (l law) draw(random *rand.Rand) float64 {
	if l.isNothing {
		return 0
	}
	return min(math.Exp(l.mu+l.sigma*random.NormFloat64()), l.limit)
}
