package catalog

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// JSON writes a page as JSON.
func JSON(w io.Writer, page any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(page)
}

// A printer writes lines, and remembers the first error.
type printer struct {
	w   io.Writer
	err error
}

// line writes one line. Its text may be foreign.
func (p *printer) line(format string, args ...any) {
	if p.err != nil {
		return
	}
	text := fmt.Sprintf(format, args...)
	indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
	_, p.err = io.WriteString(p.w, strings.TrimRight(indent+clean(text[len(indent):]), " ")+"\n")
}

// clean makes foreign text safe, and keeps the blanks between columns.
func clean(text string) string {
	return strings.Join(strings.FieldsFunc(sanitize.Text(text), func(r rune) bool { return r == '\n' || r == '\t' }), " ")
}

// Text writes a tree, one type in a line.
func (tree *Tree) Text(w io.Writer) error {
	p := printer{w: w}
	if len(tree.Types) == 0 {
		p.line("no resource types")
	}
	for _, b := range tree.Types {
		text := strings.Repeat("  ", b.level) + b.Type + "  " + strings.Join(b.Verbs, " ")
		if b.Singleton {
			text += ", singleton"
		}
		if len(b.Joins) > 0 {
			text += ", joins " + strings.Join(b.Joins, " ")
		}
		p.line("%s", text)
	}
	return p.err
}

// Text writes a page: what the type is, then its properties by class.
func (p *Page) Text(w io.Writer) error {
	out := printer{w: w}
	out.line("%s", p.Type)
	out.field("family", p.Family)
	out.field("file", p.File)
	out.field("address", p.Address)
	for _, other := range p.Also {
		out.field("also at", other)
	}
	out.field("parent", p.Parent)
	out.field("joins", strings.Join(p.Joins, ", "))
	if p.Singleton {
		out.field("singleton", "there is one in its parent")
	}
	out.field("verbs", strings.Join(p.Verbs, ", "))
	out.field("created by", p.CreateBy)
	out.field("kind of PATCH", patchText[p.PatchKind])
	out.field("", strings.Join(p.PatchMedia, ", "))
	if p.PatchRule != nil {
		out.field("", p.PatchRule.Kind+": "+line(&p.PatchRule.Ground))
	}
	for _, s := range p.Styles {
		out.field(strings.ToUpper(s.Verb), s.text())
	}
	for _, c := range classesOf {
		out.properties(c.title, p.of(c.ground), c.ground)
	}
	out.lists(p.Properties)
	if p.IsCut {
		out.line("")
		out.line("There are more properties than are listed. reconciler api explain knows them all.")
	}
	return out.err
}

// patchText says in words what PATCH can do.
var patchText = map[resources.PatchKind]string{
	resources.PatchNone:      "none",
	resources.PatchOpaque:    "opaque: it takes any object and does not say which properties",
	resources.PatchSameAsPut: "same-as-put: it takes what PUT takes, and is used only if an override says so",
	resources.PatchTagsOnly:  "tags-only: it takes tags",
	resources.PatchReal:      "real: it takes some properties of the resource itself",
	resources.PatchOther:     "other: it takes no property of the resource itself",
}

// classesOf are the classes in the order in which a page shows them.
var classesOf = []struct {
	title  string
	ground func(*classes.Property) *classes.Ground
}{
	{"create-only", func(p *classes.Property) *classes.Ground { return p.CreateOnly }},
	{"mutable", func(p *classes.Property) *classes.Ground { return p.Mutable }},
	{"read-only", func(p *classes.Property) *classes.Ground { return p.ReadOnly }},
	{"write-only", func(p *classes.Property) *classes.Ground { return p.WriteOnly }},
	{"secret", func(p *classes.Property) *classes.Ground { return p.Secret }},
	{"volatile", func(p *classes.Property) *classes.Ground { return p.Volatile }},
	{"one value", func(p *classes.Property) *classes.Ground { return p.Atomic }},
}

func (s Style) text() string {
	words := []string{"ends with its answer"}
	if s.LongRunning {
		words[0] = "long-running"
	}
	if s.FinalState != "" {
		words = append(words, "its result is at "+s.FinalState)
	}
	if s.Locks {
		words = append(words, "takes If-Match")
	}
	return strings.Join(words, ", ")
}

func (p *printer) field(name, value string) {
	if value != "" {
		p.line("  %-14s %s", name, value)
	}
}

func (p *printer) properties(title string, list []*classes.Property, ground func(*classes.Property) *classes.Ground) {
	if len(list) == 0 {
		return
	}
	p.line("")
	p.line("%s", title)
	for _, one := range list {
		p.line("  %s  (%s: %s)", one.Path, ground(one).Source, ground(one).Text)
	}
}

// lists writes the lists that have keys or are sets.
func (p *printer) lists(all []*classes.Property) {
	isFirst := true
	for _, one := range all {
		if one.List == nil || one.List.Kind == classes.Atomic {
			continue
		}
		if isFirst {
			isFirst = false
			p.line("")
			p.line("lists whose order does not count")
		}
		p.line("  %s  %s  (%s: %s)", one.Path, listText(one.List), one.List.Ground.Source, one.List.Ground.Text)
	}
}

func listText(l *classes.List) string {
	if l.Kind == classes.Map {
		return "by " + strings.Join(l.Keys, ", ")
	}
	return string(l.Kind)
}
