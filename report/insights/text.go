package insights

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
	"github.com/app-sre/prcheck/state/audits"
)

// The largest numbers of rows in the text. The JSON form and the page have all.
const (
	maxRows    = 30
	maxSavings = 10
	maxBeliefs = 10
	maxMisses  = 20
)

// JSON writes insights as indented JSON.
func JSON(w io.Writer, in *Insights) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(in)
}

// Text writes insights for a terminal.
func Text(w io.Writer, in *Insights) error {
	var out strings.Builder
	for _, line := range summary(in) {
		out.WriteString(line + "\n")
	}
	if len(in.Integrations) > 0 {
		out.WriteString("\n")
		writeTable(&out, in)
	}
	if len(in.Savings) > 0 {
		out.WriteString("\nWhat would save most\n")
		for _, s := range in.Savings[:min(len(in.Savings), maxSavings)] {
			fmt.Fprintf(&out, "  %8s  %s: %s\n", hours(s.Seconds), name(s.Integration), s.Remedy)
		}
		writeRest(&out, len(in.Savings)-maxSavings)
	}
	if len(in.Beliefs) > 0 {
		out.WriteString("\nSkips that are only believed\n")
		for _, b := range in.Beliefs[:min(len(in.Beliefs), maxBeliefs)] {
			fmt.Fprintf(&out, "  %8s  %s\n", fmt.Sprintf("%d of %d", b.Believed, b.Skipped), name(b.Integration))
		}
		writeRest(&out, len(in.Beliefs)-maxBeliefs)
		out.WriteString("  to prove them, " + beliefRemedy + "\n")
	}
	if len(in.Misses) > 0 {
		out.WriteString("\nWrong skips that audits found\n")
		for _, m := range in.Misses[:min(len(in.Misses), maxMisses)] {
			out.WriteString("  " + missLine(m) + "\n")
		}
		writeRest(&out, len(in.Misses)-maxMisses)
	}
	for _, line := range in.Warnings {
		fmt.Fprintf(&out, "\nwarning: %s\n", report.Printable(line))
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// summary returns the most important facts in a few lines.
func summary(in *Insights) []string {
	lines := runsSummary(in)
	if n := plan.Sum(in.Audits); n.Audited()+n.Unclear > 0 {
		lines = append(lines, n.String()+byRung(in.Audits))
	}
	return lines
}

// runsSummary returns the most important facts about runs.
func runsSummary(in *Insights) []string {
	if in.Runs == 0 {
		return []string{"No run is counted yet: runner counts its runs in the state that --state names."}
	}
	t := in.Total
	lines := []string{
		fmt.Sprintf("%s to %s: %d runs of plans, %d tasks, %s", in.From, in.To, in.Runs, t.Tasks, hours(t.Seconds)),
		fmt.Sprintf("%d decisions: %d run, %d on shards, %d skipped (%s)", t.Plans, t.Run, t.Shards, t.Skipped, skipsAt(t)),
		fmt.Sprintf("of the tasks, %d failed, %d were broken on base, and %d passed only after a failed attempt; %d more "+
			"passed before with the same inputs", t.Failed, t.OnBase, t.Flaked, t.Reused),
		fmt.Sprintf("%s went to tasks that read nothing that had changed", hours(t.Nothing)),
	}
	if t.Quiet > 0 {
		lines = append(lines, fmt.Sprintf("%s went to tasks that announced no effect of the change", hours(t.Quiet)))
	}
	if f := in.Forecasts; f != nil {
		lines = append(lines,
			fmt.Sprintf("of the last %d forecasts of whole runs, %d were long enough, and the medians of %d; half of the runs "+
				"took %.1f times the median or less",
				f.Runs, f.WithinP90, f.WithinP50, f.Ratio))
	}
	return lines
}

// byRung returns the counts of single rungs, such as " (schema 0 of 412, state 1 of 400)".
func byRung(counts map[plan.Rung]plan.AuditCount) string {
	var parts []string
	for _, rung := range plan.Rungs() {
		if c := counts[rung]; c.Audited() > 0 {
			parts = append(parts, fmt.Sprintf("%s %d of %d", rung, c.Wrong, c.Audited()))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (wrong at " + strings.Join(parts, ", ") + ")"
}

// missLine describes a wrong skip in one line.
func missLine(m audits.Miss) string {
	times := "once"
	if m.Times > 1 {
		times = fmt.Sprintf("%d times", m.Times)
	}
	out := fmt.Sprintf("%s at %s, %s, last on %s: %s", name(m.Integration), m.Rung, times,
		m.Last.UTC().Format(time.DateOnly), report.Printable(m.Finding))
	if m.Remedy != "" {
		out += "; to avoid it, " + report.Printable(m.Remedy)
	}
	if !m.IsOpen() {
		out += "; confirmed as gone on " + m.Confirmed.UTC().Format(time.DateOnly)
	}
	return out
}

// skipsAt returns at which rungs skips were decided, such as "12 at schema, 3 at state".
func skipsAt(r Row) string {
	var parts []string
	for _, rung := range plan.Rungs() {
		if n := r.SkipsAt[rung]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d at %s", n, rung))
		}
	}
	if r.Believed > 0 {
		parts = append(parts, fmt.Sprintf("%d of them only believed", r.Believed))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// writeTable writes the integrations that took longest.
func writeTable(out *strings.Builder, in *Insights) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(cells ...string) { _, _ = fmt.Fprintln(w, strings.Join(cells, "\t")+"\t") } // into a strings.Builder
	line("time", "p50", "p90", "ran", "skipped", "tasks", "failed", "on base", "flaked", "needless", "")
	var names []string
	for _, r := range in.Integrations[:min(len(in.Integrations), maxRows)] {
		number := func(n int) string { return dotted(n, fmt.Sprint(n)) }
		line(hours(r.Seconds), seconds(r.P50), seconds(r.P90), number(r.Run+r.Shards), number(r.Skipped), number(r.Tasks),
			number(r.Failed), number(r.OnBase), number(r.Flaked), dotted(int(r.Nothing), hours(r.Nothing)), "")
		names = append(names, name(r.Name))
	}
	start := out.Len()
	_ = w.Flush() // into a strings.Builder
	table := strings.Split(strings.TrimRight(out.String()[start:], "\n"), "\n")
	head := out.String()[:start]
	out.Reset()
	out.WriteString(head)
	for i, row := range table {
		if i > 0 {
			row += "  " + names[i-1]
		}
		out.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	writeRest(out, len(in.Integrations)-maxRows)
}

func writeRest(out *strings.Builder, n int) {
	if n > 0 {
		fmt.Fprintf(out, "  and %d more: see --format json or --html\n", n)
	}
}

// name returns the name of an integration for people.
func name(n string) string {
	if n == "" {
		return "(all others)"
	}
	return report.Printable(n)
}

// dotted returns a text, or a dot for the number zero, which is easier to overlook.
func dotted(n int, text string) string {
	if n == 0 {
		return "·"
	}
	return text
}

// hours returns a duration as "12s", "3m 05s" or "1h 02m".
func hours(s float64) string {
	switch whole := int(s + 0.5); {
	case whole < 60:
		return fmt.Sprintf("%ds", whole)
	case whole < 3600:
		return fmt.Sprintf("%dm %02ds", whole/60, whole%60)
	default:
		return fmt.Sprintf("%dh %02dm", whole/3600, whole%3600/60)
	}
}

// seconds returns a duration of a single task.
func seconds(s float64) string {
	if s == 0 {
		return "·"
	}
	if s < 10 {
		return fmt.Sprintf("%.1fs", s)
	}
	return hours(s)
}
