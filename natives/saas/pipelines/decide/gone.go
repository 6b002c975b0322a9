package decide

import (
	"maps"
	"time"
)

// KeepGone is how long targets are remembered that are no longer in the data. A file that is
// renamed by mistake and back again starts nothing.
const KeepGone = 7 * 24 * time.Hour

// Forget decides about targets that the data no longer have. It takes the targets that are
// remembered, those that the data have, and since when others are gone; it returns which are to
// be forgotten, and since when the others are gone.
func Forget(known, named map[string]bool, gone map[string]time.Time,
	now time.Time) (forget map[string]bool, still map[string]time.Time) {
	forget, still = map[string]bool{}, maps.Clone(gone)
	if still == nil {
		still = map[string]time.Time{}
	}
	for uid := range known {
		since, wasGone := gone[uid]
		switch {
		case named[uid]:
			delete(still, uid)
		case !wasGone:
			still[uid] = now
		case now.Sub(since) >= KeepGone:
			forget[uid] = true
			delete(still, uid)
		}
	}
	for uid := range gone {
		if !known[uid] {
			delete(still, uid)
		}
	}
	return forget, still
}
