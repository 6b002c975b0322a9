package queue_test

import (
	"fmt"
	"testing"

	"github.com/app-sre/prcheck/queue"
)

// BenchmarkWalk walks over requests that all hold, each with a hundred tasks.
func BenchmarkWalk(b *testing.B) {
	for _, n := range []int{50, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			line := make([]queue.Place, n)
			for i := range line {
				line[i].Request = queue.Request{Number: i + 1, Head: fmt.Sprint(i)}
			}
			tasks := make([]queue.PlannedTask, 100)
			for i := range tasks {
				tasks[i] = queue.PlannedTask{Name: fmt.Sprint(i), Inputs: "x", Result: passed(queue.Same)}
			}
			look := func(base string, r queue.Request) queue.Proof {
				return queue.Proof{Pair: queue.Pair{Head: r.Head, Base: base}, Tree: "tree" + r.Head, IsValidated: true,
					IsPlanned: true, Tasks: tasks}
			}
			for b.Loop() {
				if o := queue.Walk("base", line, look, queue.Policy{Overtake: true}); len(o.Accepted) != n {
					b.Fatal(len(o.Accepted))
				}
			}
		})
	}
}
