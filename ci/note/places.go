package note

import (
	"fmt"
	"slices"
	"strings"

	md "github.com/app-sre/prcheck/internal/markdown"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
)

// The bounds of the changes that are shown for one task.
const (
	maxPlaces = 3 // files
	maxFields = 3 // fields of each file
)

// listPlaces returns the changes that made a task run: files, and the changed
// fields in them.
func (n Note) listPlaces(d plan.Decision) string {
	var files []string
	fields := map[string][]string{}
	add := func(file string, more ...string) {
		if !slices.Contains(files, file) {
			files = append(files, file)
		}
		for _, field := range more {
			if !slices.Contains(fields[file], field) {
				fields[file] = append(fields[file], field)
			}
		}
	}
	for _, q := range d.Evidence.Queries {
		for _, at := range q.Fields {
			file, field, _ := strings.Cut(at, "#")
			add(file, field)
		}
	}
	for _, file := range d.Evidence.Paths {
		if len(fields) == 0 || !slices.Contains(files, file) {
			add(file, n.changedFields(file)...)
		}
	}
	if len(d.Evidence.Fields) > 0 {
		for _, file := range d.Evidence.Definition {
			add(file, d.Evidence.Fields...)
		}
	}
	var out []string
	for _, file := range files[:min(len(files), maxPlaces)] {
		out = append(out, showName(file)+joinSome(fields[file], " at ", maxFields))
	}
	if more := len(files) - maxPlaces; more > 0 {
		out = append(out, fmt.Sprintf("and %s", phrase.Count(more, "more file")))
	}
	return strings.Join(out, ", ")
}

// joinSome returns a word and the first few values behind it, or "" if there is no
// value.
func joinSome(values []string, word string, most int) string {
	var out []string
	for _, value := range values {
		if text := md.Code(value); text != "" {
			out = append(out, text)
		}
	}
	if len(out) == 0 {
		return ""
	}
	if more := len(out) - most; more > 0 {
		return word + strings.Join(out[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return word + strings.Join(out, ", ")
}

// changedFields returns the changed fields of a datafile.
func (n Note) changedFields(path string) []string {
	for _, file := range n.Plan.Changes.Datafiles {
		if file.Path == path {
			return file.Fields
		}
	}
	return nil
}
