package reconcile_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/app-sre/prcheck/natives/reconcile"
)

// A slow system answers each call after two milliseconds.
type slow struct{}

func (slow) Read(_ context.Context, k reconcile.Key) (*reconcile.Thing, error) {
	time.Sleep(2 * time.Millisecond)
	return &reconcile.Thing{Key: k, Body: "old", Mark: reconcile.Mark{Integration: "it", Caller: "me"}}, nil
}

func (slow) Write(context.Context, reconcile.Step, *reconcile.Thing, reconcile.Mark) error {
	time.Sleep(2 * time.Millisecond)
	return nil
}

// BenchmarkOverhead compares a plan of 1,000 items with 50 changes, and its execution, with a
// loop that makes the same calls and does nothing else. The metric is what the library adds.
func BenchmarkOverhead(b *testing.B) {
	in := reconcile.Input{
		Owner: reconcile.Owner{Integration: "it", Caller: "me", Callers: []string{"me"}}, Class: reconcile.Listing,
		Compare: func(want reconcile.Item, is reconcile.Thing, _ reconcile.Record) (reconcile.Difference, error) {
			if want.Body == is.Body {
				return reconcile.Difference{}, nil
			}
			return reconcile.Difference{Changes: []reconcile.Change{{Path: "/"}}}, nil
		},
	}
	var changed []reconcile.Key
	for i := range 1000 {
		it := reconcile.Item{Key: reconcile.Key(fmt.Sprintf("item-%04d", i)), Body: "old"}
		in.Current = append(in.Current, reconcile.Thing{Key: it.Key, Body: "old", Mark: in.Owner.Mark()})
		if i%20 == 0 {
			it.Body = "new"
			changed = append(changed, it.Key)
		}
		in.Desired = append(in.Desired, it)
	}
	ctx := context.Background()
	var library, loop time.Duration
	for b.Loop() {
		begin := time.Now()
		if _, err := reconcile.Execute(ctx, reconcile.Make(in), slow{}, nil, reconcile.Options{}); err != nil {
			b.Fatal(err)
		}
		library += time.Since(begin)
		begin = time.Now()
		for _, k := range changed {
			if _, err := (slow{}).Read(ctx, k); err != nil {
				b.Fatal(err)
			}
			if err := (slow{}).Write(ctx, reconcile.Step{}, nil, reconcile.Mark{}); err != nil {
				b.Fatal(err)
			}
		}
		loop += time.Since(begin)
	}
	b.ReportMetric(100*float64(library-loop)/float64(loop), "%overhead")
}
