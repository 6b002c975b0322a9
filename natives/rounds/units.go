package rounds

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
)

// table returns the units of work, one in a line, with aligned columns. Units that only count their things are left
// out: the steps say more.
func (r *Report) table() string {
	units := slices.DeleteFunc(slices.Clone(r.Units), func(u integration.Standing) bool { return u.Things != nil })
	if len(units) == 0 {
		return ""
	}
	rows := [][]string{{"UNIT", "STATE", "REASONS", "OPENS", "WAITS FOR"}}
	for _, u := range units {
		rows = append(rows, []string{u.Key, u.State, dash(strings.Join(u.Reasons, ",")), dash(when(u.Opens)), dash(u.Hold)})
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, text := range row {
			widths[i] = max(widths[i], len([]rune(text)))
		}
	}
	var out strings.Builder
	for _, row := range rows {
		line := "  "
		for i, text := range row {
			line += text + strings.Repeat(" ", widths[i]-len([]rune(text))+2)
		}
		out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if r.MoreUnits > 0 {
		fmt.Fprintf(&out, "  and %d more units\n", r.MoreUnits)
	}
	return out.String()
}

// askUnits asks an integration that decides about units of work how these stand: its dry run says so.
func (w *round) askUnits(ctx context.Context, n integration.Native, env integration.Environment) error {
	env.Log = io.Discard // the table of a dry run says the same
	err := n.DryRun(ctx, env)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.standings) == 0 && err == nil && w.fails {
		return nil // the findings say why
	}
	if len(w.standings) == 0 && err == nil {
		return fmt.Errorf("the native integration %s has nothing whose status it could tell", n.Name())
	}
	return err
}

// things returns how units of work stand as things with conditions: Synced (nothing differs) and Blocked (it waits).
func things(units []integration.Standing) []integration.Status {
	var out []integration.Status
	for _, u := range units {
		synced := integration.Aspect{Type: "Synced", Status: integration.False, Reason: u.State, Since: u.Since}
		blocked := integration.Aspect{Type: "Blocked", Status: integration.False, Reason: "Allowed"}
		switch u.State {
		case integration.StandingSame, integration.StandingOff:
			synced.Status = integration.True
		case integration.StandingUnknown:
			synced.Status = integration.Unknown
		}
		if u.Waits {
			blocked.Status, blocked.Reason, blocked.Message, blocked.Since = integration.True, u.State, u.Hold, u.Since
		}
		if at := when(u.Opens); at != "" && u.Waits {
			blocked.Message += "; it opens at " + at
		}
		if !u.Waits {
			synced.Message = strings.Join(u.Reasons, ", ")
		}
		out = append(out, integration.Status{Key: u.Key, Kind: "unit", Conditions: []integration.Aspect{synced, blocked}})
	}
	return out
}

// dash returns a text, or a hyphen for no text.
func dash(text string) string { return cmp.Or(text, "-") }

// when returns a time for people.
func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04Z")
}

// A unitCount counts units of work for metrics.
type unitCount struct {
	states  map[string]int       // units of the last round, by state
	waiting map[string]time.Time // since when units wait, by key
	starts  map[string]int       // of all rounds, by reason
	ended   int                  // units of all rounds that ended
	took    time.Duration        // all of them together
}

// count takes the units of a round.
func (c *unitCount) count(units []integration.Standing, now time.Time) {
	if c.starts == nil {
		c.starts = map[string]int{}
	}
	c.states = map[string]int{}
	waiting := map[string]time.Time{}
	for _, u := range units {
		c.states[u.State]++
		if u.Took > 0 {
			c.ended++
			c.took += u.Took
		}
		if u.Waits {
			waiting[u.Key] = now
			if before, ok := c.waiting[u.Key]; ok {
				waiting[u.Key] = before
			}
			if !u.Since.IsZero() {
				waiting[u.Key] = u.Since
			}
		}
		for _, reason := range slices.Compact(slices.Sorted(slices.Values(u.Reasons))) {
			if u.Started {
				c.starts[reason]++
			}
		}
	}
	c.waiting = waiting
}

// oldest returns for how long the unit waits that waits the longest.
func (c *unitCount) oldest(now time.Time) time.Duration {
	var out time.Duration
	for _, since := range c.waiting {
		out = max(out, now.Sub(since))
	}
	return out
}

// families writes the metrics of units, if there are any.
func (c *unitCount) families(now time.Time, family func(name, kind, help string, samples ...string),
	sample func(more string, value float64) string) {
	if c.states == nil || len(c.states)+len(c.starts) == 0 {
		return
	}
	var states, starts []string
	for _, s := range slices.Sorted(maps.Keys(c.states)) {
		states = append(states, sample(",state="+quote(s), float64(c.states[s])))
	}
	for _, s := range slices.Sorted(maps.Keys(c.starts)) {
		starts = append(starts, sample(",reason="+quote(s), float64(c.starts[s])))
	}
	family("units", "gauge", "Units of work of the last round by state.", states...)
	family("oldest_wait_seconds", "gauge", "For how long the unit waits that waits the longest.",
		sample("", c.oldest(now).Seconds()))
	family("starts_total", "counter", "What was started, by reason. What has several reasons counts for each of them.",
		starts...)
	if c.ended > 0 {
		family("ended_units_total", "counter", "Units of work that ended, such as merge requests that were merged.",
			sample("", float64(c.ended)))
		family("ended_unit_seconds_total", "counter", "How long they took, together.", sample("", c.took.Seconds()))
	}
}
