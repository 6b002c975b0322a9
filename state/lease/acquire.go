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

// The pause between two looks at a limit doubles from firstPause to lastPause.
const (
	firstPause = 20 * time.Millisecond
	lastPause  = time.Second
)

// maxSkew is how far a time of another clock may lie ahead. A time further ahead counts as
// now.
const maxSkew = time.Minute

// Acquire waits for a place and a start of a limit until ctx ends. The caller renews the
// lease and releases it; [Hold] does both. An error other than that of the context says
// that the state cannot be used.
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
			l.giveBack(ctx) // the document may have been written although no answer came
			return nil, context.Cause(ctx)
		case errors.Is(err, state.ErrBusy):
		case err != nil:
			return nil, fmt.Errorf("waiting for %q: %w", limit.Key, err)
		case a.got:
			l.renewed = a.now
			if l.Left() > limit.TTL/6 { // otherwise the answer came so late that the lease would soon be lost
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

// try looks at the document once and takes a place if there is one. The map seen is that
// of the attempt before.
func (l *Lease) try(ctx context.Context, seen map[string]time.Time) (a attempt, err error) {
	err = l.store.Update(ctx, l.limit.document(), func(old []byte) ([]byte, error) {
		a = attempt{id: l.id, limit: l.limit, now: time.Now(), seen: seen, next: map[string]time.Time{}}
		return a.change(old)
	})
	if err == nil && a.why != nil {
		_ = state.SetAside(ctx, l.store, l.limit.document(), a.corrupt, a.why) // the copy is only for people to look at
	}
	return a, err
}

// An attempt is one look at the document of a limit.
type attempt struct {
	id    string // of the holder to be
	limit Limit
	now   time.Time
	// seen holds when each sign of life was first seen, as the attempts before saw it. A
	// key is a holder with its number of signs. next is the same after this attempt.
	seen, next map[string]time.Time

	got     bool          // the lease is taken
	wait    time.Duration // until another look makes sense
	corrupt []byte        // the document, if it was corrupt for one TTL and is replaced
	why     error         // why it is corrupt
}

// change adds a holder and a start to a document if the limit allows both.
func (a *attempt) change(old []byte) ([]byte, error) {
	doc, err := new(document), error(nil)
	if old != nil {
		doc, err = kind.Decode(old)
	}
	switch {
	case errors.Is(err, state.ErrCorrupt):
		if !a.isSilent("corrupt "+state.Name(string(old)), a.limit.TTL) {
			return nil, nil
		}
		a.corrupt, a.why, doc = old, err, new(document)
	case err != nil:
		return nil, err
	}
	doc.Version, doc.Key = kind.Version, a.limit.Key
	if i := slices.IndexFunc(doc.Holders, func(h holder) bool { return h.ID == a.id }); i >= 0 {
		a.got = true // the attempt before was written and its answer lost; the others may have waited since then
		doc.Holders[i].Beat++
		return json.Marshal(doc)
	}
	doc.Holders = slices.DeleteFunc(doc.Holders, func(h holder) bool {
		return a.isSilent(fmt.Sprint(h.ID, " ", h.Beat), h.ttl())
	})
	if a.limit.Max > 0 && len(doc.Holders) >= a.limit.Max {
		return nil, nil
	}
	if a.limit.Rate.Count > 0 {
		free, corrected := a.start(doc)
		if !free && !corrected {
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

// isSilent reports whether a sign of life has been the last one for at least a TTL.
func (a *attempt) isSilent(sign string, ttl time.Duration) bool {
	first, known := a.seen[sign]
	if !known {
		first = a.now
	}
	a.next[sign] = first
	return a.now.Sub(first) >= ttl
}

// start adds a start to a document if the rate allows it. It also reports whether it
// corrected a time that was too far ahead.
func (a *attempt) start(doc *document) (free, corrected bool) {
	now, per := a.now.UnixMilli(), a.limit.Rate.Per.Milliseconds()
	var recent []int64
	for _, t := range doc.Starts {
		if t > now+maxSkew.Milliseconds() {
			t, corrected = now, true
		}
		if t > now-per {
			recent = append(recent, t)
		}
	}
	slices.Sort(recent)
	doc.Starts = recent
	if n := len(recent) - a.limit.Rate.Count; n >= 0 {
		a.wait = time.Duration(recent[n]+per-now) * time.Millisecond
		return false, corrected
	}
	if len(recent) > 0 {
		now = max(now, recent[len(recent)-1])
	}
	doc.Starts = append(doc.Starts, now)
	return true, corrected
}
