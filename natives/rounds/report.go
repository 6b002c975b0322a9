package rounds

import (
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
)

// A Report is what one round did or would do. It is a contract with programs: fields are only
// added. It has no times and durations but those of units, so that reports can be compared.
type Report struct {
	Version      string      `json:"version"`
	Integration  string      `json:"integration"`
	DryRun       bool        `json:"dry_run"`
	Adopt        bool        `json:"adopt,omitempty"`     // it only put marks on what exists
	TakeOver     bool        `json:"take_over,omitempty"` // it only took what another version made
	Shard        string      `json:"shard,omitempty"`
	Static       string      `json:"static,omitempty"` // the static shard, such as 1/3
	Bundle       *BundleName `json:"bundle,omitempty"` // nil if it could not be opened
	Outcome      Outcome     `json:"outcome"`
	Steps        []Step      `json:"steps"`                   // by shard, key and action
	MoreSteps    int         `json:"more_steps,omitempty"`    // that are not among the steps, since there are too many
	Findings     []Located   `json:"findings"`                // the worst first
	MoreFindings int         `json:"more_findings,omitempty"` // as for steps
	Errors       []string    `json:"errors"`
	// Units are how the units of work stand, by key, of integrations that tell it.
	Units     []integration.Standing `json:"units,omitempty"`
	MoreUnits int                    `json:"more_units,omitempty"` // as for steps
	// Things are how things stand, by shard and key, of a round that only asks for that.
	Things  []integration.Status `json:"things,omitempty"`
	Misused bool                 `json:"-"` // the settings are wrong, or nobody knows an integration of this name

	took        time.Duration
	stepCounts  map[stepKind]int // of all steps
	findCounts  map[plan.Severity]int
	wasSignaled bool // the context of all rounds ended
}

// An Outcome is how a round ended.
type Outcome string

// The outcomes.
const (
	Done        Outcome = "done"
	Failed      Outcome = "failed"       // something failed or was refused, and the rest was done
	NothingDone Outcome = "nothing_done" // nothing could be done
	Skipped     Outcome = "skipped"      // another run holds the lease
	Interrupted Outcome = "interrupted"  // it was told to end
)

// The status of a step of a dry run. Other steps have those of [reconcile.Status].
const planned = "planned"

// A Step is what a round did or would do to one thing.
type Step struct {
	integration.Deed
	Reason string `json:"reason,omitempty"`
	Where  string `json:"where,omitempty"` // file and line of the entry, for people
}

// A Located finding says where it stands.
type Located struct {
	plan.Finding
	Where string `json:"where,omitempty"` // file and line, for people
}

// codeFinished is the code of the finding that an entry can be removed.
const codeFinished = "FINISHED"

// Finished returns the findings about entries that can be removed.
func (r *Report) Finished() []Located {
	out := []Located{}
	for _, f := range r.Findings {
		if f.Code == codeFinished {
			out = append(out, f)
		}
	}
	return out
}

// A stepKind is what the metrics count steps by.
type stepKind struct{ action, status string }
