package insights

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state/audits"
	"github.com/app-sre/prcheck/state/tally"
)

// Version is the version of the JSON form. Fields may be added, never renamed.
const Version = "prcheck-insights/v1"

// Insights say what integrations cost over some days.
type Insights struct {
	Version string `json:"version"`
	From    string `json:"from"` // the first and the last day that is counted, as 2006-01-02 (UTC)
	To      string `json:"to"`
	Days    int    `json:"days"` // days with runs
	Runs    int    `json:"runs"` // of plans, or of parts of plans
	Total   Row    `json:"total"`
	// Integrations are sorted by the time that their tasks took, the longest first.
	Integrations []Row    `json:"integrations"`
	Savings      []Saving `json:"savings"` // the largest first
	// Beliefs are the integrations with skips that are only believed, the most first.
	Beliefs []Belief `json:"beliefs,omitempty"`
	// Forecasts say how good forecasts of whole runs were; nil if there were none.
	Forecasts *Forecasts `json:"forecasts,omitempty"`
	// Audits count the skips that were audited, by the rung that decided; empty if none were.
	Audits map[plan.Rung]plan.AuditCount `json:"audits,omitempty"`
	// Misses are the wrong skips that audits found, the latest first.
	Misses   []audits.Miss `json:"misses,omitempty"`
	Warnings []string      `json:"warnings,omitempty"` // days that could not be read
}

// Forecasts say how long the last runs took, of which a forecast was known, beside their
// forecasts. Of good forecasts half of the runs are within P50 and nine tenths within P90.
type Forecasts struct {
	Runs      int     `json:"runs"` // at most 100
	WithinP50 int     `json:"within_p50"`
	WithinP90 int     `json:"within_p90"`
	Ratio     float64 `json:"median_ratio"` // of the time that a run took to the median of its forecast
}

// A Row says what one integration cost, or all of them together.
type Row struct {
	Name     string            `json:"name,omitempty"` // "" for all together
	Plans    int               `json:"plans"`          // that decided about it
	Run      int               `json:"run"`            // plans by which it ran in full
	Shards   int               `json:"shards"`         // plans by which it ran on some shards
	Skipped  int               `json:"skipped"`
	SkipsAt  map[plan.Rung]int `json:"skips_at,omitempty"` // by the rung that decided
	Believed int               `json:"believed,omitempty"` // skips that rest on the definition's word alone
	Tasks    int               `json:"tasks"`              // that ran
	Passed   int               `json:"passed"`
	Failed   int               `json:"failed"`
	OnBase   int               `json:"broken_on_base"`
	Flaked   int               `json:"flaked"` // passed after an attempt that failed
	Reused   int               `json:"reused"` // not run, since they passed before with the same inputs
	Seconds  float64           `json:"seconds"`
	P50      float64           `json:"p50_seconds,omitempty"` // of the newest runs; 0 if nothing is known
	P90      float64           `json:"p90_seconds,omitempty"`
	// Quiet is the time of passed tasks that announced no effect of the change, where
	// effects are known.
	Quiet float64 `json:"quiet_seconds,omitempty"`
	// Nothing is the time of passed tasks that read nothing that had changed, as far as is
	// known.
	Nothing float64 `json:"needless_seconds,omitempty"`
}

// A Saving is a way to spend less time on one integration.
type Saving struct {
	Integration string      `json:"integration"`
	Cause       tally.Cause `json:"cause"`
	Seconds     float64     `json:"seconds"` // at most
	Remedy      string      `json:"remedy"`
}

// A Belief tells how many skips of one integration nothing proves, and what would prove them.
type Belief struct {
	Integration string `json:"integration"`
	Believed    int    `json:"believed"`
	Skipped     int    `json:"skipped"` // all its skips
	Remedy      string `json:"remedy"`
}

// beliefRemedy is what turns a believed skip into a proven one, and what runs the task until then.
const beliefRemedy = "let a run that passes be remembered in this state, so that what it asked and read is known; " +
	"schemas: strict and reads: strict run it until then"

// Percentiles returns half and nine tenths of the durations of an integration, in seconds.
type Percentiles func(integration string) (p50, p90 float64)

