package selftest

import (
	"fmt"
	"io"
	"strings"

	"github.com/app-sre/prcheck/report"
)

// maxNamed is how many changed files of a counterexample the text names.
const maxNamed = 5

// WriteText writes one line for each law, the lines of its counterexample, and how many laws
// hold.
func WriteText(w io.Writer, results []Result) error {
	count := map[Status]int{}
	var b strings.Builder
	for _, r := range results {
		count[r.Status]++
		fmt.Fprintf(&b, "%-14s  %-7s  %s", r.Status, r.Law, r.Says)
		if r.Why != "" {
			fmt.Fprintf(&b, " (%s)", report.Printable(r.Why))
		}
		b.WriteByte('\n')
		if c := r.Counterexample; c != nil {
			fmt.Fprintf(&b, "  %s: %s\n", report.Printable(nameOf(*c)), report.Printable(c.What))
			fmt.Fprintf(&b, "  changed files: %s\n", named(c.Changes))
			fmt.Fprintf(&b, "  holds when: %s\n", r.Conditions)
		}
	}
	fmt.Fprintf(&b, "%d laws: %d ok, %d broken, %d not applicable", len(results), count[Held], count[Broken],
		count[NotApplicable])
	if n := count[NotAsked]; n > 0 {
		fmt.Fprintf(&b, ", %d not asked", n)
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

func nameOf(c Counterexample) string {
	if c.Integration == "" {
		return "the plan"
	}
	return c.Integration
}

// named lists changed files on one line.
func named(files []string) string {
	if len(files) == 0 {
		return "none are needed"
	}
	var out []string
	for _, f := range files[:min(len(files), maxNamed)] {
		out = append(out, report.Printable(f))
	}
	line := strings.Join(out, ", ")
	if more := len(files) - maxNamed; more > 0 {
		line += fmt.Sprintf(" and %d more", more)
	}
	return line
}
