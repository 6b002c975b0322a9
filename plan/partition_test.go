package plan_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
)

// ids writes the parts as order: tasks.
func ids(parts []plan.Part) []string {
	var out []string
	for _, p := range parts {
		var names []string
		for _, t := range p.Tasks {
			names = append(names, t.ID)
		}
		out = append(out, fmt.Sprintf("%d: %s", p.Order, strings.Join(names, " ")))
	}
	return out
}

func work(order int, estimates ...float64) []plan.Task {
	var out []plan.Task
	for i, e := range estimates {
		out = append(out, plan.Task{ID: fmt.Sprintf("%d%c", order, 'a'+i), Order: order, EstimateSeconds: e})
	}
	return out
}

func TestPartition(t *testing.T) {
	tests := []struct {
		name  string
		tasks []plan.Task
		n     int
		want  []string
	}{
		{"whole", work(0, 1, 2), 1, []string{"0: 0a 0b"}},
		{"longest first", work(0, 1, 2, 3, 4, 5), 2, []string{"0: 0a 0b 0e", "0: 0c 0d"}},
		{"equal ones by id", work(0, 1, 1, 1, 1), 2, []string{"0: 0a 0c", "0: 0b 0d"}},
		{"unknown is the median", work(0, 0, 9, 4, 3), 2, []string{"0: 0b", "0: 0a 0c 0d"}},
		{"nothing known", work(0, 0, 0, 0), 2, []string{"0: 0a 0c", "0: 0b"}},
		{"nonsense is not known", work(0, math.Inf(1), -5, 1, 1), 2, []string{"0: 0a 0c", "0: 0b 0d"}},
		{"more parts than tasks", work(0, 1, 2), 4, []string{"0: 0b", "0: 0a", "0: ", "0: "}},
		{"no tasks", nil, 2, []string{"0: ", "0: "}},
		{"no parts", work(0, 1), 0, []string{"0: 0a"}},
		{"parts of one order each", slices.Concat(work(7, 1, 1), work(-1, 1, 1)), 2, []string{"-1: -1a -1b", "7: 7a 7b"}},
		{"by work", slices.Concat(work(1, 1, 1, 1), work(2, 30, 30, 30)), 4,
			[]string{"1: 1a 1b 1c", "2: 2a", "2: 2b", "2: 2c"}},
		{"equal work however it is added", slices.Concat(work(1, .3, .2, .1), work(2, .1, .2, .3)), 3,
			[]string{"1: 1a", "1: 1b 1c", "2: 2a 2b 2c"}},
		{"none in vain", slices.Concat(work(1, 900), work(2, 1, 1)), 3, []string{"1: 1a", "2: 2a", "2: 2b"}},
		{"fewer parts than orders", slices.Concat(work(1, 5), work(2, 3), work(3, 1)), 2, []string{"1: 1a", "1: 2a 3a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := plan.Partition(tt.tasks, tt.n)
			if names := ids(got); !slices.Equal(names, tt.want) {
				t.Errorf("got  %q\nwant %q", names, tt.want)
			}
		})
	}
}

// Laws: every task is in one part, a part has one order when there are enough
// parts, orders ascend, no part takes more than 4/3 of the best division and one
// order, and the sequence of the tasks changes nothing.
func TestPartitionLaws(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a test that can be repeated
		tasks := randomTasks(r)
		n := 1 + r.IntN(40)
		parts := plan.Partition(tasks, n)
		if len(parts) != n {
			t.Fatalf("seed %d: %d parts, want %d", seed, len(parts), n)
		}
		seen, orders := map[string]int{}, map[int]bool{}
		for _, task := range tasks {
			orders[task.Order] = true
		}
		for i, p := range parts {
			for _, task := range p.Tasks {
				seen[task.ID]++
				if n >= len(orders) && task.Order != p.Order {
					t.Fatalf("seed %d: %q of order %d is in a part of order %d", seed, task.ID, task.Order, p.Order)
				}
			}
			if i > 0 && p.Order < parts[i-1].Order {
				t.Fatalf("seed %d: part %d has order %d after %d", seed, i, p.Order, parts[i-1].Order)
			}
			if one := (plan.Fraction{Part: i + 1, Of: n}).Tasks(tasks); !reflect.DeepEqual(one, p.Tasks) {
				t.Fatalf("seed %d: part %d alone is %v, want %v", seed, i+1, one, p.Tasks)
			}
		}
		for _, task := range tasks {
			if seen[task.ID] != 1 {
				t.Fatalf("seed %d: %q is in %d parts", seed, task.ID, seen[task.ID])
			}
		}
		if len(seen) != len(tasks) {
			t.Fatalf("seed %d: %d tasks in the parts, want %d", seed, len(seen), len(tasks))
		}
		if len(orders) == 1 {
			balanced(t, seed, tasks, parts)
		}
		shuffled := slices.Clone(tasks)
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		for i, p := range plan.Partition(shuffled, n) {
			slices.SortFunc(p.Tasks, byID)
			slices.SortFunc(parts[i].Tasks, byID)
			if !reflect.DeepEqual(p.Tasks, parts[i].Tasks) {
				t.Fatalf("seed %d: part %d depends on the sequence of the tasks", seed, i+1)
			}
		}
	}
}

