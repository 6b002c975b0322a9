package lease

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/app-sre/prcheck/state"
)

// A Bucket is a token bucket that processes share: it begins full, and is refilled at a steady
// pace. All that use it must give the same one.
type Bucket struct {
	Key       string  // identifies what is limited; any text
	Tokens    int     // at most
	PerSecond float64 // tokens that are added in a second
}

// longestQueue is how far ahead of their time tokens are taken: who comes later asks again.
const longestQueue = time.Minute

// Take takes tokens of a bucket and waits until all of them may be used: most of them if the
// bucket is at least half full afterwards, else the least number. Who takes first is served
// first. When ctx ends meanwhile, the tokens are given back. It returns how many were taken.
// An error other than that of the context says that the bucket or the state cannot be used.
func (b Bucket) Take(ctx context.Context, s state.Store, least, most int) (int, error) {
	if err := b.check(least, most); err != nil {
		return 0, err
	}
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		t := &taking{Bucket: b, least: least, most: most}
		err := t.update(ctx, s)
		switch {
		case ctx.Err() != nil:
			t.giveBack(ctx, s)
			return 0, context.Cause(ctx)
		case err != nil && !errors.Is(err, state.ErrBusy):
			return 0, fmt.Errorf("taking tokens of %q: %w", b.Key, err)
		case err == nil && t.got > 0:
			if !sleep(ctx, time.Until(t.usable)) {
				t.giveBack(ctx, s)
				return 0, context.Cause(ctx)
			}
			return t.got, nil
		}
		sleep(ctx, pause/2+rand.N(pause))
	}
}

// sleep returns false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// check returns an error if a bucket or a number of its tokens exceeds the bounds.
func (b Bucket) check(least, most int) error {
	wrong := ""
	switch {
	case b.Key == "":
		wrong = "it has no key"
	case len(b.Key) > maxKey:
		return fmt.Errorf("bucket %.40q…: its key has more than %d bytes", b.Key, maxKey)
	case b.Tokens < 1 || b.Tokens > maxCount:
		wrong = fmt.Sprintf("its tokens must be from 1 to %d", maxCount)
	case !(b.PerSecond > 0) || b.PerSecond > 1000 || float64(b.Tokens)/b.PerSecond > maxPeriod.Seconds():
		wrong = fmt.Sprintf("it must be filled by at most 1000 tokens in a second, and within %v", maxPeriod)
	case least < 1 || most < least || most > b.Tokens:
		wrong = fmt.Sprintf("from %d to %d of its %d tokens cannot be taken", least, most, b.Tokens)
	}
	if wrong != "" {
		return fmt.Errorf("bucket %q: %s", b.Key, wrong)
	}
	return nil
}

func (b Bucket) document() string { return "leases/bucket-" + state.Name(b.Key) + ".json" }

// cost returns how long the bucket is filled by so many tokens, in microseconds.
func (b Bucket) cost(tokens int) int64 {
	return int64(math.Ceil(float64(tokens) / b.PerSecond * 1e6))
}

// A level is the document of a bucket.
type level struct {
	Version string `json:"version"`
	Key     string `json:"key"` // for people to read
	// Full is when the bucket is full again if nobody takes a token, in microseconds since
	// 1970. The time from now until then tells how many tokens are missing.
	Full int64 `json:"full"`
}

var levels = state.Kind[level]{Version: "1", Limit: 1 << 12}

// A taking is one change of a bucket.
type taking struct {
	Bucket
	least, most int

	got     int
	usable  time.Time // when the tokens may be used
	corrupt []byte    // the document, if it is corrupt and is replaced
	why     error     // why it is corrupt
}

func (t *taking) update(ctx context.Context, s state.Store) error {
	err := s.Update(ctx, t.document(), func(old []byte) ([]byte, error) {
		t.got, t.corrupt, t.why = 0, nil, nil
		return t.change(old, time.Now())
	})
	if err == nil && t.why != nil {
		_ = state.SetAside(ctx, s, t.document(), t.corrupt, t.why) // the copy is only for people to look at
	}
	return err
}

// change takes tokens. A document that cannot be read counts as an empty bucket, and so does one
// whose time no clock explains.
func (t *taking) change(old []byte, at time.Time) ([]byte, error) {
	now, size := at.UnixMicro(), t.cost(t.Tokens)
	full := now
	if old != nil {
		doc, err := levels.Decode(old)
		switch {
		case errors.Is(err, state.ErrCorrupt):
			t.corrupt, t.why, full = old, err, now+size
		case err != nil:
			return nil, err
		case doc.Full > now+2*size+(longestQueue+maxSkew).Microseconds():
			full = now + size
		default:
			full = max(doc.Full, now)
		}
	}
	if full-size > now+longestQueue.Microseconds() {
		return nil, nil
	}
	t.got = t.least
	if full+t.cost(t.most) <= now+size/2 {
		t.got = t.most
	}
	full += t.cost(t.got)
	t.usable = at.Add(time.Duration(max(0, full-size-now)) * time.Microsecond)
	return json.Marshal(level{Version: levels.Version, Key: t.Key, Full: full})
}

// giveBack puts the tokens back, also after ctx was canceled. If that fails, they are lost.
func (t *taking) giveBack(ctx context.Context, s state.Store) {
	if t.got == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWait)
	defer cancel()
	_ = s.Update(ctx, t.document(), func(old []byte) ([]byte, error) {
		if old == nil {
			return nil, nil
		}
		doc, err := levels.Decode(old)
		if err != nil {
			return nil, err
		}
		doc.Full -= t.cost(t.got)
		return json.Marshal(doc)
	})
}
