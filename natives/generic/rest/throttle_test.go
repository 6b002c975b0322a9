package rest

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/internal/retry"
	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/generic/operation"
	"github.com/app-sre/prcheck/state"
)

var creates = flag.Int("creates", 1000, "how many resources the test of the throttle creates")

// A limited service refuses writes beyond a token bucket of its own.
type limited struct {
	*service
	limit    family.Limit
	tells    bool // how many are left
	tokens   float64
	since    time.Time
	requests int
	reads    int
	refused  int
}

func (l *limited) count(r sent) *http.Response {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.method == http.MethodGet {
		l.reads++
		return nil
	}
	now := time.Now()
	l.tokens = min(l.tokens+now.Sub(l.since).Seconds()*l.limit.PerSecond, float64(l.limit.Tokens))
	l.since = now
	l.requests++
	if l.tokens < 1 {
		l.refused++
		return failing(http.StatusTooManyRequests, "TooManyRequests", "Retry-After", "1")
	}
	l.tokens--
	res := l.handle(r)
	if l.tells {
		res.Header.Set("x-ms-ratelimit-remaining-subscription-writes", fmt.Sprint(int(l.tokens)))
	}
	return res
}

// run creates things by some workers of some processes, and returns how long that took.
func (l *limited) run(t *testing.T, processes, workers, creates int, store state.Store) time.Duration {
	l.since, l.tokens = time.Now(), float64(l.limit.Tokens)
	l.before = l.count
	began := time.Now()
	next := make(chan int, creates)
	for i := range creates {
		next <- i
	}
	close(next)
	var all sync.WaitGroup
	for range processes {
		c := l.client()
		c.Clock, c.Random, c.Throttle = operation.Clock{Now: time.Now, Sleep: retry.Sleep}, nil, &Throttle{Store: store}
		for range workers {
			all.Go(func() {
				for i := range next {
					to := target(putOnly)
					to.Address.Path = fmt.Sprintf("%s%d", thing, i)
					to.Address.Chain = to.Address.Path
					if _, err := c.Write(t.Context(), to, &planner{desired: props("a", "1")}, &memory{}); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	all.Wait()
	return time.Since(began)
}

// shortest returns how long a limit makes so many requests take.
func shortest(limit family.Limit, requests int) time.Duration {
	return time.Duration(float64(requests-limit.Tokens) / limit.PerSecond * float64(time.Second))
}

// A thousand creations against a limit: at most one of a hundred writes is refused, and all of
// it takes at most a tenth longer than the limit allows.
func TestThrottle(t *testing.T) {
	usual := family.ARM.Limits[family.Writes]
	small := family.Limit{Tokens: 10, PerSecond: 10}
	for _, test := range []struct {
		name               string
		limit              family.Limit
		tells              bool
		processes, workers int
		isShared           bool
	}{
		{"the published limit", usual, false, 1, 8, false},
		{"a smaller bucket", small, false, 1, 8, false},
		{"a smaller bucket that tells what is left", small, true, 1, 8, false},
		{"one process with a state", usual, false, 1, 8, true},
		{"three processes", usual, false, 3, 4, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			var store state.Store
			if test.isShared {
				folder, err := os.MkdirTemp(t.TempDir(), "state")
				if err != nil {
					t.Fatal(err)
				}
				if store, err = state.Open(folder); err != nil {
					t.Fatal(err)
				}
			}
			l := &limited{service: newService(t, *family.ARM), limit: test.limit, tells: test.tells}
			n := *creates
			if test.isShared { // what is taken is written to a disk
				n /= 3
			}
			took := l.run(t, test.processes, test.workers, n, store)
			ideal := max(shortest(test.limit, n), shortest(family.ARM.Limits[family.Reads], l.reads))
			t.Logf("%s: %d writes, %d refused, %d reads, took %v, ideal %v", test.name, l.requests, l.refused, l.reads, took,
				ideal)
			if len(l.things) != n {
				t.Errorf("%s: %d things", test.name, len(l.things))
			}
			if l.refused*100 > l.requests {
				t.Errorf("%s: %d of %d writes were refused", test.name, l.refused, l.requests)
			}
			if *creates >= 1000 && took > ideal+ideal/10 {
				t.Errorf("%s: it took %v, the limit allows %v", test.name, took, ideal)
			}
		})
	}
}
