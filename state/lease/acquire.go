package lease

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/app-sre/prcheck/state"
)

// How often who waits asks: soon at first, then steadily.
const (
	firstPause = 20 * time.Millisecond
	lastPause  = time.Second
)

// ahead is how far a clock may be before another one to be believed.
const ahead = time.Minute

// Acquire waits for a place and a start of a limit until ctx ends. The caller
// renews the lease, and releases it; [Hold] does that. An error that is not the
// context's says that the state is of no use.
func Acquire(ctx context.Context, s state.Store, limit Limit) (*Lease, error) {
	limit, err := limit.check()
	if err != nil {
		return nil, err
	}
	l := &Lease{limit: limit, store: s, id: newID()}
	seen := map[string]time.Time{}
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, lastPause, limit.TTL/6) {
		a, err := l.try(ctx, seen)
		switch {
		case err != nil && ctx.Err() != nil:
			l.free(ctx) // the place may have been taken although the answer did not come
			return nil, context.Cause(ctx)
		case errors.Is(err, state.ErrBusy):
		case err != nil:
			return nil, fmt.Errorf("waiting for %q: %w", limit.Key, err)
		case a.got:
			l.renewed = a.now
			if l.Left() > limit.TTL/6 { // otherwise the answer came so late that it is as good as lost
				return l, nil
			}
		default:
			seen = a.next
		}
		select {
		case <-ctx.Done():
		case <-time.After(max(a.wait, pause/2) + rand.N(pause)):
		}
	}
	return nil, context.Cause(ctx)
}

// try looks once whether there is room.
func (l *Lease) try(ctx context.Context, seen map[string]time.Time) (a attempt, err error) {
	err = l.store.Update(ctx, l.limit.document(), func(old []byte) ([]byte, error) {
		a = attempt{id: l.id, limit: l.limit, now: time.Now(), seen: seen, next: map[string]time.Time{}}
		return a.change(old)
	})
	if err == nil && a.why != nil {
		_ = state.SetAside(ctx, l.store, l.limit.document(), a.corrupt, a.why) // only to be looked at
	}
	return a, err
}

// An attempt is one look at the document of a limit.
type attempt struct {
	id    string
	limit Limit
	now   time.Time
	// seen tells since when each sign of life was the last one of its holder;
	// next is what this attempt adds to that.
	seen, next map[string]time.Time

	got     bool
	wait    time.Duration // before it makes sense to look again
	corrupt []byte        // what was there, when it was silent for long enough
	why     error
}

// change adds a holder and a start to a document, if there is room.
func (a *attempt) change(old []byte) ([]byte, error) {
	doc, err := new(document), error(nil)
	if old != nil {
		doc, err = kind.Decode(old)
	}
	switch {
	case errors.Is(err, state.ErrCorrupt):
		if !a.silent("corrupt "+state.Name(string(old)), a.limit.TTL) {
			return nil, nil
		}
		a.corrupt, a.why, doc = old, err, new(document)
	case err != nil:
		return nil, err
	}
	doc.Version, doc.Key = kind.Version, a.limit.Key
	if i := slices.IndexFunc(doc.Holders, func(h holder) bool { return h.ID == a.id }); i >= 0 {
		a.got = true // it was written before, and the answer lost: others may have waited since then
		doc.Holders[i].Beat++
		return json.Marshal(doc)
	}
	doc.Holders = slices.DeleteFunc(doc.Holders, func(h holder) bool {
		return a.silent(fmt.Sprint(h.ID, " ", h.Beat), h.ttl())
	})
	if a.limit.Max > 0 && len(doc.Holders) >= a.limit.Max {
		return nil, nil
	}
	if a.limit.Rate.Count > 0 {
		free, wrong := a.start(doc)
		if !free && !wrong {
			return nil, nil
		}
		a.got = free
	} else {
		a.got = true
	}
	if a.got && a.limit.Max > 0 {
		doc.Holders = append(doc.Holders, holder{ID: a.id, TTL: a.limit.TTL.Milliseconds()})
	}
	return json.Marshal(doc)
}

// silent tells whether something has been the same for as long as we looked, and
// that for the given time.
func (a *attempt) silent(mark string, ttl time.Duration) bool {
	first, known := a.seen[mark]
	if !known {
		first = a.now
	}
	a.next[mark] = first
	return a.now.Sub(first) >= ttl
}

// start adds a start to a document, unless it is not free for one since there
// were enough of them. It tells, too, whether a wrong time was put right.
func (a *attempt) start(doc *document) (free, wrong bool) {
	now, per := a.now.UnixMilli(), a.limit.Rate.Per.Milliseconds()
	var recent []int64
	for _, t := range doc.Starts {
		if t > now+ahead.Milliseconds() {
			t, wrong = now, true
		}
		if t > now-per {
			recent = append(recent, t)
		}
	}
	slices.Sort(recent)
	doc.Starts = recent
	if n := len(recent) - a.limit.Rate.Count; n >= 0 {
		a.wait = time.Duration(recent[n]+per-now) * time.Millisecond
		return false, wrong
	}
	if len(recent) > 0 {
		now = max(now, recent[len(recent)-1])
	}
	doc.Starts = append(doc.Starts, now)
	return true, wrong
}
