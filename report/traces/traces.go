package traces

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/report"
	"github.com/app-sre/prcheck/state/files"
	"github.com/app-sre/prcheck/trace"
)

// Write writes how old a trace is and which requests it holds.
func Write(w io.Writer, t *trace.Trace, now time.Time) error {
	of := "the whole integration"
	if t.Shard != "" {
		of = fmt.Sprintf("shard %q", t.Shard)
	}
	_, err := fmt.Fprintf(w, "\nTrace of %s, recorded %s (%s ago), %d requests\n",
		of, t.Recorded.Format(time.RFC3339), now.Sub(t.Recorded).Round(time.Second), len(t.Requests))
	for _, r := range t.Requests {
		if err == nil {
			_, err = fmt.Fprintf(w, "  %-6s  %s\n", r.Side, report.Printable(r.Name()))
		}
	}
	return err
}

// WriteFiles writes which files of the repository the task of a trace read, as the state remembers
// them. Why says that the state does not; "" if it does.
func WriteFiles(w io.Writer, id files.ID, read files.List, why string) error {
	_, isAll := id.AllDigest()
	switch {
	case isAll:
		_, err := fmt.Fprintln(w, "All files of the repository count, since nobody recorded which of them it read")
		return err
	case id == files.Declared:
		_, err := fmt.Fprintln(w, "The files count that the settings declare")
		return err
	case !id.IsRecorded():
		return nil
	case why != "":
		_, err := fmt.Fprintf(w, "The list of the files that it read cannot be shown: %s\n", report.Printable(why))
		return err
	}
	_, err := fmt.Fprintf(w, "It used %d names of the repository:\n", len(read))
	for _, r := range read {
		if err == nil {
			_, err = fmt.Fprintf(w, "  %-6s  %s\n", how(r), report.Printable(r.Path))
		}
	}
	return err
}

// how says how a task used a name: it read a file, listed a folder, asked for a folder, looked for something
// in vain, or asked git.
func how(r files.Read) string {
	kind, _, _ := strings.Cut(r.Found, " ")
	switch {
	case r.Lists:
		return "list"
	case kind == "missing":
		return "vain"
	case kind == "folder":
		return "folder"
	case kind == "commit":
		return "git"
	}
	return "file"
}

// Suggest returns the definition of an integration as YAML, which allows only the schemas that
// its traces read and those that every definition must allow. Comments above it name the
// schemas that were never read, and the fields that were.
func Suggest(d integration.Definition, traces []*trace.Trace) (string, error) {
	read, whole := readFields(traces)
	schemas := slices.Sorted(maps.Keys(read))
	definition, err := d.NarrowedYAML(schemas)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	runs := "1 remembered run"
	if len(traces) != 1 {
		runs = fmt.Sprintf("%d remembered runs", len(traces))
	}
	fmt.Fprintf(&out, "# %s: what was read in %s\n", report.Printable(d.Name), runs)
	if !whole {
		out.WriteString("# of single shards only; other shards may need more\n")
	}
	for _, s := range d.Schemas {
		if read[s] == nil && !slices.Contains(integration.RequiredSchemas(), s) {
			fmt.Fprintf(&out, "# never read: %s\n", report.Printable(string(s)))
		}
	}
	for _, s := range schemas {
		fmt.Fprintf(&out, "# read of %s: %s\n", report.Printable(string(s)),
			report.Printable(strings.Join(slices.Sorted(maps.Keys(read[s])), ", ")))
	}
	out.Write(definition)
	return out.String(), nil
}

// readFields returns the fields that traces read, by schema, and whether one of the traces is
// of all shards.
func readFields(traces []*trace.Trace) (read map[bundle.SchemaPath]map[string]bool, whole bool) {
	read = map[bundle.SchemaPath]map[string]bool{}
	for _, t := range traces {
		whole = whole || t.Shard == ""
		for _, s := range t.Schemas {
			if read[s] == nil {
				read[s] = map[string]bool{}
			}
			for _, f := range t.Fields[s] {
				read[s][f] = true
			}
		}
	}
	return read, whole
}
