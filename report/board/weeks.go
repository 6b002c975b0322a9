package board

import (
	"cmp"
	"slices"
	"time"

	"github.com/app-sre/prcheck/state/tally"
)

// A Week is what was counted in seven days.
type Week struct {
	From    string  `json:"from"` // its first day, as 2006-01-02 (UTC)
	Runs    int     `json:"runs"`
	Decided int     `json:"decided"` // decisions about integrations
	Skipped int     `json:"skipped"`
	Tasks   int     `json:"tasks"`
	Failed  int     `json:"failed"`
	Flaked  int     `json:"flaked"`
	Seconds float64 `json:"seconds"` // of all tasks
	// Verdict is the middle time from the start of a run to its end, in seconds; 0 if nobody knows.
	Verdict float64 `json:"verdict_seconds,omitempty"`
}

// Share returns how many of the decisions were skips, in percent.
func (w Week) Share() float64 {
	if w.Decided == 0 {
		return 0
	}
	return 100 * float64(w.Skipped) / float64(w.Decided)
}

// weeks returns the last weeks, the oldest first, from the first one in which anything ran.
func weeks(days []tally.Day, now time.Time) []Week {
	out := make([]Week, Weeks)
	took := make([][]float64, Weeks)
	first := now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-7*Weeks)
	for i := range out {
		out[i].From = first.AddDate(0, 0, 7*i).Format(time.DateOnly)
	}
	for _, d := range days {
		day, err := time.Parse(time.DateOnly, d.Day)
		i := int(day.Sub(first) / (7 * 24 * time.Hour))
		if err != nil || day.Before(first) || i >= Weeks {
			continue
		}
		w := &out[i]
		w.Runs += d.Runs
		for _, c := range d.Integrations {
			w.Decided += c.Decided()
			for _, n := range c.Skip {
				w.Skipped += n
			}
			w.Tasks, w.Failed, w.Flaked, w.Seconds = w.Tasks+c.Tasks(), w.Failed+c.Failed, w.Flaked+c.Flaked,
				w.Seconds+c.Seconds
		}
		for _, f := range d.Forecasts {
			took[i] = append(took[i], f.Took)
		}
	}
	for i, all := range took {
		slices.SortFunc(all, cmp.Compare[float64])
		if len(all) > 0 {
			out[i].Verdict = all[(len(all)-1)/2]
		}
	}
	begin := slices.IndexFunc(out, func(w Week) bool { return w.Runs > 0 })
	if begin < 0 {
		return nil
	}
	return out[begin:]
}
