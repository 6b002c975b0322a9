package loops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/state"
)

// Version is the version of the documents.
const Version = "1"

// Folder is the folder of the state for loops.
const Folder = "loops"

// The bounds of a document.
const (
	maxDocument = 4 << 20
	maxUnits    = 2000
	maxFlows    = 100
	maxStages   = 50
	maxCommits  = 50
)

// A Loop is how the work of one loop stands since its last round.
type Loop struct {
	Version     string    `json:"version"`
	Integration string    `json:"integration"`
	Shard       string    `json:"shard,omitempty"`
	Static      string    `json:"static,omitempty"` // the static shard, such as 1/3
	Outcome     string    `json:"outcome"`          // of the last round: done, failed, nothing_done
	Ended       time.Time `json:"ended"`            // the last round
	Good        time.Time `json:"good,omitzero"`    // the last round that was done; zero if none was
	Every       int64     `json:"every_seconds,omitempty"`
	Commit      string    `json:"commit,omitempty"` // of the data
	Errors      []string  `json:"errors,omitempty"` // the first ones of the last round
	// Units are the units of work: those that wait first, then by key.
	Units     []integration.Standing `json:"units,omitempty"`
	MoreUnits int                    `json:"more_units,omitempty"`
	Flows     []integration.Flow     `json:"flows,omitempty"` // by source
}

// done is the outcome of a round in which all was done.
const done = "done"

// maxErrors is how many errors a document keeps.
const maxErrors = 3

var kind = state.Kind[Loop]{Version: Version, Limit: maxDocument, Valid: func(l *Loop) error {
	isWide := func(f integration.Flow) bool {
		return len(f.Stages) > maxStages || len(f.Commits) > maxCommits ||
			slices.ContainsFunc(f.Commits, func(c integration.Commit) bool { return len(c.Passes) != len(f.Stages) })
	}
	if l.Integration == "" || l.Ended.IsZero() || len(l.Units) > maxUnits || len(l.Flows) > maxFlows ||
		slices.ContainsFunc(l.Flows, isWide) {
		return errors.New("it is not valid")
	}
	return nil
}}

// A Store keeps loops in a state.
type Store struct{ in state.Store }

// NewStore returns a store that keeps its documents in a state.
func NewStore(in state.Store) Store { return Store{in} }

func (l Loop) key() string {
	return Folder + "/" + state.Name(l.Integration, l.Shard, l.Static) + ".json"
}

// Write keeps how a loop stands. The time of its last good round comes from the document of before.
func (s Store) Write(ctx context.Context, l Loop) error {
	l = l.bounded()
	warning, err := kind.Update(ctx, s.in, l.key(), func(d *Loop) {
		good := d.Good
		*d = l
		d.Version, d.Good = Version, good
		if l.Outcome == done {
			d.Good = l.Ended
		}
	})
	if err = errors.Join(warning, err); err != nil {
		return fmt.Errorf("noting how the loop stands: %w", err)
	}
	return nil
}

// bounded returns a loop that its document can hold.
func (l Loop) bounded() Loop {
	l.Ended = l.Ended.UTC().Truncate(time.Second)
	l.Errors = l.Errors[:min(len(l.Errors), maxErrors)]
	l.Units = slices.SortedStableFunc(slices.Values(l.Units), func(a, b integration.Standing) int {
		return cmp.Or(last(a.Waits)-last(b.Waits), strings.Compare(a.Key, b.Key))
	})
	if n := len(l.Units) - maxUnits; n > 0 {
		l.Units, l.MoreUnits = l.Units[:maxUnits], l.MoreUnits+n
	}
	l.Flows = slices.SortedStableFunc(slices.Values(l.Flows), func(a, b integration.Flow) int {
		return strings.Compare(a.Source, b.Source)
	})
	l.Flows = l.Flows[:min(len(l.Flows), maxFlows)]
	return l
}

// last returns 0 for what comes first, and 1 for the rest.
func last(isFirst bool) int {
	if isFirst {
		return 0
	}
	return 1
}

// All returns all loops, by integration, shard and static shard, and a line for each document that cannot be read.
func (s Store) All(ctx context.Context) (all []Loop, damaged []string, err error) {
	list, err := s.in.List(ctx, Folder)
	if err != nil {
		return nil, nil, fmt.Errorf("listing the loops of the state: %w", err)
	}
	for _, e := range list {
		l, err := kind.Read(ctx, s.in, e.Key)
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case errors.Is(err, state.ErrNotFound): // it was removed in the meantime
		case err == nil && l.key() != e.Key:
			damaged = append(damaged, fmt.Sprintf("%q of the state is that of another loop", e.Key))
		case err != nil:
			damaged = append(damaged, fmt.Sprintf("%q of the state is not shown: %v", e.Key, err))
		default:
			all = append(all, *l)
		}
	}
	slices.SortFunc(all, func(a, b Loop) int {
		return cmp.Or(strings.Compare(a.Integration, b.Integration), strings.Compare(a.Shard, b.Shard),
			strings.Compare(a.Static, b.Static))
	})
	slices.Sort(damaged)
	return all, damaged, nil
}
