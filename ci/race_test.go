package ci

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/doubles/gitlabtest"
	"github.com/app-sre/prcheck/internal/retry"
)

var seeds = flag.Uint64("seeds", 200, "how many random races are run")

// After random races of publishers there is one note, and it shows the newest published
// plan. Every request and every answer has a delay. Some requests or answers are lost, some
// requests are carried out long after the client gave up, and some are refused. A seed
// decides all of this, and the clock is a fake.
func TestRaces(t *testing.T) {
	for seed := range *seeds {
		synctest.Test(t, func(t *testing.T) {
			race(t, rand.New(rand.NewPCG(seed, 1)), fmt.Sprintf("seed %d", seed))
		})
	}
}

func race(t *testing.T, draw *rand.Rand, name string) {
	s := server(t)
	if draw.IntN(3) > 0 {
		s.AddNote(gitlabtest.Note{Author: gitlabtest.Human, Body: marker + "99 -->\nforged"})
	}
	for range draw.IntN(3) { // left by publishers that were killed
		s.AddNote(gitlabtest.Note{Author: gitlabtest.Bot, Body: body(1+draw.Int64N(3), "left", "nothing")})
	}
	way := &rough{server: s, draw: draw, trouble: draw.IntN(12)}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var newest int64
	failed := 0
	starts, notes := map[int]time.Duration{}, make([]fake, 2+draw.IntN(4))
	for i := range notes {
		if draw.IntN(2) == 0 {
			starts[i] = time.Duration(draw.Int64N(int64(time.Minute)))
		}
		notes[i] = fake{4 + draw.Int64N(4), fmt.Sprint("by ", i)}
	}
	for i, n := range notes {
		wg.Go(func() {
			time.Sleep(starts[i])
			c := client(t, way)
			_, err := c.Publish(t.Context(), mr, n)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed++
				return
			}
			newest = max(newest, n.generation)
		})
	}
	wg.Wait()
	way.late.Wait()
	left := s.Notes(marker)
	if failed > 0 {
		return // publishers that failed may leave a wrong note
	}
	if len(left) != 1 {
		t.Fatalf("%s: got %d notes: %+v\n%q", name, len(left), left, writes(s))
	}
	if g, _ := (fake{}).Generation(left[0].Body); g != newest {
		t.Fatalf("%s: the note shows %d, want %d\n%q", name, g, newest, writes(s))
	}
}

// A rough is a bad connection to a server.
type rough struct {
	server  *gitlabtest.Server
	mu      sync.Mutex
	draw    *rand.Rand
	trouble int // percentage of requests with a failure
	late    sync.WaitGroup
}

var errRough = errors.New("connection reset by peer")

func (r *rough) RoundTrip(req *http.Request) (*http.Response, error) {
	r.mu.Lock()
	there, back := time.Duration(r.draw.Int64N(int64(2*time.Second))), time.Duration(r.draw.Int64N(int64(2*time.Second)))
	fate := 99
	if r.draw.IntN(100) < r.trouble {
		fate = r.draw.IntN(6)
	}
	long := time.Duration(r.draw.Int64N(int64(50 * time.Second)))
	r.mu.Unlock()
	if err := retry.Sleep(req.Context(), there); err != nil {
		return nil, err
	}
	switch fate {
	case 0: // the request is lost
		return nil, errRough
	case 1, 2: // the request is carried out and the answer is lost
		_, _ = memory{r.server}.RoundTrip(req)
		return nil, errRough
	case 3: // the request is carried out after the client gave up
		again := req.Clone(context.WithoutCancel(req.Context()))
		r.late.Go(func() {
			time.Sleep(long)
			if res, err := (memory{r.server}).RoundTrip(again); err == nil {
				res.Body.Close()
			}
		})
		<-req.Context().Done()
		return nil, req.Context().Err()
	case 4:
		w := &gitlabtest.Server{Token: secret, Fault: func(int, *http.Request) gitlabtest.Fault {
			return gitlabtest.Fault{Status: 429, Undone: true, Header: http.Header{"Retry-After": {"20"}}}
		}}
		return memory{w}.RoundTrip(req)
	}
	res, err := memory{r.server}.RoundTrip(req)
	if wait := retry.Sleep(req.Context(), back); wait != nil {
		return nil, wait
	}
	return res, err
}
