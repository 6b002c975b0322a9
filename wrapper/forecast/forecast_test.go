package forecast

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/wrapper"
)

// sleeper runs tasks by sleeping.
type sleeper map[string]time.Duration

func (s sleeper) Run(_ context.Context, t plan.Task, _ io.Writer) error {
	time.Sleep(s[t.ID])
	return nil
}

// A simulated schedule takes as long as the wrapper takes for tasks of the same durations.
func TestScheduleIsThatOfTheWrapper(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		targets := make([]wrapper.Target, 1+r.IntN(3))
		for i := range targets {
			targets[i] = wrapper.Target{Name: fmt.Sprint("live", i), Max: r.IntN(3), Rate: r.IntN(3),
				Per: time.Duration(1+r.IntN(9)) * time.Second}
		}
		uses := map[string][]wrapper.Target{}
		took, real := []float64{}, sleeper{}
		var tasks []plan.Task
		for i := range 1 + r.IntN(25) {
			// No two sums of durations are equal, so nothing depends on which of two tasks ends first.
			d := time.Duration(1+r.IntN(20))*time.Second + time.Duration(1+i)*time.Millisecond*1001 +
				time.Duration(r.Int64N(1e6))
			task := plan.Task{ID: fmt.Sprint("t", i), Order: r.IntN(2), EstimateSeconds: float64(r.IntN(4)), Memory: r.Int64N(5),
				Timeout: "1h"}
			for _, target := range targets {
				if r.IntN(3) == 0 {
					uses[task.ID] = append(uses[task.ID], target)
				}
			}
			tasks, took, real[task.ID] = append(tasks, task), append(took, d.Seconds()), d
		}
		// While a task waits for memory, others end, and nothing says whose slot or target is given
		// back first. So a world limits the memory or the targets.
		opts := Capacity{Jobs: 1 + r.IntN(4), Memory: r.Int64N(8)}
		if opts.Memory < 4 {
			opts.Memory, opts.Targets = 0, func(t plan.Task) []wrapper.Target { return uses[t.ID] }
		}
		var want float64
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			if _, err := wrapper.Run(t.Context(), tasks, real, wrapper.RunOptions{Jobs: opts.Jobs, Memory: opts.Memory,
				Targets: opts.Targets}); err != nil {
				t.Fatal(err)
			}
			want = time.Since(begin).Seconds()
		})
		if got := newSchedule(tasks, opts).run(took); math.Abs(got-want) > 1e-6 {
			t.Errorf("seed %d: the simulation takes %v s, the wrapper %v s", seed, got, want)
		}
	}
}

func estimated(p50, p90 float64) plan.Task { return plan.Task{EstimateSeconds: p50, EstimateP90: p90} }

func TestMake(t *testing.T) {
	blocked := plan.Task{Blocked: "no image", EstimateSeconds: 900}
	one := func(plan.Task) []wrapper.Target { return []wrapper.Target{{Name: "aws/prod", Max: 1}} }
	for _, c := range []struct {
		name  string
		tasks []plan.Task
		opts  Capacity
		want  *plan.Forecast
	}{
		{"nothing to do", nil, Capacity{}, nil},
		{"nothing known", []plan.Task{{}, {}}, Capacity{}, nil},
		{"one task, no spread", []plan.Task{estimated(10, 10)}, Capacity{}, &plan.Forecast{P50: 10, P90: 10}},
		{"two slots", []plan.Task{estimated(10, 0), estimated(4, 0), estimated(5, 0)}, Capacity{Jobs: 2},
			&plan.Forecast{P50: 10, P90: 10}},
		{"one target", []plan.Task{estimated(10, 0), estimated(4, 0)}, Capacity{Jobs: 9, Targets: one},
			&plan.Forecast{P50: 14, P90: 14}},
		{"an unknown one", []plan.Task{estimated(10, 0), {}}, Capacity{Jobs: 1},
			&plan.Forecast{P50: 20, P90: 20, Unknown: 1}},
		{"a time limit", []plan.Task{{EstimateSeconds: 100, Timeout: "1m"}}, Capacity{}, &plan.Forecast{P50: 60, P90: 60}},
		{"blocked ones take no time", []plan.Task{estimated(3, 0), blocked}, Capacity{Jobs: 1},
			&plan.Forecast{P50: 3, P90: 3}},
		{"orders wait", []plan.Task{{EstimateSeconds: 3}, {EstimateSeconds: 4, Order: 1}}, Capacity{Jobs: 2},
			&plan.Forecast{P50: 7, P90: 7}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Make(c.tasks, c.opts)
			if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// Of runs whose tasks take as long as their estimates say, half end within the lower bound and
// nine tenths within the upper one.
func TestIntervalsHold(t *testing.T) {
	const runs = 400
	within50, within90 := 0, 0
	r := rand.New(rand.NewPCG(3, 4))
	for range runs {
		tasks := make([]plan.Task, 2+r.IntN(20))
		took := make([]float64, len(tasks))
		for i := range tasks {
			p50 := 1 + 100*r.Float64()
			tasks[i] = estimated(p50, p50*(1+2*r.Float64()))
			took[i] = newLaw(tasks[i], 1).draw(r)
		}
		opts := Capacity{Jobs: 1 + r.IntN(6)}
		f := Make(tasks, opts)
		total := newSchedule(tasks, opts).run(took)
		if total <= f.P50 {
			within50++
		}
		if total <= f.P90 {
			within90++
		}
	}
	if within50 < runs*42/100 || within50 > runs*58/100 || within90 < runs*85/100 || within90 > runs*95/100 {
		t.Errorf("%d of %d runs ended within the lower bound and %d within the upper", within50, runs, within90)
	}
}

// The percentiles of what is drawn are those of the estimate.
func TestLaw(t *testing.T) {
	l, r := newLaw(estimated(10, 40), 1), rand.New(rand.NewPCG(1, 1))
	below10, below40 := 0, 0
	for range 20_000 {
		if s := l.draw(r); s <= 10 {
			below10++
			below40++
		} else if s <= 40 {
			below40++
		}
	}
	if below10 < 9700 || below10 > 10_300 || below40 < 17_800 || below40 > 18_200 {
		t.Errorf("%d of 20000 draws are below the median, %d below the 90th percentile", below10, below40)
	}
}

func BenchmarkMake(b *testing.B) {
	tasks := make([]plan.Task, 1000)
	for i := range tasks {
		tasks[i] = estimated(float64(1+i%50), float64(2+i%70))
	}
	for b.Loop() {
		if Make(tasks, Capacity{Jobs: 20}) == nil {
			b.Fatal("no forecast")
		}
	}
}
