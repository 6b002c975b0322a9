package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/plan"
)

// Bounds of the changed files.
const (
	maxFields     = 100      // fields per file
	maxDiffLines  = 400      // lines per resource
	maxShownValue = 16 << 10 // bytes per value, in case the maker of the contents did not bound it
	manyFiles     = 20       // with more changed files, each of them links to fewer integrations
)

// A changedFile is one changed file as the page shows it. Woke and Seen are links
// to integrations: Woke to those that the file made run, Seen to the others that
// may read it.
type changedFile struct {
	ID, Path, Sort, Kind, Class, Schema, OldSchema string
	Fields                                         []changedField
	MoreFields                                     int
	Values                                         bool // the fields have values
	Diff                                           []diffLine
	Note                                           string
	Woke, Seen                                     []value
	MoreWoke, MoreSeen                             int
}

// A changedField is one changed field as the page shows it.
type changedField struct {
	ID, Pointer, Kind, Class string
	Old, New                 string
	HasOld, HasNew, Moved    bool
}

// A diffLine is one line of a unified diff. Its class is "add", "del", "hunk" or "".
type diffLine struct{ Class, Text string }

// A fileIndex holds all changed files and links them with the integrations, in
// both directions.
type fileIndex struct {
	files          []changedFile
	byPath         map[string]int            // index into files; of a datafile, if a resource has the same path
	fieldByPointer map[string]map[string]int // index into the fields of a file, by path and pointer
	maxLinks       int                       // integrations to which one file links
	log            func(task string) string  // returns the address of the log of a task, or ""; may be nil
}

func newFileIndex(page Page) *fileIndex {
	c := page.Plan.Changes
	x := &fileIndex{byPath: map[string]int{}, fieldByPointer: map[string]map[string]int{}, maxLinks: 60, log: page.Log}
	if len(c.Datafiles)+len(c.Resources) > manyFiles {
		x.maxLinks = 12
	}
	for _, d := range c.Datafiles {
		x.addFile(d.Path, x.newDatafile(d, page.Contents))
	}
	for _, r := range c.Resources {
		x.addFile(r.Path, newResource(r, page.Contents))
	}
	for i, d := range page.Plan.Integrations {
		if i < len(page.Report.Integrations) {
			x.linkIntegration(d)
		}
	}
	return x
}

// addFile adds a file and gives ids to the file and its fields.
func (x *fileIndex) addFile(path string, f changedFile) {
	f.ID = fmt.Sprintf("file-%d", len(x.files)+1)
	for i := range f.Fields {
		f.Fields[i].ID = fmt.Sprintf("%s-field-%d", f.ID, i+1)
	}
	if _, taken := x.byPath[path]; !taken {
		x.byPath[path] = len(x.files)
	}
	x.files = append(x.files, f)
}

// newDatafile returns a changed datafile with its fields, and with their values if
// these are known.
func (x *fileIndex) newDatafile(d plan.Datafile, contents *Contents) changedFile {
	f := changedFile{Path: visibleText(d.Path), Sort: "datafile", Kind: cleanLine(string(d.Kind)), Class: cssClass(d.Kind),
		Schema: cleanLine(d.Schema), OldSchema: cleanLine(d.OldSchema)}
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
		f.Fields = append(f.Fields, newChangedField(field, known))
	}
	if x.fieldByPointer[d.Path] == nil {
		x.fieldByPointer[d.Path] = at
	}
	return f
}

// newChangedField returns a changed field, with its values if these are known.
func newChangedField(d Field, known bool) changedField {
	f := changedField{Pointer: cleanLine(d.Pointer), Kind: cleanLine(string(d.Kind)), Class: cssClass(d.Kind),
		Moved: d.Moved}
	if f.Pointer == "" {
		f.Pointer = "(the whole file)"
	}
	if known {
		f.HasOld, f.HasNew = d.Kind != plan.Added, d.Kind != plan.Removed
		f.Old, f.New = cleanValue(d.Old), cleanValue(d.New)
	}
	return f
}

// cleanValue returns a value of several lines without control characters, bounded
// in length.
func cleanValue(text string) string {
	if len(text) > maxShownValue {
		text = text[:maxShownValue] + "…"
	}
	return cleanBlock(text)
}

// newResource returns a changed resource with its diff, if this is known.
func newResource(r plan.Resource, contents *Contents) changedFile {
	f := changedFile{Path: visibleText(r.Path), Sort: "resource", Kind: cleanLine(string(r.Kind)), Class: cssClass(r.Kind),
		Schema: cleanLine(r.Schema)}
	if contents == nil {
		return f
	}
	diff, known := contents.Resources[r.Path]
	if !known {
		f.Note = "Its content is left out, since this report would become too large."
		return f
	}
	if strings.HasPrefix(diff, "(") {
		f.Note = cleanLine(diff)
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

// newDiffLine returns a line of a diff with the class that follows from its first
// character. That is read before the line is cleaned.
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
	return diffLine{classes[sign], strings.ReplaceAll(cleanBlock(text), "\n", " ")}
}

// linkIntegration adds a link to an integration at each file of its evidence. The
// files that made it run are those in which its queries read a changed field, or
// all files of the evidence if there is no such field; and its definition.
func (x *fileIndex) linkIntegration(d plan.Decision) {
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
	link := value{Text: visibleText(d.Name), Href: "#" + anchor(d.Name)}
	for _, path := range slices.Compact(concerned) {
		i, ok := x.byPath[path]
		if !ok {
			continue
		}
		f := &x.files[i]
		if d.Decision != plan.Skip && (len(causes) == 0 || causes[path] || slices.Contains(d.Evidence.Definition, path)) {
			f.Woke, f.MoreWoke = x.addLink(f.Woke, f.MoreWoke, link)
		} else {
			f.Seen, f.MoreSeen = x.addLink(f.Seen, f.MoreSeen, link)
		}
	}
}

// addLink appends a link, or only counts it if the list is full.
func (x *fileIndex) addLink(links []value, more int, link value) ([]value, int) {
	if len(links) < x.maxLinks {
		return append(links, link), more
	}
	return links, more + 1
}

// linkPaths returns paths, each with a link to its file if the file changed.
func (x *fileIndex) linkPaths(paths []string) []value {
	var out []value
	for _, path := range paths {
		v := value{Text: visibleText(path), Code: true}
		if i, ok := x.byPath[path]; ok {
			v.Href = "#" + x.files[i].ID
		}
		out = append(out, v)
	}
	return out
}

// linkFields returns fields, written as PATH#POINTER, each with a link to the field
// or at least to its file.
func (x *fileIndex) linkFields(fields []string) []value {
	var out []value
	for _, text := range fields {
		v := value{Text: visibleText(text), Code: true}
		path, pointer, _ := strings.Cut(text, "#")
		if i, ok := x.byPath[path]; ok {
			v.Href = "#" + x.files[i].ID
			if n, ok := x.fieldByPointer[path][pointer]; ok {
				v.Href = "#" + x.files[i].Fields[n].ID
			}
		}
		out = append(out, v)
	}
	return out
}
