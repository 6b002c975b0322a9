package runner

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/runner/recording"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/audits"
)

// AuditOptions say what an audit runs.
type AuditOptions struct {
	Skipped []plan.Skipped // all units that the plan leaves out
	Rate    float64        // how probable it is for a unit to be in the sample
	Seed    string         // another seed draws another sample
	Budget  time.Duration  // for all runs together
	// Remedy returns the smallest change of a setting or definition with which the plan would
	// run a unit, "" if none is known. Observed tells what the unit read on head. Nil knows none.
	Remedy func(ctx context.Context, unit plan.Skipped, observed plan.Observed) string
}

// A year is for how long audits are counted.
const year = 365 * 24 * time.Hour

// Audit runs a sample of the units that a plan leaves out, on head and on base, and compares
// what both say. The sample depends on the plan and the seed alone; of a plan that runs in
// parts, each part audits its share. A difference counts after a second pair of runs has
// confirmed it. What has not run when the budget is used up is left.
//
// An audit changes no verdict. Its outcome is added to the state, if there is one. An error
// means that nothing was audited; the audit is nil then, unless it only could not be remembered.
func Audit(ctx context.Context, in Input, opts Options, a AuditOptions) (*plan.Audit, error) {
	share := partOf(a.Skipped, opts.Part)
	out := &plan.Audit{Rate: a.Rate, Seed: a.Seed, Skipped: len(share), Units: []plan.Audited{}}
	sample := Sample(share, in.Plan.Digest, a.Seed, a.Rate)
	if len(sample) > 0 {
		r, err := newAudit(in, opts, sample)
		if err != nil {
			return nil, err
		}
		limited, cancel := context.WithTimeout(ctx, a.Budget)
		defer cancel()
		out.Units = r.auditAll(limited, sample)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r.addRemedies(ctx, a, sample, out.Units)
	}
	if in.State == nil {
		return out, nil
	}
	ctx, cancel := state.WithGrace(ctx)
	defer cancel()
	now, store := time.Now(), audits.NewStore(in.State)
	remember := func() (audits.Snapshot, error) { return store.Add(ctx, out, now) }
	if len(out.Units) == 0 {
		remember = func() (audits.Snapshot, error) { return store.Snapshot(ctx) }
	}
	known, err := remember()
	if errors.Is(err, state.ErrReadOnly) { // that was reported when the state was opened
		return out, nil
	}
	out.Total = known.Total(now.Add(-year))
	return out, err
}

// partOf returns the units that belong to a part of the plan.
func partOf(all []plan.Skipped, part plan.Fraction) []plan.Skipped {
	var tasks []plan.Task
	for _, s := range all {
		tasks = append(tasks, s.Task)
	}
	mine := map[string]bool{}
	for _, t := range part.Tasks(tasks) {
		mine[t.ID] = true
	}
	return slices.DeleteFunc(slices.Clone(all), func(s plan.Skipped) bool { return !mine[s.Task.ID] })
}

// Sample draws units, each with the same probability and independent of the others. The same
// plan and seed draw the same units, in the same random order.
func Sample(all []plan.Skipped, digest, seed string, rate float64) []plan.Skipped {
	drawn := func(s plan.Skipped) [sha256.Size]byte {
		return sha256.Sum256(fmt.Appendf(nil, "%q %q %q", seed, digest, s.Task.ID))
	}
	out := slices.DeleteFunc(slices.Clone(all), func(s plan.Skipped) bool {
		sum := drawn(s)
		return float64(binary.BigEndian.Uint64(sum[:8]))/math.MaxUint64 >= rate && rate < 1
	})
	slices.SortStableFunc(out, func(a, b plan.Skipped) int {
		x, y := drawn(a), drawn(b)
		return bytes.Compare(x[:], y[:])
	})
	return out
}

// newAudit prepares a run of the units of a sample, with a recording of its own.
func newAudit(in Input, opts Options, sample []plan.Skipped) (*audit, error) {
	only := *in.Plan
	only.Tasks = nil
	for _, s := range sample {
		only.Tasks = append(only.Tasks, withoutOmissions(s.Task))
	}
	in.Plan = &only
	if err := checkLogNames(in.Plan); err != nil {
		return nil, cli.Invalid(err)
	}
	opts = opts.withDefaults()
	opts.Part, opts.Journal, opts.Resume, opts.FailFast = plan.Fraction{}, nil, false, false
	r, err := newRun(in.withDefaults(), opts)
	if err != nil {
		return nil, err
	}
	r.began = time.Now()
	a := &audit{run: r}
	read := recording.New(bundle.Apart(in.Base, in.Head).SHA256(), in.Head.SHA256())
	read.Mask = r.masker.Text
	r.recording = read
	if a.onHead, err = a.newSide(r.Head, "audit-head", read); err == nil {
		a.onBase, err = a.newSide(r.Base, "audit-base", nil)
	}
	return a, err
}

// addRemedies names for each wrong skip how it would have been avoided.
func (a *audit) addRemedies(ctx context.Context, opts AuditOptions, sample []plan.Skipped, units []plan.Audited) {
	definitions, err := integration.List(a.Base, a.Settings)
	if opts.Remedy == nil || err != nil {
		return
	}
	observed := a.recording.Observed(a.Plan.Tasks, definitions)
	for i := range units {
		if u := &units[i]; u.Outcome == plan.AuditWrong {
			j := slices.IndexFunc(observed, func(o plan.Observed) bool { return o.Integration == u.Integration })
			read := plan.Observed{Integration: u.Integration}
			if j >= 0 {
				read = observed[j]
			}
			u.Remedy = a.masker.Text(opts.Remedy(ctx, sample[i], read))
		}
	}
}
