package lease

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/state"
)

// ErrLost says that a lease is not held any more: for half of its TTL it could
// not be renewed.
var ErrLost = errors.New("the lease is lost, since it could not be renewed in time")

// A Lease is one place, held until it is released or lost.
type Lease struct {
	limit   Limit
	store   state.Store
	id      string
	renewed time.Time // before the last sign of life was given
}

func newID() string { return strings.ToLower(rand.Text()) }

// Left returns how much longer the lease may be believed to be held.
func (l *Lease) Left() time.Duration { return l.limit.TTL/2 - time.Since(l.renewed) }

// Renew gives a sign of life, at best every sixth of the TTL. The error is
// [ErrLost] when others took the holder for dead.
func (l *Lease) Renew(ctx context.Context) error {
	if l.limit.Max == 0 {
		l.renewed = time.Now()
		return nil
	}
	var began time.Time // of the write that counted
	found, err := l.change(ctx, func(doc *document, i int) {
		began = time.Now()
		doc.Holders[i].Beat++
	})
	switch {
	case err != nil:
		return fmt.Errorf("renewing %q: %w", l.limit.Key, err)
	case !found:
		return fmt.Errorf("renewing %q: %w", l.limit.Key, ErrLost)
	}
	l.renewed = began
	return nil
}

// Release gives the place to others. One that was lost is no error.
func (l *Lease) Release(ctx context.Context) error {
	if l.limit.Max == 0 {
		return nil
	}
	_, err := l.change(ctx, func(doc *document, i int) { doc.Holders = slices.Delete(doc.Holders, i, i+1) })
	if err != nil {
		return fmt.Errorf("releasing %q: %w", l.limit.Key, err)
	}
	return nil
}

// releaseWait is how long a place is tried to be given back. Afterwards it is free
// when others took its holder for dead.
const releaseWait = 5 * time.Second

// free gives the place to others, also after ctx was canceled. When that fails,
// the place is free in a while all the same.
func (l *Lease) free(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWait)
	defer cancel()
	_ = l.Release(ctx)
}

// change changes the document if the holder is in it.
func (l *Lease) change(ctx context.Context, do func(doc *document, i int)) (found bool, err error) {
	err = l.store.Update(ctx, l.limit.document(), func(old []byte) ([]byte, error) {
		found = false
		if old == nil {
			return nil, nil
		}
		doc, err := kind.Decode(old)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(doc.Holders, func(h holder) bool { return h.ID == l.id })
		if i < 0 {
			return nil, nil
		}
		found = true
		do(doc, i)
		return json.Marshal(doc)
	})
	return found, err
}

// Hold waits for a place and a start of each limit, runs do, and releases all.
// When a lease is lost, the context of do ends with the cause [ErrLost]. The
// error is that of do; or of [Acquire], and then do did not run.
func Hold(ctx context.Context, s state.Store, limits []Limit, do func(context.Context) error) error {
	limits = slices.Clone(limits)
	slices.SortFunc(limits, func(a, b Limit) int { return strings.Compare(a.Key, b.Key) })
	for i, l := range limits {
		if i > 0 && l.Key == limits[i-1].Key {
			return fmt.Errorf("limit %q: it is named twice", l.Key)
		}
	}
	return hold(ctx, s, limits, do)
}

func hold(ctx context.Context, s state.Store, limits []Limit, do func(context.Context) error) error {
	if len(limits) == 0 {
		return do(ctx)
	}
	l, err := Acquire(ctx, s, limits[0])
	if err != nil {
		return err
	}
	ctx, lose := context.WithCancelCause(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() { l.keep(ctx, lose) })
	defer func() {
		lose(nil)
		renewing.Wait()
		l.free(ctx)
	}()
	return hold(ctx, s, limits[1:], do)
}

// keep renews the lease until ctx ends, or until it is lost.
func (l *Lease) keep(ctx context.Context, lose context.CancelCauseFunc) {
	if l.limit.Max == 0 {
		return
	}
	late := time.AfterFunc(l.Left(), func() { lose(fmt.Errorf("%q: %w", l.limit.Key, ErrLost)) })
	defer late.Stop()
	pause := time.NewTicker(max(l.limit.TTL/6, time.Millisecond))
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
		err := l.Renew(ctx)
		switch {
		case errors.Is(err, ErrLost):
			lose(err)
		case err == nil && ctx.Err() == nil:
			late.Reset(l.Left())
		}
	}
}