func byID(a, b plan.Task) int { return cmp.Compare(a.ID, b.ID) }

// balanced holds the bound that list scheduling has, which needs no best division
// to compare with.
func balanced(t *testing.T, seed uint64, tasks []plan.Task, parts []plan.Part) {
	t.Helper()
	total, longest := 0.0, 0.0
	for _, task := range tasks {
		if task.EstimateSeconds <= 0 {
			return
		}
		total, longest = total+task.EstimateSeconds, max(longest, task.EstimateSeconds)
	}
	n := float64(len(parts))
	for i, p := range parts {
		load := 0.0
		for _, task := range p.Tasks {
			load += task.EstimateSeconds
		}
		if bound := total/n + longest*(1-1/n) + 1e-9; load > bound {
			t.Fatalf("seed %d: part %d takes %g s, more than %g", seed, i+1, load, bound)
		}
	}
}

func randomTasks(r *rand.Rand) []plan.Task {
	tasks := make([]plan.Task, r.IntN(60))
	orders, unknown := 1+r.IntN(5), r.IntN(3)
	for i := range tasks {
		tasks[i] = plan.Task{ID: fmt.Sprintf("t%d", i), Order: r.IntN(orders) - 1}
		if r.IntN(3) >= unknown {
			tasks[i].EstimateSeconds = float64(1+r.IntN(100)) / 7
		}
	}
	return tasks
}

func TestFraction(t *testing.T) {
	for _, good := range []string{"1/1", "2/8", "100000/100000"} {
		var f plan.Fraction
		if err := f.Set(good); err != nil || f.String() != good {
			t.Errorf("%q gives %q, %v", good, f, err)
		}
	}
	tests := map[string]string{
		"": "is no part", "1": "is no part", "1/2/3": "is no part", "-1/2": "is no part", "+1/2": "is no part",
		"1 /2": "is no part", "01/2": "is no part", "1/2\n": "is no part", "9999999999/9999999999": "is no part",
		"½": "is no part", "0/2": "no part 0 of 2", "3/2": "no part 3 of 2", "1/0": "not into 0",
		"1/100001": "not into 100001",
	}
	for bad, want := range tests {
		f := plan.Fraction{Part: 1, Of: 2}
		if err := f.Set(bad); err == nil || !strings.Contains(err.Error(), want) || f.Of != 2 {
			t.Errorf("%q gives %v, %v, want an error with %q", bad, f, err, want)
		}
	}
	if tasks := work(0, 1, 2); len((plan.Fraction{}).Tasks(tasks)) != 2 {
		t.Error("the whole has not all tasks")
	}
}

func TestPartsOfResults(t *testing.T) {
	p := threeTasks(t)
	of := func(i, n int, tasks ...string) *plan.Results {
		rs := part(p, tasks...)
		rs.Part = plan.Fraction{Part: i, Of: n}
		return rs
	}
	tests := map[string]struct {
		parts []*plan.Results
		want  []string
	}{
		"all":           {[]*plan.Results{of(2, 2, "c"), of(1, 2, "a", "b")}, nil},
		"one missing":   {[]*plan.Results{of(1, 2, "a", "b")}, []string{"there are no results of part 2/2"}},
		"two missing":   {[]*plan.Results{of(2, 3, "a")}, []string{"there are no results of the parts 1/3, 3/3"}},
		"whole":         {[]*plan.Results{part(p, "a")}, nil},
		"two divisions": {[]*plan.Results{of(1, 2, "a"), of(1, 3, "b")}, nil},
		"none":          {nil, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			rs, err := plan.MergeResults(p, tt.parts...)
			if err != nil || !slices.Equal(rs.Warnings, tt.want) {
				t.Errorf("got %q, %v, want %q", rs.Warnings, err, tt.want)
			}
		})
	}
	many, err := plan.MergeResults(p, of(1, 1000))
	if err != nil || len(many.Warnings) != 1 || !strings.HasSuffix(many.Warnings[0], ", 21/1000, 979 more") {
		t.Errorf("got %q, %v", many.Warnings, err)
	}
}

func FuzzFraction(f *testing.F) {
	for _, seed := range []string{"2/8", "", "0/0", "1/100000", "9/1", "-1/+2", "1/2/3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var part plan.Fraction
		if err := part.Set(s); err == nil && (part.String() != s || part.Part < 1 || part.Part > part.Of ||
			part.Of > plan.MaxParts) {
			t.Errorf("%q is taken as %+v", s, part)
		}
	})
}

func BenchmarkPartition(b *testing.B) {
	tasks := make([]plan.Task, 5000)
	for i := range tasks {
		tasks[i] = plan.Task{ID: fmt.Sprint(i), Order: i % 3, EstimateSeconds: float64(i % 97)}
	}
	for b.Loop() {
		plan.Partition(tasks, 1000)
	}
}
