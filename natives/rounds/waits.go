package rounds

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/app-sre/prcheck/state"
)

// A waits is the document that remembers since when units of work wait, so that a restart does not
// forget it. It is written only if a wait begins or ends.
type waits struct {
	Version string               `json:"version"`
	Since   map[string]time.Time `json:"since"` // by key of the unit
}

var waitsKind = state.Kind[waits]{Version: "1", Limit: 4 << 20}

// waitsKey returns the key of the document of the shards of a process.
func (w *round) waitsKey() string { return "waits/" + state.Name(w.opts.Shard, w.opts.Static.String()) }

// noteWaits fills in since when units wait whose integration does not know it. The store is that of
// the integration, nil if nothing is remembered. What it cannot read or write only costs that.
func (w *round) noteWaits(ctx context.Context, own state.Store) {
	if own == nil {
		return
	}
	doc, err := waitsKind.Read(ctx, own, w.waitsKey())
	if err != nil {
		doc = &waits{}
	}
	now := time.Now().UTC().Truncate(time.Second)
	is := w.waitSince(doc.Since, now)
	isSame := slices.Equal(slices.Sorted(maps.Keys(is)), slices.Sorted(maps.Keys(doc.Since)))
	isNew := errors.Is(err, state.ErrNotFound) && len(is) == 0
	if !w.opts.Writes || isSame && err == nil || isNew {
		return
	}
	warning, err := waitsKind.Update(ctx, own, w.waitsKey(), func(d *waits) { d.Version, d.Since = waitsKind.Version, is })
	if err = errors.Join(warning, err); err != nil {
		w.tell(fmt.Sprintf("since when units wait is not remembered: %v", err))
	}
}

// waitSince returns since when units wait, and fills it in. A time that is not over is none.
func (c *collector) waitSince(known map[string]time.Time, now time.Time) map[string]time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	is := map[string]time.Time{}
	for i := range c.standings {
		u := &c.standings[i]
		if !u.Waits {
			continue
		}
		since, ok := known[u.Key]
		if !ok || since.After(now) {
			since = now
		}
		is[u.Key] = since
		if u.Since.IsZero() {
			u.Since = since
		}
	}
	return is
}
