package promotions

import (
	"context"
	"slices"
	"time"
)

// fail notes that the checks of what is shown failed. Checks may fail by accident, so that after
// some time the same content is tried once more, and at once if the settings name it.
func (k *keeper) fail() {
	m := &k.memory
	at, known := m.failedAt(m.Content)
	isNamed := slices.Contains(k.settings.Retry, m.Content)
	switch {
	case isNamed && m.Retried != m.Content:
		m.Retried = m.Content
	case !known || !k.isOver(at):
		m.fail(m.Content, k.now)
		return
	}
	m.forgive(m.Content)
	k.again = true
}

// tellFailure says once, in the merge request of a single target whose checks failed, what it waits for.
func (k *keeper) tellFailure(ctx context.Context, entries []entry) error {
	m := &k.memory
	isShown := len(entries) == 1 && k.open != nil && k.head == m.Pushed && contentDigest(entries) == m.Content
	if _, failed := m.failedAt(m.Content); !isShown || !failed || k.hold == "" || m.Noted == k.head {
		return nil
	}
	if err := k.forge.Note(ctx, k.open.Number, k.hold); err != nil {
		return err
	}
	k.did = append(k.did, "note")
	m.Noted = k.head
	return nil
}

// isOver reports whether what failed may be tried once more.
func (k *keeper) isOver(failed time.Time) bool {
	return k.settings.RetryAfter > 0 && !k.now.Before(failed.Add(k.settings.RetryAfter))
}

// until says when an entry whose checks failed is tried once more.
func (k *keeper) until(e entry) string {
	at, _ := k.memory.failedAt(contentDigest([]entry{e}))
	if k.settings.RetryAfter == 0 {
		return ""
	}
	return ", until " + at.Add(k.settings.RetryAfter).UTC().Format("2006-01-02 15:04 UTC")
}
