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

// ErrLost says that a lease is not held any longer: it could not be renewed for half of
// its TTL, or others took its holder for dead.
var ErrLost = errors.New("the lease is lost, since it could not be renewed in time")

// A Lease is a place of a limit, held until it is released or lost.
type Lease struct {
	limit   Limit
	store   state.Store
	id      string
	renewed time.Time // just before the last sign of life
}

func newID() string { return strings.ToLower(rand.Text()) }

// Left returns how much longer the holder may rely on the lease.
func (l *Lease) Left() time.Duration { return l.limit.TTL/2 - time.Since(l.renewed) }

// Renew gives a sign of life. A holder should do so every sixth of the TTL. The error is
// [ErrLost] if others took the holder for dead.
func (l *Lease) Renew(ctx context.Context) error {
	if l.limit.Max == 0 {
		l.renewed = time.Now()
		return nil
	}
	var began time.Time // of the last try, which is the one that was written
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

// Release gives the place back. It is no error if the lease was lost.
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

// releaseWait is how long a holder that ends tries to give its place back. After that the
// others take it for dead.
const releaseWait = 5 * time.Second

// giveBack releases the lease, also after ctx was canceled. If that fails, the place
// becomes free after one TTL.
func (l *Lease) giveBack(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWait)
	defer cancel()
	_ = l.Release(ctx)
}

// change changes the document. It returns false, and changes nothing, if the document
// does not list the holder.
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

// Hold waits for a place and a start of each limit, calls do, and releases the leases. If
// a lease is lost, the context of do ends with the cause [ErrLost]. The error is that of
// do, or that of [Acquire]; in the second case do was not called.
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

// hold is Hold for limits in the order of their keys.
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
	renewing.Go(func() { l.keepRenewing(ctx, lose) })
	defer func() {
		lose(nil)
		renewing.Wait()
		l.giveBack(ctx)
	}()
	return hold(ctx, s, limits[1:], do)
}

// keepRenewing renews the lease until ctx ends or the lease is lost.
func (l *Lease) keepRenewing(ctx context.Context, lose context.CancelCauseFunc) {
	if l.limit.Max == 0 {
		return
	}
	expiry := time.AfterFunc(l.Left(), func() { lose(fmt.Errorf("%q: %w", l.limit.Key, ErrLost)) })
	defer expiry.Stop()
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
			expiry.Reset(l.Left())
		}
	}
}
