//go:build unix

package check_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/app-sre/prcheck/natives/generic/check"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/validate"
	"github.com/app-sre/prcheck/natives/reconcile"
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

// A change of a wide body, with 1,000, 10,000 and 100,000 values. growth is how much longer the
// last one takes than the one before: 10 is linear.
func BenchmarkWide(b *testing.B) {
	typ := &validate.Checker{Rules: rules.Table{{At: "/kept", Rule: rules.Rule{CreateOnly: rules.Declared}},
		{At: "/list", Rule: rules.Rule{List: "map", Keys: []string{"name"}}}}}
	for _, kind := range []string{"kept", "free", "list"} {
		b.Run(kind, func(b *testing.B) {
			for b.Loop() {
				var took []time.Duration
				for _, n := range []int{1000, 10_000, 100_000} {
					side := func(value string) *cloud.Resource {
						group, list := map[string]any{}, []any{}
						for i := range n {
							group[fmt.Sprint("m", i)] = value
							list = append(list, map[string]any{"name": fmt.Sprint("m", i), "value": value})
						}
						return &cloud.Resource{Policy: reconcile.Manage,
							Body: map[string]any{kind: map[string]any{"kept": group, "free": group, "list": list}[kind]}}
					}
					base, head := side("1"), side("2")
					begin := used(b)
					check.Pair{Base: base, Head: head, Types: []*validate.Checker{typ}}.Check()
					took = append(took, used(b)-begin)
				}
				b.ReportMetric(float64(took[2])/float64(took[1]), "growth")
			}
		})
	}
}
