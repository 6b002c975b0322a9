package rounds

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/phrase"
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

// WriteJSON writes a report as JSON on one line.
func (r *Report) WriteJSON(w io.Writer) error { return json.NewEncoder(w).Encode(r) }

// WriteText writes a report for people. Errors are left out, since they are in the log.
func (r *Report) WriteText(w io.Writer) error {
	var out strings.Builder
	out.WriteString(r.title())
	out.WriteString(r.table())
	for _, s := range r.Steps {
		out.WriteString("  " + s.text() + "\n" + s.lines())
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

// ask asks an integration how its things stand.
func (w *round) ask(ctx context.Context, n integration.Native, env integration.Environment) error {
	s, ok := n.(integration.StatusReader)
	if !ok {
		return w.askUnits(ctx, n, env)
	}
	all, err := s.Status(ctx, env)
	slices.SortFunc(all, func(a, b integration.Status) int {
		return cmp.Or(strings.Compare(a.Shard, b.Shard), strings.Compare(a.Key, b.Key))
	})
	for i := range all {
		t := &all[i]
		t.Key, t.Kind, t.Shard, t.File = w.clean(t.Key), w.clean(t.Kind), w.clean(t.Shard), w.clean(t.File)
		for j := range t.Conditions {
			c := &t.Conditions[j]
			c.Reason, c.Message = w.clean(c.Reason), w.clean(c.Message)
		}
	}
	w.report.Things = all
	return err
}

// WriteStatus writes how things stand, for people: a line for each thing, and one for each
// condition that needs somebody to look at it.
func (r *Report) WriteStatus(w io.Writer) error {
	var out strings.Builder
	shard := ""
	for _, t := range r.Things {
		if t.Shard != shard {
			fmt.Fprintf(&out, "%s\n", t.Shard)
			shard = t.Shard
		}
		var words, lines []string
		for _, c := range t.Conditions {
			words = append(words, c.Type+"="+string(c.Status))
			if c.Message != "" {
				lines = append(lines, fmt.Sprintf("    %s: %s: %s\n", c.Type, c.Reason, c.Message))
			}
		}
		fmt.Fprintf(&out, "  %s  %s\n", t.Key, strings.Join(words, " "))
		out.WriteString(strings.Join(lines, ""))
	}
	for _, f := range r.Findings {
		out.WriteString("  " + f.text() + "\n")
	}
	fmt.Fprintf(&out, "%d things\n", len(r.Things))
	_, err := io.WriteString(w, out.String())
	return err
}

// WriteStatusJSON writes how things stand as JSON.
func (r *Report) WriteStatusJSON(w io.Writer) error {
	things := r.Things
	if things == nil {
		things = []integration.Status{}
	}
	return json.NewEncoder(w).Encode(struct {
		Version     string               `json:"version"`
		Integration string               `json:"integration"`
		Things      []integration.Status `json:"things"`
		Findings    []Located            `json:"findings"`
		Errors      []string             `json:"errors"`
	}{r.Version, r.Integration, things, r.Findings, r.Errors})
}
