package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/plan"
)

// Bounds of the changed files.
const (
	maxFields    = 100      // per file
	maxDiffLines = 400      // per resource
	maxShown     = 16 << 10 // bytes of a value, in case nobody bounded it
	manyFiles    = 100      // from here on a file links to fewer integrations
)

// A file is one changed file as the page shows it.
type file struct {
	ID, Path, Sort, Kind, Class, Schema, OldSchema string
	Fields                                         []field
	MoreFields                                     int
	Values                                         bool // the fields have values
	Diff                                           []diffLine
	Note                                           string
	Woke, Seen                                     []value
	MoreWoke, MoreSeen                             int
}

// A field is one changed field.
type field struct {
	ID, Pointer, Kind, Class string
	Old, New                 string
	HasOld, HasNew, Moved    bool
}

// A diffLine is one line of a unified diff: "add", "del", "hunk" or "".
type diffLine struct{ Class, Text string }

// An index knows all changed files and links them with the integrations, both
// ways.
type index struct {
	files []file
	at    map[string]int            // by path; a datafile goes before a resource
	field map[string]map[string]int // by path and pointer
	limit int
}

func newIndex(page Page) *index {
	c := page.Plan.Changes
	x := &index{at: map[string]int{}, field: map[string]map[string]int{}, limit: 60}
	if len(c.Datafiles)+len(c.Resources) > manyFiles {
		x.limit = 12
	}
	for _, d := range c.Datafiles {
		x.add(d.Path, x.datafile(d, page.Contents))
	}
	for _, r := range c.Resources {
		x.add(r.Path, resource(r, page.Contents))
	}
	for i, d := range page.Plan.Integrations {
		if i < len(page.Report.Integrations) {
			x.link(d)
		}
	}
	return x
}

func (x *index) add(path string, f file) {
	f.ID = fmt.Sprintf("file-%d", len(x.files)+1)
	for i := range f.Fields {
		f.Fields[i].ID = fmt.Sprintf("%s-field-%d", f.ID, i+1)
	}
	if _, taken := x.at[path]; !taken {
		x.at[path] = len(x.files)
	}
	x.files = append(x.files, f)
}

func (x *index) datafile(d plan.Datafile, contents *Contents) file {
	f := file{Path: shown(d.Path), Sort: "datafile", Kind: line(string(d.Kind)), Class: class(d.Kind), Schema: line(d.Schema), OldSchema: line(d.OldSchema)}
	fields, known := []Field(nil), false
	if contents != nil {
		fields, known = contents.Datafiles[d.Path]
	}
	if !known {
		for _, pointer := range d.Fields {
			fields = append(fields, Field{Pointer: pointer, Kind: plan.Modified})
		}
		if contents != nil {
			f.Note = "Its values are left out, since this report would become too large."
		}
	}
	f.Values = known
	f.MoreFields = max(0, len(fields)-maxFields)
	at := map[string]int{}
	for i, field := range fields[:len(fields)-f.MoreFields] {
		at[field.Pointer] = i
		f.Fields = append(f.Fields, newField(field, known))
	}
	if x.field[d.Path] == nil {
		x.field[d.Path] = at
	}
	return f
}

func newField(d Field, known bool) field {
	f := field{Pointer: line(d.Pointer), Kind: line(string(d.Kind)), Class: class(d.Kind), Moved: d.Moved}
	if f.Pointer == "" {
		f.Pointer = "(the whole file)"
	}
	if known {
		f.HasOld, f.HasNew = d.Kind != plan.Added, d.Kind != plan.Removed
		f.Old, f.New = bounded(d.Old), bounded(d.New)
	}
	return f
}

// bounded makes a text of several lines harmless, and not too long.
func bounded(text string) string {
	if len(text) > maxShown {
		text = text[:maxShown] + "…"
	}
	return block(text)
}

func resource(r plan.Resource, contents *Contents) file {
	f := file{Path: shown(r.Path), Sort: "resource", Kind: line(string(r.Kind)), Class: class(r.Kind), Schema: line(r.Schema)}
	if contents == nil {
		return f
	}
	diff, known := contents.Resources[r.Path]
	if !known {
		f.Note = "Its content is left out, since this report would become too large."
		return f
	}
	if strings.HasPrefix(diff, "(") {
		f.Note = line(diff)
		return f
	}
	for text := range strings.SplitSeq(diff, "\n") {
		if len(f.Diff) == maxDiffLines {
			f.Note = fmt.Sprintf("Only the first %d lines are shown.", maxDiffLines)
			break
		}
		f.Diff = append(f.Diff, newDiffLine(text))
	}
	return f
}

// newDiffLine reads the sign of a line before the line is made harmless.
func newDiffLine(text string) diffLine {
	classes := map[string]string{"+": "add", "-": "del", "@": "hunk"}
	sign := ""
	if text != "" {
		sign = text[:1]
	}
	const most = 2000
	if len(text) > most {
		text = text[:most] + "…"
	}
	return diffLine{classes[sign], strings.ReplaceAll(block(text), "\n", " ")}
}

// link notes at each file which integration it concerns. An integration that
// runs was woken by the files in which its queries read a change; when there is
// none, by those that it may read.
func (x *index) link(d plan.Decision) {
	causes := map[string]bool{}
	for _, q := range d.Evidence.Queries {
		for _, f := range q.Fields {
			path, _, _ := strings.Cut(f, "#")
			causes[path] = true
		}
	}
	concerned := slices.Concat(d.Evidence.Paths, d.Evidence.Definition)
	for path := range causes {
		concerned = append(concerned, path)
	}
	slices.Sort(concerned)
	link := value{Text: shown(d.Name), Href: "#" + anchor(d.Name)}
	for _, path := range slices.Compact(concerned) {
		i, ok := x.at[path]
		if !ok {
			continue
		}
		f := &x.files[i]
		if d.Decision != plan.Skip && (len(causes) == 0 || causes[path] || slices.Contains(d.Evidence.Definition, path)) {
			f.Woke, f.MoreWoke = x.append(f.Woke, f.MoreWoke, link)
		} else {
			f.Seen, f.MoreSeen = x.append(f.Seen, f.MoreSeen, link)
		}
	}
}

// append adds a link, or counts it when there are enough.
func (x *index) append(links []value, more int, link value) ([]value, int) {
	if len(links) < x.limit {
		return append(links, link), more
	}
	return links, more + 1
}

// paths returns paths with links to their files, if they changed.
func (x *index) paths(paths []string) []value {
	var out []value
	for _, path := range paths {
		v := value{Text: shown(path), Code: true}
		if i, ok := x.at[path]; ok {
			v.Href = "#" + x.files[i].ID
		}
		out = append(out, v)
	}
	return out
}

// fields returns fields, written as PATH#POINTER, with links to them.
func (x *index) fields(fields []string) []value {
	var out []value
	for _, text := range fields {
		v := value{Text: shown(text), Code: true}
		path, pointer, _ := strings.Cut(text, "#")
		if i, ok := x.at[path]; ok {
			v.Href = "#" + x.files[i].ID
			if n, ok := x.field[path][pointer]; ok {
				v.Href = "#" + x.files[i].Fields[n].ID
			}
		}
		out = append(out, v)
	}
	return out
}
