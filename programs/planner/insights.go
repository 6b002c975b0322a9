package planner

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/report/insights"
	"github.com/app-sre/prcheck/state/audits"
	"github.com/app-sre/prcheck/state/durations"
	"github.com/app-sre/prcheck/state/tally"
)

// maxDays is for how many days tallies are kept at most.
const maxDays = 90

func insightsCommand(env cli.Env) *cobra.Command {
	var folder, page string
	var days int
	form := cli.OneOf("text", "json")
	cmd := &cobra.Command{
		Use:   "insights --state REF",
		Short: "Tell what the integrations cost, and what would save most",
		Long: `insights reads what runner counted in the state: for each integration how often it
ran and was skipped, and at which rung, how long it took, how often it failed, flaked
or was broken on base, how much time went to tasks that read nothing that had changed,
and how many skips audits found to be wrong. It ends with what would save most. It
changes nothing.`,
		Example: `  planner insights --state .prcheck
  planner insights --state s3://bucket/prcheck --days 7 --html insights.html
  planner insights --state .prcheck --format json | jq '.savings[0]'`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if days < 1 || days > maxDays {
				return cli.Usage(fmt.Errorf("--days is %d; it must be from 1 to %d, for older days are forgotten", days, maxDays))
			}
			in, err := readInsights(cmd.Context(), folder, days, time.Now())
			if err != nil {
				return err
			}
			if page != "" {
				if err := cli.WriteFile(page, func(w io.Writer) error { return insights.HTML(w, in) }); err != nil {
					return err
				}
			}
			if form.String() == "json" {
				return insights.JSON(env.Stdout, in)
			}
			return insights.Text(env.Stdout, in)
		},
	}
	cmd.Flags().StringVar(&folder, "state", "", "folder, or s3://BUCKET/PREFIX, that runner was given to remember in "+
		"(required)")
	cmd.Flags().IntVar(&days, "days", 30, "how many days are counted, up to today")
	cmd.Flags().StringVar(&page, "html", "", "file that gets a page with all integrations")
	cmd.Flags().Var(&form, "format", "how to write it to stdout: text or json")
	return cmd
}

// readInsights reads the tallies of the last days from a state.
func readInsights(ctx context.Context, place string, days int, now time.Time) (*insights.Insights, error) {
	remembered, err := change.ReadState(ctx, place)
	if remembered == nil && err == nil {
		err = errNoState
	}
	if err != nil {
		return nil, err
	}
	list, ignored, err := tally.NewStore(remembered).Days(ctx, now.AddDate(0, 0, 1-days), now)
	if err != nil {
		return nil, err
	}
	times := durations.NewStore(remembered)
	percentiles := func(name string) (p50, p90 float64) {
		e := times.Overall(ctx, name)
		return e.P50, e.P90
	}
	out := insights.New(list, percentiles, ignored)
	audited, err := audits.NewStore(remembered).Snapshot(ctx)
	if err != nil {
		out.Warnings = append(out.Warnings, err.Error())
	}
	out.Audits, out.Misses = audited.Total(now.AddDate(0, 0, 1-days)), audited.Misses()
	return out, ctx.Err()
}
