package promotions

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/saas/promotion"
)

// A person who closes a merge request rejects each commit of it at its target, and nothing else. The ledger has that;
// the forge is asked as well, since a loop may have ended before it noted anything.

// A rejection is an entry of a merge request that a person closed.
type rejection struct {
	entry
	number int
	who    string
	at     time.Time
}

// ended returns the merge requests of the branch, which are asked once.
func (k *keeper) ended(ctx context.Context) ([]services.MergeRequest, error) {
	if k.past != nil {
		return k.past, nil
	}
	past, err := k.forge.Past(ctx, k.branch)
	if err == nil {
		k.past = past
	}
	return past, err
}

// without returns entries without those that people rejected by closing a merge request of the branch. Whatever
// travelled with them may come again.
func (k *keeper) without(ctx context.Context, entries []entry) ([]entry, error) {
	if k.open != nil || len(entries) == 0 {
		return entries, nil
	}
	past, err := k.ended(ctx)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(entries)
	for _, p := range past {
		b, ok := readBlock(p.Description)
		if !ok || p.State != services.MergeClosed || p.ClosedByUs {
			continue
		}
		out = slices.DeleteFunc(out, func(e entry) bool {
			is, had := find(b.Entries, e)
			same := had && is.Ref == e.Ref && (e.was != e.Ref || slices.Equal(is.Notes, e.Notes))
			if !same || k.forbids != nil && !k.forbids(p.Number, e) {
				return false
			}
			k.reject(e, p)
			return true
		})
	}
	return out, nil
}

// reject notes that a person does not want an entry.
func (k *keeper) reject(e entry, p services.MergeRequest) {
	k.rejected = append(k.rejected,
		rejection{entry: e, number: p.Number, who: p.ClosedBy, at: latest(p.Closed, p.Opened)})
	k.code = promotion.Rejected
	k.hold = fmt.Sprintf("somebody closed the merge request !%d with this content; it is not opened again", p.Number)
}

// mayOpenAgain reports whether a person closed the last merge request of the branch, and that stands: with the branch
// gone nobody could open it again.
func (k *keeper) mayOpenAgain(ctx context.Context) (bool, error) {
	past, err := k.ended(ctx)
	if err != nil || len(past) == 0 {
		return false, err
	}
	p := past[0]
	b, ok := readBlock(p.Description)
	if !ok || p.State != services.MergeClosed || p.ClosedByUs {
		return false, nil
	}
	return slices.ContainsFunc(b.Entries, func(e entry) bool { return k.forbids == nil || k.forbids(p.Number, e) }), nil
}
