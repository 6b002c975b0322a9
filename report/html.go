package report

import (
	"crypto/sha256"
	"embed"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
)

// A Page is the input of [HTML].
type Page struct {
	Plan     *plan.Plan // the plan of the report
	Report   *Report
	Contents *Contents // nil if the bundles are not at hand
	// Log returns the address of the log of a task: a path relative to the page, or an
	// address of http or https. It returns "" if there is none. Nil means no links.
	Log     func(task string) string
	Running *Running // what to say of a run that has not ended; nil if it has
	// Approvals says who must approve the change; nil if base has no change types.
	Approvals *Approvals
}

// Approvals says who must approve a change.
type Approvals struct {
	Summary string
	Places  []Approval
	Advice  []string // whom to ask, and what nobody may approve
}

// An Approval is a place of a file, and who may approve what changes there.
type Approval struct{ File, Place, Change, Who string }

// Contents are the values of changed fields and the diffs of changed resources,
// which a plan does not have. Their maker bounds all texts, and may leave out
// files.
type Contents struct {
	Datafiles map[string][]Field // by path, sorted by pointer
	Resources map[string]string  // unified diffs, by path
}

// A Field is one changed field with its values as JSON text.
type Field struct {
	Pointer  string
	Kind     plan.Kind // plan.Added, plan.Removed or plan.Modified
	Moved    bool      // the field is a list whose items only changed their order
	Old, New string    // "" on a side that does not have the field
}

//go:embed html
var assets embed.FS

// pageTemplate is read when it is first used, since few commands write a page.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.ParseFS(assets, "html/*.gohtml"))
})

// HTML writes a report as one HTML file. The file contains its styles and its
// script, and its content security policy allows nothing else. It can be read
// without the script, which only filters, sorts and opens rows.
func HTML(w io.Writer, page Page) error {
	v := newPageView(page)
	style, err := readAsset("style.css")
	if err != nil {
		return err
	}
	early, err := readAsset("early.js")
	if err != nil {
		return err
	}
	script, err := readAsset("script.js")
	if err != nil {
		return err
	}
	v.Policy = pagePolicy(style, early, script) + v.Connect
	// Our own styles and scripts are not escaped: the policy holds hashes of their bytes.
	v.Style = template.HTML("<style>" + style + "</style>")
	v.Early = template.HTML("<script>" + early + "</script>")
	v.Script = template.HTML("<script>" + script + "</script>")
	return pageTemplate().ExecuteTemplate(w, "page.gohtml", v)
}

// pagePolicy returns the content security policy of a page with a style and two scripts.
func pagePolicy(style, early, script string) string {
	return "default-src 'none'; style-src " + policyHash(style) + "; script-src " + policyHash(early) + " " +
		policyHash(script) + "; img-src data:; base-uri 'none'; form-action 'none'"
}

// LivePolicy returns the content security policy of a page that hears from its server.
func LivePolicy() (string, error) {
	var assets [3]string
	for i, name := range []string{"style.css", "early.js", "script.js"} {
		var err error
		if assets[i], err = readAsset(name); err != nil {
			return "", err
		}
	}
	return pagePolicy(assets[0], assets[1], assets[2]) + liveConnect, nil
}

// liveConnect lets a page hear from its server.
const liveConnect = "; connect-src 'self'"

// readAsset returns an embedded file of the folder html.
func readAsset(name string) (string, error) {
	raw, err := assets.ReadFile("html/" + name)
	return string(raw), err
}

// policyHash returns the hash that allows a style or a script in a content
// security policy.
func policyHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

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
	Effects                                        []value // to which the file leads
	MoreEffects                                    int
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
	effectsOf      map[string]int            // how many effects on the page an integration has
	effectsBefore  int                       // on the page already
}

