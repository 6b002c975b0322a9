//go:build unix

package planner_test

import (
	"syscall"
	"testing"
	"time"
)

// A clock measures the CPU time of a benchmark, all threads together.
type clock struct {
	b     *testing.B
	start time.Duration
}

func startClock(b *testing.B) clock { return clock{b, used(b)} }

// stop reports the CPU time and returns it, in milliseconds per operation.
func (c clock) stop() float64 {
	ms := float64(used(c.b)-c.start) / float64(time.Millisecond) / float64(c.b.N)
	c.b.ReportMetric(ms, "cpu-ms/op")
	return ms
}

func used(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
