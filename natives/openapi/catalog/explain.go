package catalog

import (
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/natives/openapi/classes"
)

// Text writes the page of a property, and how to correct it.
func (page *PropertyPage) Text(w io.Writer) error {
	p := printer{w: w}
	path := page.Path
	if path == "" {
		path = "(the whole body)"
	}
	p.line("%s  %s", page.Type, path)
	p.field("pattern", page.Pattern)
	p.field("type", page.Property.Type)
	if page.Required {
		p.field("required", "yes")
	}
	p.value("values", page.Enum)
	p.field("in", "GET "+string(page.In.Get)+", PUT "+string(page.In.Put)+", POST "+string(page.In.Post)+", PATCH "+
		string(page.In.Patch))
	if page.Path != "" {
		p.field("class", page.Class)
	}
	for _, c := range classesOf {
		if g := c.ground(page.Property); g != nil {
			p.field(c.title, line(g))
		}
	}
	page.details(&p)
	if page.Description != "" {
		p.field("description", page.Description)
	}
	if page.Path == "" {
		return p.err
	}
	p.line("")
	p.line("If this is wrong, correct it with an entry of an override file:")
	p.line("  %s", page.entry())
	return p.err
}

func (page *PropertyPage) details(p *printer) {
	if page.Masked {
		p.field("masked", "its name looks like that of a secret; its value is shown nowhere")
	}
	if l := page.List; l != nil {
		p.field("list", listText(l)+": "+line(&l.Ground))
	}
	if f := page.Format; f != nil {
		p.field("compared as", f.Name+": "+line(&f.Ground))
	}
	if d := page.Default; d != nil {
		p.value("default", d.Value)
		use := "shown only: nothing says that the service sets it"
		if d.Applies {
			use = "the service sets it"
		}
		p.field("", use+": "+line(&d.Ground))
	}
	if page.Cyclic {
		p.field("holds itself", "it holds an object of a kind that it stands in")
	}
	if v := page.Variants; v != nil {
		p.field("variants", "by "+v.Field)
		var names []string
		for value := range v.Values {
			names = append(names, value)
		}
		slices.Sort(names)
		for _, value := range names {
			p.line("    %s: %s", value, strings.Join(v.Values[value], ", "))
		}
	}
}

// line says who gives a property a class.
func line(g *classes.Ground) string {
	text := string(g.Source) + ": " + g.Text
	if g.Place != "" {
		text += ", at " + g.Place
	}
	if g.From != "" {
		text += ", inherited from " + g.From
	}
	return text
}

// value writes a JSON value in one line.
func (p *printer) value(name string, v json.Marshaler) {
	raw, err := v.MarshalJSON()
	if err == nil && string(raw) != "null" {
		p.field(name, string(raw))
	}
}

// entry returns an entry of an override file that says the contrary of the class.
func (page *PropertyPage) entry() string {
	class := "mutable"
	if page.Class == "mutable" {
		class = "createOnly"
	}
	raw, err := json.Marshal(struct {
		Type   string `json:"type"`
		Path   string `json:"path"`
		Class  string `json:"class"`
		Reason string `json:"reason"`
	}{page.Type, page.Path, class, "how you know"})
	if err != nil {
		return ""
	}
	return string(raw)
}
