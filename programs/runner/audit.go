package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/runner"
)

// auditFlags say whether and how a sample of what a plan leaves out is audited.
type auditFlags struct {
	rate   percentage
	seed   string
	budget time.Duration
}

// register adds the flags to a command.
func (f *auditFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Var(&f.rate, "audit", `also run this share of what the plan leaves out, such as 2%, on head and on base after
all tasks, and compare what both say; it changes no verdict (default: nothing)`)
	flags.StringVar(&f.seed, "audit-seed", "", "another seed draws another sample (default: it depends on the plan alone)")
	flags.DurationVar(&f.budget, "audit-budget", 5*time.Minute, "how long the audit may take")
}

// check returns an error if the flags make no sense together.
func (f *auditFlags) check() error {
	if f.budget <= 0 {
		return errors.New("--audit-budget must be more than nothing")
	}
	return nil
}

// add audits a sample of what a plan leaves out, and adds the outcome to the results. Whatever
// goes wrong is a warning in the results.
func (f *auditFlags) add(ctx context.Context, notes io.Writer, in runner.Input, opts runner.Options,
	results *plan.Results, input func() (planner.Input, error)) {
	if f.rate == 0 || ctx.Err() != nil {
		return
	}
	audit, err := f.audit(ctx, notes, in, opts, input)
	if err != nil {
		results.Warnings = append(results.Warnings, fmt.Sprintf("audit of what the plan leaves out: %v", err))
	}
	results.Audit = audit
}

func (f *auditFlags) audit(ctx context.Context, notes io.Writer, in runner.Input, opts runner.Options,
	input func() (planner.Input, error)) (*plan.Audit, error) {
	of, err := input()
	if err != nil {
		return nil, err
	}
	skipped, err := planner.Skipped(ctx, of, in.Plan)
	if err != nil {
		return nil, err
	}
	// only a message
	_, _ = fmt.Fprintf(notes, "runner: auditing %s of %d units that the plan leaves out, for at most %s\n",
		f.rate.String(), len(skipped), f.budget)
	return runner.Audit(ctx, in, opts, runner.AuditOptions{
		Skipped: skipped, Rate: float64(f.rate), Seed: f.seed, Budget: f.budget,
		Remedy: func(ctx context.Context, unit plan.Skipped, observed plan.Observed) string {
			return planner.Remedy(ctx, of, in.Plan, unit, observed)
		},
	})
}

// A percentage is a share that a flag gives in percent: "2%" is 0.02.
type percentage float64

// Set implements pflag.Value.
func (p *percentage) Set(text string) error {
	number, isPercent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if !isPercent || err != nil || math.IsNaN(v) || v < 0 || v > 100 {
		return fmt.Errorf("%q is no share from 0%% to 100%%, such as 2%%", text)
	}
	*p = percentage(v / 100)
	return nil
}

// String implements pflag.Value.
func (p *percentage) String() string {
	if *p == 0 {
		return ""
	}
	return strconv.FormatFloat(math.Round(float64(*p)*1e8)/1e6, 'f', -1, 64) + "%"
}

// Type implements pflag.Value.
func (*percentage) Type() string { return "share" }
