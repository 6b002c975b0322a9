package check

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/app-sre/prcheck/internal/markdown"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
)

// version is that of the JSON of a report.
const version = 1

// WriteText writes the report for a terminal: one line for each finding.
func (r *Report) WriteText(w io.Writer) error {
	var out strings.Builder
	for _, f := range append(r.Findings[:len(r.Findings):len(r.Findings)], r.Kept...) {
		place := f.File
		if f.Line > 0 {
			place += fmt.Sprintf(":%d", f.Line)
		}
		fmt.Fprintf(&out, "%-7s  %s  %s%s  %s: %s\n", severity(f), sanitize.Line(place), sanitize.Line(subject(f)),
			sanitize.Line(change(f)), f.Code, sanitize.Line(f.Message))
	}
	out.WriteString(r.Summary() + "\n")
	_, err := io.WriteString(w, out.String())
	return err
}

func severity(f Finding) string {
	if f.Old {
		return "old"
	}
	return string(f.Severity)
}

// subject names the resource and the property of a finding.
func subject(f Finding) string {
	switch {
	case f.Resource == "":
		return f.Name()
	case f.Property == "":
		return f.Resource
	}
	return f.Resource + " " + f.Name()
}

func change(f Finding) string {
	if text := f.Change(); text != "" {
		return ": " + text
	}
	return ""
}

// Summary says in one line what was checked and found.
func (r *Report) Summary() string {
	counts, old := map[plan.Severity]int{}, 0
	for _, f := range r.Findings {
		if f.Old {
			old++
			continue
		}
		counts[f.Severity]++
	}
	text := fmt.Sprintf("%s, %d changed: %s, %s, %s", phrase.Count(r.Resources, "resource"), r.Changed,
		phrase.Count(counts[plan.SeverityError], "error"), phrase.Count(counts[plan.SeverityWarning], "warning"),
		phrase.Count(counts[plan.SeverityNote]+len(r.Kept), "note"))
	if old > 0 {
		text += fmt.Sprintf("; %s on base as well", verb(old))
	}
	return text
}

func verb(n int) string {
	if n == 1 {
		return "1 mistake is"
	}
	return fmt.Sprintf("%d mistakes are", n)
}

// WriteJSON writes the report for programs.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Version   int           `json:"version"`
		Resources int           `json:"resources"`
		Changed   int           `json:"changed"`
		Findings  []Finding     `json:"findings"`
		Kept      []Finding     `json:"kept"`
		Effects   []plan.Effect `json:"effects"`
	}{version, r.Resources, r.Changed, append([]Finding{}, r.Findings...), append([]Finding{}, r.Kept...),
		append([]plan.Effect{}, r.Effects...)})
}

// WriteMarkdown writes the report for a merge request.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var out strings.Builder
	fmt.Fprintf(&out, "**%s**\n", markdown.Escape(r.Summary()))
	if len(r.Findings)+len(r.Kept) > 0 {
		out.WriteString("\n| | where | what | |\n|---|---|---|---|\n")
	}
	for _, f := range append(r.Findings[:len(r.Findings):len(r.Findings)], r.Kept...) {
		place := markdown.Code(f.File)
		if f.Line > 0 {
			place += fmt.Sprintf(" line %d", f.Line)
		}
		fmt.Fprintf(&out, "| %s | %s | %s%s | `%s`: %s |\n", severity(f), place, markdown.Escape(subject(f)),
			markdown.Escape(change(f)), f.Code, markdown.Escape(f.Message))
	}
	_, err := io.WriteString(w, out.String())
	return err
}
