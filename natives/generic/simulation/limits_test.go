package simulation

import (
	"flag"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/doubles/armtest"
)

var creates = flag.Int("creates", 230, "how many resources TestLimits makes; 1000 are the judged ones")

// Many new resources meet the limit of one subscription without a storm: few requests are refused,
// and it takes hardly longer than the limit alone would.
func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.workers = 16
		const burst, perSecond = 200, 10
		w.Limits = &armtest.Limits{
			Reads: armtest.Rate{Burst: 250, PerSecond: 25}, Writes: armtest.Rate{Burst: burst, PerSecond: perSecond},
			Deletes: armtest.Rate{Burst: burst, PerSecond: perSecond},
		}
		for n := range *creates {
			path, e := makers[4](n, n%200+1) // storage accounts, which need no parent
			e["parent"] = parent(0)
			w.put(path, e)
		}
		began := time.Now()
		w.must()
		took := time.Since(began).Seconds()
		if got := len(w.IDs()); got != *creates {
			t.Fatalf("%d resources were made, want %d", got, *creates)
		}
		refused, all := 0, w.Requests()
		reads := 0
		for _, r := range all {
			if r.Status == http.StatusTooManyRequests {
				refused++
			}
			if !r.IsWrite() {
				reads++
			}
		}
		ideal := float64(*creates) / perSecond
		if refused*100 > len(all) {
			t.Errorf("%d of %d requests were refused", refused, len(all))
		}
		if took > ideal*1.1 {
			t.Errorf("it took %.1f s, and %.1f s are ideal", took, ideal)
		}
		t.Logf("%d creates: %d requests, %d reads, %d refused, %.1f s; %d in a second need %.1f s, with a burst of %d %.1f s",
			*creates, len(all), reads, refused, took, perSecond, ideal, burst, float64(*creates-burst)/perSecond)
	})
}
