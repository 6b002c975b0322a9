package lease

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/app-sre/prcheck/state"
)

var writes = Bucket{Key: "writes", Tokens: 200, PerSecond: 10}

// use takes tokens again and again until all are used, and returns when each was.
func use(t *testing.T, m state.Store, b Bucket, takers, tokens, most int) []time.Time {
	var mu sync.Mutex
	var used []time.Time
	var all sync.WaitGroup
	for range takers {
		all.Go(func() {
			for {
				mu.Lock()
				left := tokens - len(used)
				mu.Unlock()
				if left <= 0 {
					return
				}
				least := min(1+rand.N(4), most)
				n, err := b.Take(t.Context(), m, least, most)
				if err != nil || n < least || n > most {
					t.Errorf("got %d tokens, want from %d to %d: %v", n, least, most, err)
					return
				}
				mu.Lock()
				for range n {
					used = append(used, time.Now())
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return used
}

// At no time are more tokens used than the bucket had, and none are lost: all of it takes as long
// as the bucket allows.
func TestBucket(t *testing.T) {
	for _, takers := range []int{1, 3, 12} {
		in(t, func(t *testing.T, m *memory) {
			began := time.Now()
			used := use(t, m, writes, takers, 1000, 10)
			for i, at := range used {
				if allowed := 200 + at.Sub(began).Seconds()*10; float64(i+1) > allowed+0.001 {
					t.Fatalf("%d takers: %d tokens after %v", takers, i+1, at.Sub(began))
				}
			}
			ideal := time.Duration(len(used)-200) * 100 * time.Millisecond
			if took := time.Since(began); took > ideal+time.Millisecond {
				t.Errorf("%d takers: %d tokens in %v, want %v", takers, len(used), took, ideal)
			}
			time.Sleep(5 * time.Second) // it is filled by fifty
			began = time.Now()
			if n, err := writes.Take(t.Context(), m, 51, 200); err != nil || n != 51 ||
				time.Since(began).Round(time.Millisecond) != 100*time.Millisecond {
				t.Errorf("got %d after %v, %v", n, time.Since(began), err)
			}
		})
	}
}

// Who waits has its place in the queue; who stops waiting gives its tokens back.
func TestBucketQueue(t *testing.T) {
	in(t, func(t *testing.T, m *memory) {
		slow := Bucket{Key: "slow", Tokens: 10, PerSecond: 1}
		if n, err := slow.Take(t.Context(), m, 5, 5); n != 5 || err != nil {
			t.Fatal(n, err)
		}
		if n, err := slow.Take(t.Context(), m, 2, 5); n != 2 || err != nil {
			t.Errorf("got %d, %v: the bucket would be less than half full", n, err)
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Second, errors.New("it is over"))
		defer cancel()
		if n, err := slow.Take(ctx, m, 10, 10); n != 0 || err == nil || err.Error() != "it is over" {
			t.Errorf("got %d, %v", n, err)
		}
		began := time.Now() // five tokens are there
		if n, err := slow.Take(t.Context(), m, 6, 6); n != 6 || err != nil || time.Since(began) != time.Second {
			t.Errorf("got %d after %v, %v", n, time.Since(began), err)
		}
		var all sync.WaitGroup
		began = time.Now()
		for range 30 { // the queue is longer than a minute
			all.Go(func() {
				if _, err := slow.Take(t.Context(), m, 10, 10); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if took := time.Since(began); took < 300*time.Second || took > 302*time.Second {
			t.Errorf("300 tokens took %v", took)
		}
	})
}

// A clock that is behind waits for its tokens; a time that no clock explains, and a document that
// cannot be read, are an empty bucket.
func TestBucketDocuments(t *testing.T) {
	in(t, func(t *testing.T, m *memory) {
		at := func(d time.Duration) string {
			raw, err := json.Marshal(level{Version: "1", Key: "writes", Full: time.Now().Add(d).UnixMicro()})
			if err != nil {
				t.Fatal(err)
			}
			return string(raw)
		}
		for _, test := range []struct {
			text string
			want time.Duration
			docs int
		}{
			{at(-time.Hour), 0, 1},
			{at(30 * time.Second), 10*time.Second + 100*time.Millisecond, 1},
			{at(365 * 24 * time.Hour), 100 * time.Millisecond, 1},
			{at(-200 * 365 * 24 * time.Hour), 0, 1},
			{"{", 100 * time.Millisecond, 2},
			{`{"version":"1","full":"soon"}`, 100 * time.Millisecond, 2},
			{`{"version":"1","full":1e300}`, 100 * time.Millisecond, 2},
			{`{"version":"1","key":"` + strings.Repeat("x", 5000) + `"}`, 100 * time.Millisecond, 2},
		} {
			m.docs = map[string][]byte{writes.document(): []byte(test.text)}
			began := time.Now()
			if n, err := writes.Take(t.Context(), m, 1, 1); n != 1 || err != nil {
				t.Fatalf("%.40s: got %d, %v", test.text, n, err)
			}
			if took := time.Since(began); took != test.want || len(m.docs) != test.docs {
				t.Errorf("%.40s: took %v, want %v; %d documents, want %d", test.text, took, test.want, len(m.docs), test.docs)
			}
		}
		m.docs = map[string][]byte{writes.document(): []byte(`{"version":"2"}`)}
		if _, err := writes.Take(t.Context(), m, 1, 1); !errors.Is(err, state.ErrOtherVersion) {
			t.Errorf("got %v", err)
		}
		m.failing(errors.New("the disk is full"))
		if _, err := writes.Take(t.Context(), m, 1, 1); err == nil ||
			err.Error() != `taking tokens of "writes": the disk is full` {
			t.Errorf("got %v", err)
		}
	})
}

func TestBucketBounds(t *testing.T) {
	for _, test := range []struct {
		bucket      Bucket
		least, most int
		want        string
	}{
		{Bucket{"", 1, 1}, 1, 1, `bucket "": it has no key`},
		{Bucket{strings.Repeat("k", 501), 1, 1}, 1, 1, fmt.Sprintf(`bucket "%s"…: its key has more than 500 bytes`,
			strings.Repeat("k", 40))},
		{Bucket{"k", 0, 1}, 1, 1, `bucket "k": its tokens must be from 1 to 1000`},
		{Bucket{"k", 1, 0}, 1, 1, `bucket "k": it must be filled by at most 1000 tokens in a second, and within 1h0m0s`},
		{Bucket{"k", 1000, 0.1}, 1, 1, `bucket "k": it must be filled by at most 1000 tokens in a second, and within 1h0m0s`},
		{Bucket{"k", 5, 1}, 0, 1, `bucket "k": from 0 to 1 of its 5 tokens cannot be taken`},
		{Bucket{"k", 5, 1}, 2, 1, `bucket "k": from 2 to 1 of its 5 tokens cannot be taken`},
		{Bucket{"k", 5, 1}, 1, 6, `bucket "k": from 1 to 6 of its 5 tokens cannot be taken`},
	} {
		if _, err := test.bucket.Take(t.Context(), empty(), test.least, test.most); err == nil || err.Error() != test.want {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
}
