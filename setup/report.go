package setup

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/settings"
)

// An Outcome says what became of a file.
type Outcome struct {
	Name    string
	Created bool // otherwise it was there before
}

// CreateAll creates the files that the repository lacks. If it has settings, their queries
// are theirs, and are left alone. Without datafiles that can be read nothing is created,
// because it might be the wrong thing.
func (r *Repository) CreateAll() ([]Outcome, error) {
	if r.Kind == Unknown {
		return nil, nil
	}
	files, err := r.Files()
	if err != nil {
		return nil, err
	}
	var out []Outcome
	for _, f := range files {
		if r.settings != nil && f.Name != settings.FileName && f.Name != CIFile {
			continue
		}
		created, err := r.Create(f)
		if err != nil {
			return out, err
		}
		out = append(out, Outcome{f.Name, created})
	}
	return out, nil
}

// Write writes for people what the repository has, what became of the files, and what is
// missing.
func (r *Repository) Write(w io.Writer, files []Outcome) error {
	var b strings.Builder
	fmt.Fprintf(&b, "This is %s.\n", r.Kind)
	for _, row := range [][2]string{
		{"datafiles", r.part(r.Checkout.Data, r.Checkout.Data)},
		{"resources", r.part(r.Checkout.Resources, r.Checkout.Resources)},
		{"JSON schemas", r.part(r.Checkout.Schemas, r.Checkout.Schemas)},
		{"GraphQL types", r.part(r.Checkout.GraphQL, r.Checkout.GraphQL)},
		{"integrations", r.describe()},
		{"remote", sanitize.Line(cmp.Or(r.Host, "none"))},
	} {
		fmt.Fprintf(&b, "  %-13s  %s\n", row[0], row[1])
	}
	b.WriteString("\n")
	for _, f := range files {
		said := "is there, and stays as it is"
		if f.Created {
			said = "is new"
		}
		fmt.Fprintf(&b, "%s %s\n", f.Name, said)
	}
	for _, line := range r.Notes() {
		fmt.Fprintf(&b, "note: %s\n", line)
	}
	missing := r.Missing()
	for _, line := range missing {
		fmt.Fprintf(&b, "missing: %s\n", line)
	}
	if len(missing) == 0 {
		b.WriteString("Nothing is missing.\n")
	}
	if slices.ContainsFunc(files, func(f Outcome) bool { return f.Created }) {
		b.WriteString("\nRead the new files, and commit them.")
		if len(missing) == 0 {
			b.WriteString(" Then change a datafile on a branch, and run: runner precheck")
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// part returns what to say about a part of a bundle.
func (r *Repository) part(path, there string) string {
	if r.hasPart[path] {
		return there
	}
	return "none"
}
