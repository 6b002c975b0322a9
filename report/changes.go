package report

import (
	"io"
	"strings"

	"github.com/app-sre/prcheck/plan"
)

// ChangesText writes all changes between two bundles as text, one line per file,
// schema or type.
func ChangesText(w io.Writer, c plan.Changes) error {
	var out strings.Builder
	var rows table
	for _, f := range c.Datafiles {
		schema := cleanLine(f.Schema)
		if f.OldSchema != "" {
			schema += " (was " + cleanLine(f.OldSchema) + ")"
		}
		rows = append(rows, []cell{{text: string(f.Kind)}, {text: cleanLine(f.Path)}, {text: schema},
			{text: cleanLine(strings.Join(f.Fields, " "))}})
	}
	for _, r := range c.Resources {
		rows = append(rows, []cell{{text: string(r.Kind)}, {text: "resource " + cleanLine(r.Path)},
			{text: cleanLine(r.Schema)}, {}})
	}
	for _, s := range c.Schemas {
		rows = append(rows, []cell{{text: "changed"}, {text: "JSON schema " + cleanLine(s)}, {}, {}})
	}
	for _, name := range c.GraphQL {
		rows = append(rows, []cell{{text: "changed"}, {text: "GraphQL type " + cleanLine(name)}, {}, {}})
	}
	if len(rows) == 0 {
		out.WriteString("nothing differs\n")
	}
	rows.writeTo(&out, Style{}, "")
	_, err := io.WriteString(w, out.String())
	return err
}
