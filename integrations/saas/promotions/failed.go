package promotions

import "time"

// fail notes that the checks of what is shown failed. Checks may fail by accident, so that after
// some time the same content is tried once more.
func (k *keeper) fail() {
	m := &k.memory
	if at, known := m.failedAt(m.Content); known && k.isOver(at) {
		m.forgive(m.Content)
		k.again = true
		return
	}
	m.fail(m.Content, k.now)
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
