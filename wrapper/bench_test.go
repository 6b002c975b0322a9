//go:build unix

package wrapper_test

import (
	"os/exec"
	"runtime"
	"strconv"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/wrapper"
)

const many = 10_000

// BenchmarkTasks runs the command true as ten thousand tasks, each with a log.
func BenchmarkTasks(b *testing.B) {
	tasks := make([]plan.Task, many)
	for i := range tasks {
		tasks[i] = task("task-" + strconv.Itoa(i))
		tasks[i].Argv = []string{"/bin/true"}
	}
	for b.Loop() {
		results, err := wrapper.Run(b.Context(), tasks, with(path),
			wrapper.RunOptions{Logs: wrapper.LogFolder{Dir: b.TempDir()}})
		if err != nil {
			b.Fatal(err)
		}
		for _, r := range results {
			if !r.OK() {
				b.Fatalf("got %+v", r)
			}
		}
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	b.ReportMetric(float64(memory.HeapSys)/(1<<20), "MiB-heap")
}

// BenchmarkBash is the yardstick of BenchmarkTasks: a shell loop that starts the same
// program as often.
func BenchmarkBash(b *testing.B) {
	for b.Loop() {
		if err := exec.CommandContext(b.Context(), "bash", "-c",
			"for ((i = 0; i < "+strconv.Itoa(many)+"; i++)); do /bin/true; done").Run(); err != nil {
			b.Fatal(err)
		}
	}
}