func newFileIndex(page Page) *fileIndex {
	c := page.Plan.Changes
	x := &fileIndex{byPath: map[string]int{}, fieldByPointer: map[string]map[string]int{}, maxLinks: 60, log: page.Log,
		effectsOf: map[string]int{}}
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

// A failureCard is one task that did not pass.
type failureCard struct {
	ID, Name, Result, Details, Tail, Class string
	Why                                    string // why it was checked
	Causes                                 []value
	Log                                    value
	Open                                   bool // the tail is shown from the start
	Integration                            value
	Others                                 []value // tasks that failed with the same cause
	MoreOthers                             int
	Findings                               findingList
}

// newFailureCards returns one card for all tasks that did not pass with the same cause, and
// the number of tasks that no card shows. The ids of the cards begin with name.
func (x *fileIndex) newFailureCards(name string, rep *Report, tasks []TaskResult) ([]failureCard, int) {
	groups := GroupFailures(tasks)
	more := 0
	for _, group := range groups[min(len(groups), maxFailures):] {
		more += len(group)
	}
	var out []failureCard
	for i, group := range groups[:min(len(groups), maxFailures)] {
		t, in := group[0], rep.integration(group[0])
		card := failureCard{
			ID: fmt.Sprintf("%s-%d", name, i+1), Name: visibleText(t.Task), Result: describeResult(t),
			Class:   cssClass(outcome(t)),
			Details: strings.Join(append(describeEffort(t), t.OtherRuns()...), ", "), Log: x.logValue(t),
			Tail:     cleanBlock(t.Tail),
			Findings: newFindingList(t), Open: i < maxOpen, Integration: value{Text: visibleText(t.Integration),
				Href: "#" + anchor(t.Integration)}, Why: cleanLine(in.Reason),
		}
		for _, cause := range in.Causes {
			card.Causes = append(card.Causes, x.causeValues(cause)...)
		}
		for _, other := range group[1:min(len(group), maxAlikeCards+1)] {
			card.Others = append(card.Others, value{Text: visibleText(other.Task), Href: "#" + anchor(other.Integration)})
		}
		card.MoreOthers = len(group) - 1 - len(card.Others)
		out = append(out, card)
	}
	return out, more
}

// causeValues returns a changed file and its fields, with links to them.
func (x *fileIndex) causeValues(c Cause) []value {
	if len(c.Fields) == 0 {
		return x.linkPaths([]string{c.Path})
	}
	var fields []string
	for _, field := range c.Fields {
		fields = append(fields, c.Path+"#"+field)
	}
	return x.linkFields(fields)
}

// logValue returns the log of a task, with a link if there is one.
func (x *fileIndex) logValue(t TaskResult) value {
	v := value{Text: cleanLine(t.Log), Code: true}
	if v.Text != "" && x.log != nil {
		v.Href = x.log(t.Task)
	}
	return v
}

// The bounds of contents, in bytes.
const (
	maxValue    = 4 << 10  // of one value
	maxDiff     = 32 << 10 // of the diff of one resource
	maxContents = 8 << 20  // of all values and diffs together
)

// Hidden has the JSON pointers of the values in datafiles of base and head that no report may
// show, by path.
type Hidden struct{ Base, Head map[string][]string }

// NewContents returns the old and new values of changed fields, but for hidden ones, and the diffs
// of changed resources. Once they exceed the bound together, the other files are left
// out.
func NewContents(d *bundle.Diff, hidden Hidden) *Contents {
	c := &Contents{Datafiles: map[string][]Field{}, Resources: map[string]string{}}
	size := 0
	for _, change := range d.Datafiles {
		var fields []Field
		path := string(change.Path)
		for _, f := range change.Hide(hidden.Base[path], hidden.Head[path]).FieldDiffs(maxValue) {
			fields = append(fields, Field{Pointer: f.Pointer, Kind: plan.Kind(f.Kind.String()), Moved: f.Moved, Old: f.Old,
				New: f.New})
			size += len(f.Old) + len(f.New)
		}
		if size > maxContents {
			return c
		}
		c.Datafiles[path] = fields
	}
	for _, change := range d.Resources {
		diff := change.TextDiff(maxDiff)
		if size += len(diff); size > maxContents {
			return c
		}
		c.Resources[string(change.Path)] = diff
	}
	return c
}

//go:embed html/plain.gohtml
var plainText string

var plainPage = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("plain").Parse(plainText))
})

// WritePage writes an HTML file in the style of the report. The page contains its styles,
// and its content security policy allows nothing else. The body must be safe HTML.
func WritePage(w io.Writer, title string, body template.HTML) error {
	style, err := readAsset("style.css")
	if err != nil {
		return err
	}
	return plainPage().Execute(w, struct {
		Title, Policy string
		Style, Body   template.HTML
	}{
		Title: title, Body: body,
		Policy: "default-src 'none'; style-src " + policyHash(style) + "; img-src data:; base-uri 'none'; form-action 'none'",
		// Our own styles are not escaped: the policy holds the hash of their bytes.
		Style: template.HTML("<style>" + style + "</style>"), //nolint:gosec // our own
	})
}
