package lease

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/fakes3"
	"github.com/app-sre/prcheck/state"
)

// Two writers use a bucket that loses answers. A write whose answer was lost gives its
// writer no second place, and blocks no place.
func TestTwoWritersOverABucket(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	fake := fakes3.Start(t)
	t.Setenv("AWS_MAX_ATTEMPTS", "3")
	var stores []state.Store
	for range 2 {
		s, err := state.At(t.Context(), "s3://memory/leases", state.Writing)
		if err != nil {
			t.Fatal(err)
		}
		stores = append(stores, s)
	}
	var puts atomic.Int32
	fake.Fail(func(r *http.Request) (f fakes3.Fault) {
		if r.Method == http.MethodPut {
			f.Delay = time.Millisecond
			first := strings.HasPrefix(r.Header.Get("Amz-Sdk-Request"), "attempt=1;")
			f.Lose = puts.Add(1)%4 == 0 && first // a second attempt is always answered
		}
		return f
	})
	const holds = 3
	var now, most, ended atomic.Int32
	var all sync.WaitGroup
	began := time.Now()
	for _, s := range stores {
		for range 2 {
			all.Go(func() {
				for range holds {
					err := Hold(t.Context(), s, []Limit{{Key: "one at a time", Max: 1, TTL: time.Second}},
						func(context.Context) error {
							if n := now.Add(1); n > most.Load() {
								most.Store(n)
							}
							time.Sleep(2 * time.Millisecond)
							now.Add(-1)
							ended.Add(1)
							return nil
						})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	all.Wait()
	t.Logf("%d writes, %d visits in %v", puts.Load(), ended.Load(), time.Since(began))
	if most.Load() != 1 || ended.Load() != 2*2*holds {
		t.Errorf("at most %d at once, %d ended; want 1 and %d", most.Load(), ended.Load(), 2*2*holds)
	}
}
