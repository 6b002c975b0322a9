package forecast

import (
	"slices"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/wrapper"
)

// A schedule simulates how package wrapper starts tasks. Times are seconds since the start.
type schedule struct {
	groups   [][]int // indices of tasks in the order in which they start
	needs    []int64 // memory by task
	byTask   [][]int // indices of targets by task
	targets  []target
	jobs     int
	capacity int64
	steps    int // looks at waiting tasks, over all runs

	now     float64
	free    int
	memory  int64
	running []running // by end
	ended   []ended   // tasks that have not given back all
}

type target struct {
	wrapper.Target
	inUse  int
	starts []float64 // the last ones, at most Rate
}

type ended struct {
	task      int
	hasNoSlot bool // only its targets are left
}

type running struct {
	end  float64
	task int
}

func newSchedule(tasks []plan.Task, opts Capacity) *schedule {
	s := &schedule{groups: wrapper.Groups(tasks), jobs: max(opts.Jobs, 1), capacity: max(opts.Memory, 0)}
	s.needs, s.byTask = make([]int64, len(tasks)), make([][]int, len(tasks))
	byName := map[string]int{}
	for i, t := range tasks {
		s.needs[i] = min(max(t.Memory, 0), s.capacity)
		if t.Blocked != "" || opts.Targets == nil {
			continue
		}
		for _, use := range opts.Targets(t) {
			at, known := byName[use.Name]
			if !known {
				at = len(s.targets)
				byName[use.Name], s.targets = at, append(s.targets, target{Target: use})
			}
			if !slices.Contains(s.byTask[i], at) {
				s.byTask[i] = append(s.byTask[i], at)
			}
		}
	}
	return s
}

// run returns how long all tasks take if each takes the given time.
func (s *schedule) run(took []float64) float64 {
	s.now, s.free, s.memory, s.running = 0, s.jobs, s.capacity, s.running[:0]
	s.ended = s.ended[:0]
	for i := range s.targets {
		s.targets[i].inUse, s.targets[i].starts = 0, s.targets[i].starts[:0]
	}
	for _, group := range s.groups {
		s.runGroup(slices.Clone(group), took)
	}
	return s.now
}

// runGroup runs the tasks of one order. A task that ends gives back its memory at once, then
// its slot, and then its targets, and after each of the last two others may start.
func (s *schedule) runGroup(waiting []int, took []float64) {
	for len(waiting) > 0 || len(s.running) > 0 || len(s.ended) > 0 {
		wait := 0.0
		if waiting, wait = s.startTasks(waiting, took); s.steps > maxSteps {
			return
		}
		switch {
		case len(s.ended) > 0:
			s.giveBack()
		case wait > 0 && (len(s.running) == 0 || s.now+wait < s.running[0].end):
			s.now += wait
		case len(s.running) > 0:
			s.endFirst()
		}
	}
}

// startTasks starts the tasks that can start now, and returns the others. The wait is the time
// until the rate of a target allows the next start, 0 if no task waits for that.
func (s *schedule) startTasks(waiting []int, took []float64) (left []int, wait float64) {
	left = waiting[:0]
	for k, i := range waiting {
		s.steps++
		if s.free == 0 && len(left) == 0 {
			return waiting[k:], wait // without copying, as mostly
		}
		if s.free == 0 {
			return append(left, waiting[k:]...), wait
		}
		isFull, w := s.isFull(i)
		if !isFull {
			s.start(i, took[i])
			continue
		}
		if w > 0 && (wait == 0 || w < wait) {
			wait = w
		}
		left = append(left, i)
	}
	return left, wait
}

// isFull reports whether a target keeps a task from starting, and how long its rate does so at
// least.
func (s *schedule) isFull(task int) (full bool, wait float64) {
	for _, i := range s.byTask[task] {
		t := &s.targets[i]
		if t.Max > 0 && t.inUse >= t.Max {
			full = true
		} else if t.Rate > 0 && len(t.starts) == t.Rate && t.starts[0]+t.Per.Seconds() > s.now {
			full, wait = true, max(wait, t.starts[0]+t.Per.Seconds()-s.now)
		}
	}
	return full, wait
}

// start starts a task. If memory is short, nothing else starts until enough tasks have ended.
func (s *schedule) start(task int, took float64) {
	for s.memory < s.needs[task] {
		s.endFirst()
	}
	s.free, s.memory = s.free-1, s.memory-s.needs[task]
	for _, i := range s.byTask[task] {
		t := &s.targets[i]
		t.inUse++
		if t.Rate > 0 {
			if len(t.starts) == t.Rate {
				t.starts = t.starts[:copy(t.starts, t.starts[1:])]
			}
			t.starts = append(t.starts, s.now)
		}
	}
	end := s.now + took
	at, _ := slices.BinarySearchFunc(s.running, end, func(r running, end float64) int {
		if r.end <= end { // of equals the one that started first ends first
			return -1
		}
		return 1
	})
	s.running = slices.Insert(s.running, at, running{end, task})
}

// endFirst goes on to the time at which the first running task ends.
func (s *schedule) endFirst() {
	r := s.running[0]
	s.running = slices.Delete(s.running, 0, 1)
	s.now = max(s.now, r.end)
	s.memory += s.needs[r.task]
	s.ended = append(s.ended, ended{task: r.task})
}

// giveBack takes the slot, or after that the targets, of the first task that has ended.
func (s *schedule) giveBack() {
	e := s.ended[0]
	s.ended = slices.Delete(s.ended, 0, 1)
	if !e.hasNoSlot {
		s.free++
		s.ended = append(s.ended, ended{e.task, true})
		return
	}
	for _, i := range s.byTask[e.task] {
		s.targets[i].inUse--
	}
}
