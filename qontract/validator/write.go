package validator

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/app-sre/prcheck/internal/sanitize"
)

// Version is the version of the JSON form of a report.
const Version = "prcheck/v1"

// graphqlFile is the file name for findings in the GraphQL types if their file is not
// known. qontract-validator uses it too.
const graphqlFile = "graphql-schemas/schema.yml"

// Names maps a section to the folder of its files, or for GraphQL to its file. A section
// that is not in the map has the name that it has in the bundle.
type Names map[Section]string

// file returns the name of the file of a finding.
func (n Names) file(f Finding) string {
	name := n[f.Section]
	switch {
	case f.Section == GraphQL && name == "":
		return graphqlFile
	case f.Section == GraphQL:
		return name
	case name == "":
		return string(f.Section) + "/" + strings.TrimPrefix(string(f.Path), "/")
	}
	return strings.TrimSuffix(name, "/") + "/" + strings.TrimPrefix(string(f.Path), "/")
}

// WriteText writes a line for each finding, "file:line:column: rule: place: message", and a
// last line with the number of findings. It replaces characters of the bundle that could
// control a terminal.
func (r *Report) WriteText(w io.Writer, names Names) error {
	var b strings.Builder
	for _, f := range r.Findings {
		b.WriteString(sanitize.Line(names.file(f)))
		if f.Line > 0 {
			fmt.Fprintf(&b, ":%d:%d", f.Line, f.Column)
		}
		fmt.Fprintf(&b, ": %s: ", f.Rule)
		if f.Pointer != "" {
			b.WriteString(sanitize.Line(f.Pointer) + ": ")
		}
		b.WriteString(sanitize.Line(f.Message) + "\n")
	}
	switch n := len(r.Findings) + r.More; {
	case r.More > 0:
		fmt.Fprintf(&b, "%d findings; %d more are left out\n", n, r.More)
	case n == 1:
		b.WriteString("1 finding\n")
	case n > 1:
		fmt.Fprintf(&b, "%d findings\n", n)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("writing the findings: %w", err)
	}
	return nil
}

// WriteJSON writes the report as JSON, with the keys version, scope, findings and more.
func (r *Report) WriteJSON(w io.Writer, names Names) error {
	type finding struct {
		File    string  `json:"file"`
		Line    int     `json:"line,omitempty"`
		Column  int     `json:"column,omitempty"`
		Section Section `json:"section"`
		Path    string  `json:"path"`
		Pointer string  `json:"pointer"`
		Rule    Rule    `json:"rule"`
		Message string  `json:"message"`
	}
	doc := struct {
		Version  string    `json:"version"`
		Scope    string    `json:"scope"`
		Findings []finding `json:"findings"`
		More     int       `json:"more"`
	}{Version, r.Scope.String(), []finding{}, r.More}
	for _, f := range r.Findings {
		doc.Findings = append(doc.Findings, finding{names.file(f), f.Line, f.Column, f.Section, string(f.Path), f.Pointer,
			f.Rule, f.Message})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(doc); err != nil {
		return fmt.Errorf("writing the findings: %w", err)
	}
	return nil
}
