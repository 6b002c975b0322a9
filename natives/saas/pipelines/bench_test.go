//go:build unix

package pipelines

import (
	"syscall"
	"testing"
	"time"

	"github.com/app-sre/prcheck/natives/saas/saastest"
)

// BenchmarkQuiet is one iteration over 3,000 targets of 300 saas files in which nothing changed.
func BenchmarkQuiet(b *testing.B) {
	s := newTestScene(b, saastest.Large(300, 3000))
	publishAll(b, s)
	s.settle()
	b.ReportAllocs()
	before := cpuTime(b)
	for b.Loop() {
		if err := s.run(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric((cpuTime(b)-before).Seconds()/float64(b.N), "cpu-s/op")
	if len(s.units) < 600 {
		b.Fatalf("%d cells", len(s.units))
	}
}

// cpuTime returns the time for which this process used a processor.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
