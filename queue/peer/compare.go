package peer

import (
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/queue"
)

// Compare says of each merge request what the peer does about it in its next loop, and where that differs from what a
// walk of the queue decided. Nothing is told of those about which both do nothing.
func Compare(s Snapshot, o queue.Outcome) map[int]queue.Beside {
	line, merging := Queue(s), MergeAll(s)
	s.IsCareful = true
	held := MergeAll(s).Held
	out := map[int]queue.Beside{}
	for _, standing := range o.Standings {
		number := standing.Place.Number
		b := queue.Beside{Position: slices.Index(line.Queue, number) + 1}
		for _, a := range slices.Concat(merging.Actions, rebases(s)) {
			if a.Of == number && a.Do != Cancel {
				b.Does = append(b.Does, a.Do)
			}
		}
		isMerged := slices.Contains(b.Does, Merge)
		switch {
		case isMerged && !standing.State.MayMerge():
			b.Differs = "it would merge it; here: " + standing.Reason.String()
			if i := slices.IndexFunc(held, func(h Held) bool { return h.Number == number }); i >= 0 {
				b.Differs += fmt.Sprintf("; its evidence is not of this head (%s)", held[i].Why)
			}
		case standing.State.MayMerge() && !isMerged:
			b.Differs = "it would not merge it in this loop; here: " + standing.Reason.String()
		case slices.Contains(line.Errors, number) && standing.Place.IsReady():
			b.Differs = "it passes it over, since it has a label of an error"
		case b.Position == 0 && standing.Place.IsReady():
			b.Differs = "it does not stand in its queue"
		case b.Position > 0 && !standing.Place.IsReady():
			b.Differs = "it stands in its queue; here: " + standing.Place.Waits.String()
		}
		if b.Position > 0 || len(b.Does) > 0 || b.Differs != "" {
			out[number] = b
		}
	}
	return out
}

// rebases returns what the peer rebases, if the project rebases.
func rebases(s Snapshot) []Action {
	if !s.Rebase {
		return nil
	}
	return RebaseAll(s).Actions
}
