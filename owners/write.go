package owners

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/app-sre/prcheck/internal/markdown"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/internal/sanitize"
)

// WriteJSON writes a [Report] or a [Lint] for programs.
func WriteJSON(w io.Writer, r any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// WriteText writes a report for a terminal.
func WriteText(w io.Writer, r *Report) error {
	t := &texts{w: w}
	t.line("%s", Summary(r))
	for i, p := range r.Places {
		if i == 0 || head(p) != head(r.Places[i-1]) {
			t.line("")
			t.line("%s", head(p))
		}
		t.line("  %-11s%-*s  %s", p.Change, widest(r.Places, p.File), sanitize.Line(at(p)), sanitize.Line(who(p)))
	}
	if len(r.Places) > 0 {
		t.line("")
	}
	for _, text := range Advice(r) {
		t.line("%s", sanitize.Line(text))
	}
	for _, f := range r.Findings {
		t.line("%s", sanitize.Line(finding(f)))
	}
	return t.err
}

// WriteMarkdown writes a report as Markdown.
func WriteMarkdown(w io.Writer, r *Report) error {
	t := &texts{w: w}
	t.line("%s", Summary(r))
	if len(r.Places) > 0 {
		t.line("")
		t.line("| file | place | change | who may approve |")
		t.line("|---|---|---|---|")
	}
	for _, p := range r.Places {
		t.line("| %s | %s | %s | %s |", markdown.Code(p.File), markdown.Code(at(p)), p.Change, markdown.Escape(who(p)))
	}
	if len(r.Places) > 0 {
		t.line("")
	}
	for _, text := range Advice(r) {
		t.line("- %s", markdown.Escape(text))
	}
	for _, f := range r.Findings {
		t.line("- %s", markdown.Escape(finding(f)))
	}
	return t.err
}

// WriteExplanation writes why who may approve one place. It is not ok if nothing differs there.
func WriteExplanation(w io.Writer, r *Report, name string) (ok bool, err error) {
	t := &texts{w: w}
	for _, p := range r.Places {
		if p.Name() != name {
			continue
		}
		ok = true
		t.line("%s", head(p))
		t.line("  %-11s%s", p.Change, sanitize.Line(at(p)))
		for _, o := range p.Owners {
			t.owner(o)
		}
		if p.Why != "" {
			t.line("  %s: %s", p.Status, sanitize.Line(p.Why))
		}
	}
	return ok, t.err
}

// texts writes lines up to the first error.
type texts struct {
	w   io.Writer
	err error
}

func (t *texts) line(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintln(t.w, strings.TrimRight(fmt.Sprintf(format, args...), " "))
	}
}

// owner writes the chain from a place to people.
func (t *texts) owner(o Owner) {
	line := func(what, format string, args ...any) {
		t.line("    %-13s%s", what, sanitize.Line(fmt.Sprintf(format, args...)))
	}
	t.line("")
	switch {
	case o.Base == o.Head && o.Head != "":
		line("selector", "%s", o.Head)
	case o.Base != "" && o.Head != "":
		line("selectors", "%s in base, %s in head", o.Base, o.Head)
	case o.Base+o.Head != "":
		line("selector", "%s", o.Base+o.Head)
	}
	state := ""
	if o.IsDisabled {
		state = ", which is disabled"
	}
	if o.IsRestrictive {
		state += ", which is restrictive"
	}
	line("change type", "%s%s", o.Type, state)
	line("context", "%s", o.File)
	if o.Bound != o.Type || o.BoundFile != o.File {
		line("bound", "%s to %s", o.Bound, o.BoundFile)
	}
	line("role", "%s", strings.TrimSpace(o.Role+" "+o.RoleFile))
	line("people", "%s", peopleOf(o))
	for _, where := range o.Reach {
		line("reach", "%s", where)
	}
}

// peopleOf names the people of an owner.
func peopleOf(o Owner) string {
	all := append([]string{}, o.People...)
	for _, u := range o.Unknown {
		all = append(all, "unknown: "+u)
	}
	return strings.Join(all, ", ")
}

// maxWidth is how wide the column of places may be.
const maxWidth = 40

// widest returns the width of the places of a file.
func widest(places []AskedPlace, file string) int {
	width := 0
	for _, p := range places {
		if p.File == file {
			width = max(width, len(sanitize.Line(at(p))))
		}
	}
	return min(width, maxWidth)
}

func head(p AskedPlace) string {
	text := p.File
	if p.Schema != "" {
		text += " (" + p.Schema + ")"
	}
	if p.Moved != "" {
		text += map[bool]string{true: ", moved to ", false: ", moved from "}[p.Change == "removed"] + p.Moved
	}
	return sanitize.Line(text)
}

func at(p AskedPlace) string {
	switch {
	case p.Change == "text":
		return "the text alone"
	case p.From != "":
		return p.Place + " (was " + p.From + ")"
	}
	return p.Place
}

// who says who may approve a place: roles with their people.
func who(p AskedPlace) string {
	if p.Status != Owned {
		return string(p.Status) + ": " + p.Why
	}
	var out []string
	for _, o := range p.Owners {
		text := o.Role + ": " + peopleOf(o)
		if o.IsDisabled || len(o.People)+len(o.Unknown) == 0 || len(out) > 0 && out[len(out)-1] == text {
			continue
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// A Row is a place of a report for people.
type Row struct{ File, Place, Change, Who string }

// Rows returns the places of a report, each with who may approve it.
func Rows(r *Report) (out []Row) {
	for _, p := range r.Places {
		out = append(out, Row{p.File, at(p), p.Change, who(p)})
	}
	return out
}

// Summary says in one sentence how many places must be approved, and of how many that is not possible.
func Summary(r *Report) string {
	if len(r.Places) == 0 {
		return "No content differs: nobody must approve anything."
	}
	text := phrase.Count(len(r.Places), "place") + " must be approved"
	if n := len(r.Ask.Nobody); n > 0 {
		text += fmt.Sprintf(", %d of them by nobody whom base names", n)
	}
	if n := len(r.Ask.Unknown); n > 0 {
		text += fmt.Sprintf(", of %d it is unknown by whom", n)
	}
	return text + "."
}

// Advice says whom to ask, and what nobody may approve.
func Advice(r *Report) []string {
	var out []string
	if len(r.Ask.Sets) > 0 {
		var sets []string
		for _, s := range r.Ask.Sets {
			sets = append(sets, strings.Join(s, " and "))
		}
		text := "Ask " + strings.Join(sets, ", or ") + "."
		if r.Ask.AtLeast < r.Ask.Size {
			text += fmt.Sprintf(" Perhaps fewer people are enough: %d at least.", r.Ask.AtLeast)
		}
		out = append(out, text)
	}
	for _, name := range r.Ask.Nobody {
		out = append(out, "Nobody may approve "+name+".")
	}
	return out
}

func finding(f Finding) string { return f.Side + ": " + f.File + f.Pointer + ": " + f.Text }
