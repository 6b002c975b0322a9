package rest

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/generic/operation"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/lease"
)

// A Throttle keeps requests below the limits of services. Clients of one service share one.
// The zero value is ready to use, and a nil Throttle limits nothing.
//
//   - Each root and kind of request has a token bucket with the limit of its family.
//   - A refused request (429) stops all of its bucket for as long as the service asks, and from
//     then on requests go one by one, a little slower than the limit.
//   - A service that says that less than a tenth is left is believed: no burst is sent.
//   - With a state, processes share the bucket. A process takes as many tokens as it has requests
//     that wait, and a few more while the bucket is half full.
type Throttle struct {
	Store state.Store // nil: this process alone

	mu      sync.Mutex
	buckets map[string]*bucket
}

// A bucket is the tokens of one root and kind.
type bucket struct {
	limit  family.Limit
	tokens float64
	most   float64   // tokens at most
	pace   float64   // tokens in a second
	since  time.Time // when the tokens were counted
	closed time.Time // no request until then

	waiting  atomic.Int32  // requests that wait for a token of the state
	granting chan struct{} // held by who asks the state for tokens
	granted  int           // tokens of the state that no request has used
}

const (
	firstSlowdown = 0.95 // of the pace, after the first refusal
	nextSlowdown  = 0.9  // after each further one
	slowest       = 0.1  // of the limit
	grantSize     = 10   // tokens at most that a process takes from the state at once
)

// bucket returns the bucket of a root and kind, nil if there is no limit. The caller holds mu.
func (t *Throttle) bucket(now time.Time, f *family.Family, root string, kind family.Kind) *bucket {
	limit, ok := f.Limits[kind]
	if !ok || limit.Tokens < 1 || limit.PerSecond <= 0 {
		return nil
	}
	key := throttleKey(f, root, kind)
	b := t.buckets[key]
	if b == nil {
		b = &bucket{limit: limit, tokens: float64(limit.Tokens), most: float64(limit.Tokens), pace: limit.PerSecond,
			since:    now,
			granting: make(chan struct{}, 1)}
		if t.buckets == nil {
			t.buckets = map[string]*bucket{}
		}
		t.buckets[key] = b
	}
	return b
}

func throttleKey(f *family.Family, root string, kind family.Kind) string {
	return fmt.Sprintf("%s %s %s", f.Name, root, kind)
}

// refill adds the tokens of the time that went by.
func (b *bucket) refill(now time.Time) {
	if gone := now.Sub(b.since); gone > 0 {
		b.tokens = min(b.tokens+gone.Seconds()*b.pace, b.most)
		b.since = now
	}
}

// take takes a token, or returns how long to wait for one.
func (t *Throttle) take(now time.Time, f *family.Family, root string,
	kind family.Kind) (wait time.Duration, b *bucket) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if b = t.bucket(now, f, root, kind); b == nil {
		return 0, nil
	}
	b.refill(now)
	switch {
	case now.Before(b.closed):
		return b.closed.Sub(now), b
	case b.tokens >= 1:
		b.tokens--
		return 0, b
	}
	return max(time.Duration((1-b.tokens)/b.pace*float64(time.Second)), time.Millisecond), b
}

// wait waits for a token.
func (t *Throttle) wait(ctx context.Context, clock operation.Clock, f *family.Family, root string,
	kind family.Kind) error {
	if t == nil {
		return nil
	}
	for {
		wait, b := t.take(clock.Now(), f, root, kind)
		switch {
		case b == nil:
			return nil
		case wait == 0:
			return t.grant(ctx, b, throttleKey(f, root, kind))
		}
		if err := clock.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// grant takes a token of those of the state, and takes more of them when none is left.
func (t *Throttle) grant(ctx context.Context, b *bucket, key string) error {
	if t.Store == nil {
		return nil
	}
	b.waiting.Add(1)
	defer b.waiting.Add(-1)
	select {
	case b.granting <- struct{}{}:
		defer func() { <-b.granting }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if b.granted == 0 {
		shared := lease.Bucket{Key: "generic " + key, Tokens: b.limit.Tokens, PerSecond: b.limit.PerSecond}
		most := min(grantSize, b.limit.Tokens)
		var err error
		if b.granted, err = shared.Take(ctx, t.Store, min(int(b.waiting.Load()), most), most); err != nil {
			return fmt.Errorf("sharing the limit of requests: %w", err)
		}
	}
	b.granted--
	return nil
}

// learn reads from an answer how much is left, and how long to wait.
func (t *Throttle) learn(now time.Time, f *family.Family, root string, kind family.Kind, res *http.Response,
	after time.Duration) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.bucket(now, f, root, kind)
	if b == nil {
		return
	}
	b.refill(now)
	if left, ok := remaining(res.Header, kind); ok {
		b.tokens = min(b.tokens, left)
		if left < float64(b.limit.Tokens)/10 {
			b.tokens = min(b.tokens, 0)
		}
	}
	if res.StatusCode == http.StatusTooManyRequests {
		b.refuse(now, after)
	}
}

// refuse makes a bucket slower after a request was refused. Requests that were on their way at
// the time of the first refusal are one refusal together.
func (b *bucket) refuse(now time.Time, after time.Duration) {
	if !now.Before(b.closed) {
		slowdown := nextSlowdown
		if b.most > 1 {
			slowdown = firstSlowdown
		}
		b.pace, b.most = max(b.pace*slowdown, b.limit.PerSecond*slowest), 1
	}
	b.tokens = 0
	if end := now.Add(max(after, time.Duration(float64(time.Second)/b.pace))); end.After(b.closed) {
		b.closed, b.since = end, end
	}
}

// remaining returns the smallest number of requests that an answer says are left.
func remaining(h http.Header, kind family.Kind) (float64, bool) {
	least, found := 0.0, false
	for name, values := range h {
		name = strings.ToLower(name)
		if !strings.HasPrefix(name, "x-ms-ratelimit-remaining-") || !strings.HasSuffix(name, string(kind)) {
			continue
		}
		for _, value := range values {
			n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 31)
			if left := float64(n); err == nil && (!found || left < least) {
				least, found = left, true
			}
		}
	}
	return least, found
}
