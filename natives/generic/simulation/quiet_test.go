package simulation

import (
	"flag"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var (
	shops  = flag.Int("shops", 4, "how many shops with six resources each TestQuiet has; 50 are the judged ones")
	passes = flag.Int("passes", 6, "how often TestQuiet runs while nothing changes; 96 are the judged ones")
)

// Nothing is written while nothing changes, and each resource is read at most once in each pass. A
// part of the status that is read for itself counts as one more read of its resource.
func TestQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(*shops, 5)
		w.must()
		made := len(w.IDs())
		if want := *shops * len(makers); made != want {
			t.Fatalf("%d resources were made, want %d\n%s", made, want, w.log.String())
		}
		writes, reads, most := 0, 0, 0
		for range *passes {
			time.Sleep(15 * time.Minute)
			w.Forget()
			w.must()
			seen := map[string]int{}
			for _, r := range w.Requests() {
				if r.IsWrite() {
					writes++
					t.Errorf("%s\n%s", r, w.log.String())
					continue
				}
				reads++
				of := strings.TrimSuffix(r.Path, "/instanceView")
				seen[of]++
				most = max(most, seen[of])
			}
			if t.Failed() {
				t.FailNow()
			}
		}
		if most > 1 || reads > made**passes {
			t.Errorf("%d reads of %d resources in %d passes, at most %d of one in a pass", reads, made, *passes, most)
		}
		t.Logf("%d resources, %d passes: %d writes, %d reads", made, *passes, writes, reads)
	})
}
