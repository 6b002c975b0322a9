package catalog

import (
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// A Page is what is known of one type.
type Page struct {
	Version int `json:"version"`
	Branch
	Also       []string            `json:"alsoAt,omitempty"` // other addresses of the type
	CreateBy   string              `json:"createBy"`         // "PUT", or POST on a collection
	PatchKind  resources.PatchKind `json:"patchKind"`        //
	PatchMedia []string            `json:"patchMedia,omitempty"`
	PatchRule  *classes.PatchRule  `json:"patch,omitempty"`
	Styles     []Style             `json:"operations"`
	// Properties are all that can be listed. IsCut says that there are more.
	Properties []*classes.Property `json:"properties"`
	IsCut      bool                `json:"cut,omitempty"`
}

// A Style says how an operation works.
type Style struct {
	Verb        string `json:"verb"`
	LongRunning bool   `json:"longRunning"`
	FinalState  string `json:"finalStateVia,omitempty"`
	Locks       bool   `json:"ifMatch"`
}

// NewPage returns the page of a type, the first of several addresses.
func NewPage(types []*resources.Type, overrides ...*classes.Overrides) (*Page, error) {
	t := types[0]
	p := &Page{Version: version, Branch: branch(t, 0), CreateBy: "PUT", Styles: []Style{}}
	for _, other := range types[1:] {
		p.Also = append(p.Also, other.Document.Name+" "+other.Path)
	}
	if path := t.CreatesByPost(); path != "" {
		p.CreateBy = "POST on " + path
	}
	if err := p.addOperations(t); err != nil {
		return nil, err
	}
	c, err := classes.New(t, overrides...)
	if err != nil {
		return nil, err
	}
	p.PatchRule = c.Patch()
	p.Properties, p.IsCut, err = c.All()
	return p, err
}

func (p *Page) addOperations(t *resources.Type) error {
	bodies, err := t.Bodies()
	if err != nil {
		return err
	}
	p.PatchMedia = bodies.PatchMedia
	if p.PatchKind, err = bodies.PatchKind(); err != nil {
		return err
	}
	styles, err := t.Styles()
	if err != nil {
		return err
	}
	for _, s := range styles {
		p.Styles = append(p.Styles, Style(s))
	}
	return nil
}

// of returns the properties with a class, without those that inherit it.
func (p *Page) of(ground func(*classes.Property) *classes.Ground) []*classes.Property {
	return slices.DeleteFunc(slices.Clone(p.Properties), func(one *classes.Property) bool {
		g := ground(one)
		return g == nil || g.From != ""
	})
}

// A PropertyPage is what is known of one property of a type.
type PropertyPage struct {
	Version int    `json:"version"`
	Type    string `json:"type"`
	Class   string `json:"class"` // readOnly, createOnly or mutable
	*classes.Property
	In Bodies `json:"in"`
}

// Bodies says in which bodies a property occurs: yes, no, unknown if the body takes any
// members, or none if there is no such operation.
type Bodies struct {
	Get   classes.Presence `json:"get"`
	Put   classes.Presence `json:"put"`
	Post  classes.Presence `json:"post"`
	Patch classes.Presence `json:"patch"`
}

// NewPropertyPage returns the page of a property, whose path is dotted or a JSON pointer.
func NewPropertyPage(t *resources.Type, path string, overrides ...*classes.Overrides) (*PropertyPage, error) {
	c, err := classes.New(t, overrides...)
	if err != nil {
		return nil, err
	}
	p, err := c.Explain(path)
	if err != nil {
		return nil, err
	}
	return &PropertyPage{Version: version, Type: t.ID(), Class: p.Class(), Property: p,
		In: Bodies{Get: p.Get, Put: p.Put, Post: p.Post, Patch: p.Patched}}, nil
}

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

// version is that of the JSON of all pages.
const version = 1

// A Tree is all types, each below its parent.
type Tree struct {
	Version int      `json:"version"`
	Types   []Branch `json:"types"` // parents before their children
}

// A Branch is a type in a tree.
type Branch struct {
	Type      string   `json:"type"`
	Family    string   `json:"family"`
	Parent    string   `json:"parent,omitempty"`
	Singleton bool     `json:"singleton,omitempty"`
	Verbs     []string `json:"verbs"`
	Joins     []string `json:"joins,omitempty"`
	Address   string   `json:"address"`
	File      string   `json:"file"`

	level int
}

// NewTree returns the types of an index whose names contain a text, whatever its case, with
// the types around them.
func NewTree(index *resources.Index, filter string) *Tree {
	children := map[string][]*resources.Type{}
	for _, t := range index.Types() {
		children[strings.ToLower(t.Parent)] = append(children[strings.ToLower(t.Parent)], t)
	}
	out := &Tree{Version: version, Types: []Branch{}}
	out.add(children, "", 0, strings.ToLower(filter))
	return out
}

// add adds the children of a type and what is below them. It reports whether there are any.
func (tree *Tree) add(children map[string][]*resources.Type, parent string, level int, filter string) bool {
	found := false
	types := children[parent]
	for i, t := range types {
		at := len(tree.Types)
		tree.Types = append(tree.Types, branch(t, level))
		// Types of one name, in several versions or at several addresses, have one family.
		isLast := i+1 == len(types) || !strings.EqualFold(types[i+1].Name, t.Name)
		hasAny := isLast && tree.add(children, strings.ToLower(t.Name), level+1, filter)
		if !hasAny && !strings.Contains(strings.ToLower(t.ID()), filter) {
			tree.Types = tree.Types[:at]
			continue
		}
		found = true
	}
	return found
}

func branch(t *resources.Type, level int) Branch {
	return Branch{Type: t.ID(), Family: t.Family.Name, Parent: t.Parent, Singleton: t.IsSingleton,
		Verbs: t.Verbs(), Joins: t.Joins, Address: t.Path, File: t.Document.Name, level: level}
}
