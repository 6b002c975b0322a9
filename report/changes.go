package report

import (
	"io"
	"strings"

	"github.com/app-sre/prcheck/plan"
)

// ChangesText writes all changes between two bundles for people, one line a
// file.
func ChangesText(w io.Writer, c plan.Changes) error {
	var out strings.Builder
	var rows table
	for _, f := range c.Datafiles {
		schema := line(f.Schema)
		if f.OldSchema != "" {
			schema += " (was " + line(f.OldSchema) + ")"
		}
		rows = append(rows, []cell{{text: string(f.Kind)}, {text: line(f.Path)}, {text: schema}, {text: line(strings.Join(f.Fields, " "))}})
	}
	for _, r := range c.Resources {
		rows = append(rows, []cell{{text: string(r.Kind)}, {text: "resource " + line(r.Path)}, {text: line(r.Schema)}, {}})
	}
	for _, s := range c.Schemas {
		rows = append(rows, []cell{{text: "changed"}, {text: "JSON schema " + line(s)}, {}, {}})
	}
	for _, name := range c.GraphQL {
		rows = append(rows, []cell{{text: "changed"}, {text: "GraphQL type " + line(name)}, {}, {}})
	}
	if len(rows) == 0 {
		out.WriteString("nothing differs\n")
	}
	rows.write(&out, Style{}, "")
	_, err := io.WriteString(w, out.String())
	return err
}

// Printable makes one harmless, bounded line of an untrusted value.
func Printable(text string) string { return line(text) }