// minSaving is the time in seconds below which a saving is not worth a line.
const minSaving = 1

// New returns what the days tell. Warnings are lines about days that are left out.
func New(days []tally.Day, durations Percentiles, warnings []string) *Insights {
	out := &Insights{Version: Version, Days: len(days), Integrations: []Row{}, Savings: []Saving{}, Warnings: warnings}
	counts := map[string]tally.Count{}
	for _, d := range days {
		out.Runs += d.Runs
		for name, c := range d.Integrations {
			counts[name] = counts[name].Plus(c)
		}
	}
	if len(days) > 0 {
		out.From, out.To = days[0].Day, days[len(days)-1].Day
	}
	var total tally.Count
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		c := counts[name]
		total = total.Plus(c)
		r := row(name, c)
		r.P50, r.P90 = durations(name)
		out.Integrations = append(out.Integrations, r)
		out.Savings = append(out.Savings, savings(name, c)...)
		if c.Believed > 0 {
			out.Beliefs = append(out.Beliefs, Belief{name, c.Believed, r.Skipped, beliefRemedy})
		}
	}
	out.Total, out.Forecasts = row("", total), forecasts(days)
	slices.SortStableFunc(out.Integrations, func(a, b Row) int { return cmp.Compare(b.Seconds, a.Seconds) })
	slices.SortStableFunc(out.Savings, func(a, b Saving) int { return cmp.Compare(b.Seconds, a.Seconds) })
	slices.SortStableFunc(out.Beliefs, func(a, b Belief) int { return cmp.Compare(b.Believed, a.Believed) })
	return out
}

// maxForecasts is of how many runs the forecasts are looked at: of the last ones.
const maxForecasts = 100

func forecasts(days []tally.Day) *Forecasts {
	var all []plan.Forecast
	for _, d := range days {
		all = append(all, d.Forecasts...)
	}
	all = all[max(0, len(all)-maxForecasts):]
	if len(all) == 0 {
		return nil
	}
	out := &Forecasts{Runs: len(all)}
	var ratios []float64
	for _, f := range all {
		if f.Took <= f.P50 {
			out.WithinP50++
		}
		if f.Took <= f.P90 {
			out.WithinP90++
		}
		ratios = append(ratios, f.Took/f.P50)
	}
	slices.Sort(ratios)
	out.Ratio = round(ratios[(len(ratios)-1)/2])
	return out
}

func row(name string, c tally.Count) Row {
	return Row{
		Name: name, Plans: c.Decided(), Run: sum(c.Run), Shards: sum(c.Shards), Skipped: sum(c.Skip), SkipsAt: c.Skip,
		Believed: c.Believed,
		Tasks:    c.Tasks(), Passed: c.Passed, Failed: c.Failed, OnBase: c.OnBase, Flaked: c.Flaked, Reused: c.Reused,
		Seconds: round(c.Seconds), Quiet: round(c.Quiet),
		Nothing: round(c.Needless[tally.BySchemas] + c.Needless[tally.ByQueries]),
	}
}

func sum(m map[plan.Rung]int) int {
	total := 0
	for _, n := range m {
		total += n
	}
	return total
}

// round rounds seconds to the millisecond, since sums of floating-point numbers are not exact.
func round(seconds float64) float64 { return math.Round(seconds*1000) / 1000 }

// savings returns the ways to spend less time on an integration that are worth a line.
func savings(name string, c tally.Count) []Saving {
	var out []Saving
	for _, cause := range tally.Causes() {
		if seconds := round(c.Needless[cause]); seconds >= minSaving {
			out = append(out, Saving{Integration: name, Cause: cause, Seconds: seconds, Remedy: remedy(cause)})
		}
	}
	return out
}

// remedy returns what to do about time that was spent needlessly.
func remedy(cause tally.Cause) string {
	switch cause {
	case tally.BySchemas:
		return "narrow the schemas of its definition: planner suggest writes it"
	case tally.ByQueries:
		return "declare its queries in prcheck.yaml, or let it be traced"
	default:
		return "divide it into shards: its desired state differs only in parts"
	}
}
