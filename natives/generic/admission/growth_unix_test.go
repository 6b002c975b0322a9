//go:build unix

package admission_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/app-sre/prcheck/natives/generic/admission"
)

// used returns the time of processors that the program used. Others do not count in it.
func used(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// One wide review after the other, with 1,000, 10,000 and 100,000 values. growth is how much
// longer the last one takes than the one before: 10 is linear.
func BenchmarkGrowth(b *testing.B) {
	h := admission.NewHandler(known(b), admission.Options{Budget: time.Hour})
	names, _ := wideReviews(1)
	for _, name := range names {
		b.Run(strings.ReplaceAll(name, ", ", "-"), func(b *testing.B) {
			for b.Loop() {
				var took []time.Duration
				for _, n := range []int{1000, 10_000, 100_000} {
					_, reviews := wideReviews(n)
					begin := used(b)
					post(b, h, reviews[name])
					took = append(took, used(b)-begin)
				}
				b.ReportMetric(float64(took[2])/float64(took[1]), "growth")
				b.ReportMetric(float64(took[2].Milliseconds()), "ms")
			}
		})
	}
}
