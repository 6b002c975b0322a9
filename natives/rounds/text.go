package rounds

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
)

// WriteJSON writes a report as JSON on one line.
func (r *Report) WriteJSON(w io.Writer) error { return json.NewEncoder(w).Encode(r) }

// WriteText writes a report for people. Errors are left out, since they are in the log.
func (r *Report) WriteText(w io.Writer) error {
	var out strings.Builder
	out.WriteString(r.title())
	out.WriteString(r.table())
	for _, s := range r.Steps {
		out.WriteString("  " + s.text() + "\n")
	}
	if r.MoreSteps > 0 {
		fmt.Fprintf(&out, "  and %d more steps\n", r.MoreSteps)
	}
	for _, f := range r.Findings {
		out.WriteString("  " + f.text() + "\n")
	}
	if r.MoreFindings > 0 {
		fmt.Fprintf(&out, "  and %d more findings\n", r.MoreFindings)
	}
	fmt.Fprintf(&out, "%s: %s\n", strings.ReplaceAll(string(r.Outcome), "_", " "), r.summary())
	_, err := io.WriteString(w, out.String())
	return err
}

// title returns the first line of the text.
func (r *Report) title() string {
	kind := "run"
	if r.DryRun {
		kind = "dry run"
	}
	if r.Adopt {
		kind += " that only adopts"
	}
	if r.TakeOver {
		kind += " that only takes over"
	}
	of := r.Integration
	if r.Shard != "" {
		of += ", shard " + r.Shard
	}
	if r.Static != "" {
		of += ", static shard " + r.Static
	}
	if r.Bundle == nil {
		return fmt.Sprintf("%s: %s\n", of, kind)
	}
	return fmt.Sprintf("%s: %s over bundle %v\n", of, kind, *r.Bundle)
}

// text returns the line of a step.
func (s Step) text() string {
	line := s.Action + " " + s.Key
	if s.Status == planned {
		line = "would " + line
	} else {
		line += ": " + strings.ReplaceAll(s.Status, "_", " ")
	}
	for _, more := range []string{s.Error, s.Reason} {
		if more != "" {
			line += ": " + more
		}
	}
	return line + inBrackets(s.Where)
}

// text returns the line of a finding.
func (f Located) text() string {
	line := string(f.Severity)
	if f.Code != "" {
		line += " " + string(f.Code)
	}
	return line + ": " + f.Message + inBrackets(f.Where)
}

func inBrackets(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// summary counts the steps and the findings.
func (r *Report) summary() string {
	switch isEmpty := len(r.stepCounts)+len(r.findCounts) == 0; {
	case isEmpty && r.Outcome == Done:
		return "nothing to do"
	case isEmpty:
		return "see the errors"
	}
	var words []string
	total := 0
	actions := map[string]int{}
	for kind, n := range r.stepCounts {
		total += n
		actions[kind.action] += n
	}
	for _, a := range slices.Sorted(maps.Keys(actions)) {
		words = append(words, fmt.Sprintf("%d %s", actions[a], a))
	}
	var parts []string
	if total > 0 {
		parts = append(parts, phrase.Count(total, "step")+" ("+strings.Join(words, ", ")+")")
	}
	for _, s := range plan.Severities() {
		if n := r.findCounts[s]; n > 0 {
			parts = append(parts, phrase.Count(n, string(s)))
		}
	}
	return strings.Join(parts, ", ")
}

// WriteFinished writes which entries can be removed, a line for each.
func (r *Report) WriteFinished(w io.Writer) error {
	for _, f := range r.Finished() {
		line := f.Message + "\n"
		if f.Where != "" {
			line = f.Where + ": " + line
		}
		if _, err := io.WriteString(w, line); err != nil {
			return err
		}
	}
	return nil
}

// WriteFinishedJSON writes which entries can be removed, as JSON on one line.
func (r *Report) WriteFinishedJSON(w io.Writer) error {
	return json.NewEncoder(w).Encode(struct {
		Version     string    `json:"version"`
		Integration string    `json:"integration"`
		Finished    []Located `json:"finished"`
	}{r.Version, r.Integration, r.Finished()})
}
