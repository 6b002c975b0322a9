package rounds

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/internal/retry"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
)

// An Input is what rounds work with.
type Input struct {
	Integration string // name of its definition
	Natives     []integration.Native
	// Settings returns the settings as they are now. If they did not change, it may return the
	// same ones again.
	Settings func(ctx context.Context) (*settings.Settings, error)
	Data     Source
	State    state.Store // nil if nothing is remembered
	// Connect returns what reaches live systems. Each secret that is read is learned before
	// anybody gets it.
	Connect func(rules *settings.Settings, learn func(secret string)) Systems
	Masker  *mask.Masker // hides secrets in everything that is written
	Log     io.Writer    // takes the log of the integration, and lines about rounds
	Journal *Journal     // takes each step as it ends; nil for none
	Monitor *Monitor     // counts rounds; nil for none
}

// Orders say what rounds do. The zero value is one dry run over all shards.
type Orders struct {
	Writes     bool // it is no dry run
	Status     bool // it only asks how things stand
	Shard      string
	Static     plan.Fraction
	Approve    integration.Approvals
	AllowOlder bool          // an older bundle than that of the last run is allowed
	Workers    int           // how many things are read or written at once
	Timeout    time.Duration // of one round; 0 is none
	Wait       time.Duration // how long a round waits for the lease that another run holds
	Every      time.Duration // pause between two rounds; 0 is one round
}

// A Runner makes rounds, one after the other.
type Runner struct {
	in       Input
	opts     Orders
	calendar calendar
	systems  Systems
	settings *settings.Settings // those that systems was made with
	told     map[string]bool    // notes that were written
}

// New returns a runner.
func New(in Input, opts Orders) *Runner {
	if in.Masker == nil {
		in.Masker = mask.New(nil)
	}
	in.Log = &lockedWriter{out: in.Log}
	return &Runner{in: in, opts: opts, calendar: calendar{isOlder: opts.AllowOlder}, told: map[string]bool{}}
}

// Run makes one round, or rounds until the context ends, and gives each report to emit. An
// error of emit ends it. It returns the report of the last round, nil if the context ended
// between two rounds.
func (r *Runner) Run(ctx context.Context, emit func(*Report) error) (*Report, error) {
	for {
		report := r.Round(ctx)
		if err := emit(report); err != nil {
			return report, err
		}
		if r.opts.Every == 0 || report.wasSignaled {
			return report, nil
		}
		if retry.Sleep(ctx, r.opts.Every+rand.N(r.opts.Every/10+1)) != nil {
			return nil, nil // to be told to end between two rounds is no failure
		}
	}
}

// say writes a line for people into the log.
func (r *Runner) say(line string) {
	_, _ = fmt.Fprintf(r.in.Log, "reconciler: %s\n", line) // only a note
}

// tell writes a note once.
func (r *Runner) tell(line string) {
	if !r.told[line] {
		r.told[line] = true
		r.say("note: " + line)
	}
}

// A timeoutError is the cause of a round that took too long.
type timeoutError struct{ after time.Duration }

func (e timeoutError) Error() string { return fmt.Sprintf("the round took longer than %v", e.after) }

// errBusy says that another run holds the lease.
var errBusy = errors.New("another run of this integration and shard is at work")
