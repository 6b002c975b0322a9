package history

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state"
)

// The bounds of the effects that are remembered. A run with more effects is remembered
// without them, so it is not reused where somebody looks for effects.
const (
	maxEffects    = 32 << 10 // bytes of JSON of one run
	maxAllEffects = 4 << 20  // of all runs of an integration; the latest are kept
)

// announced are the effects of a run, with the digest of the rules by which they were found.
type announced struct {
	Rules   string        `json:"rules"`
	Effects *plan.Effects `json:"effects"`
	Size    int           `json:"-"` // bytes of JSON, 0 if unknown
}

// FoundBy returns a store that remembers effects of tasks. The function returns the digest
// of the rules by which they were found, "" if nobody looked for them.
func (s Store) FoundBy(rules func(plan.Task) string) Store {
	s.rules = rules
	return s
}

// announcedBy returns the effects of a result as they are remembered: complete and within
// bounds, or nil.
func (s Store) announcedBy(t plan.Task, r plan.Result) *announced {
	if s.rules == nil || !r.OK() || !r.Effects.IsWhole() {
		return nil
	}
	rules := s.rules(t)
	raw, err := json.Marshal(r.Effects)
	if rules == "" || err != nil || len(raw) > maxEffects {
		return nil
	}
	return &announced{Rules: rules, Effects: r.Effects, Size: len(raw)}
}

// isValid reports whether this package can have written the effects.
func (a *announced) isValid() bool {
	return a == nil || a.Rules != "" && a.Effects.IsWhole() && a.size() <= maxEffects
}

// size returns the bytes of the effects in JSON.
func (a *announced) size() int {
	if a != nil && a.Size == 0 {
		raw, _ := json.Marshal(a.Effects) // strings and numbers always encode
		a.Size = len(raw)
	}
	if a == nil {
		return 0
	}
	return a.Size
}

// trimEffects forgets the oldest effects, if there are too many.
func (d *document) trimEffects() {
	var runs []*run
	for _, t := range d.Tasks {
		for i := range t.Runs {
			if t.Runs[i].Announced != nil {
				runs = append(runs, &t.Runs[i])
			}
		}
	}
	slices.SortStableFunc(runs, func(a, b *run) int { return b.At.Compare(a.At) })
	sum := 0
	for _, r := range runs {
		if sum += r.Announced.size(); sum > maxAllEffects {
			r.Announced = nil
		}
	}
}

// LastEffects returns the effects of the last run that passed with a task's inputs and whose
// effects were found by rules with a digest, and when that run began. A run that began
// longer ago than within, or in the future, does not count.
func (s *Snapshot) LastEffects(ctx context.Context, t plan.Task, within time.Duration,
	rules string) (found *plan.Effects, began time.Time) {
	for _, r := range s.announcing(ctx, t, rules) {
		if age := s.now.Sub(r.Began); age >= 0 && age <= within && !r.Began.Before(began) {
			found, began = r.Announced.Effects, r.Began
		}
	}
	return found, began
}

// Effects returns the effects of such a run that began at a time. It returns false if they
// are not remembered.
func (s *Snapshot) Effects(ctx context.Context, t plan.Task, began time.Time,
	rules string) (found *plan.Effects, ok bool) {
	for _, r := range s.announcing(ctx, t, rules) {
		if r.Began.Equal(began) {
			found, ok = r.Announced.Effects, true
		}
	}
	return found, ok
}

// announcing returns the runs with a task's inputs whose effects were found by rules.
func (s *Snapshot) announcing(ctx context.Context, t plan.Task, rules string) []run {
	inputs := state.Name(t.Inputs)
	return slices.DeleteFunc(slices.Clone(s.task(ctx, t).Runs), func(r run) bool {
		return r.Announced == nil || r.Inputs != inputs || r.Announced.Rules != rules || rules == "" ||
			!s.isHere(t.Integration, r)
	})
}
