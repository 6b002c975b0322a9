package catalog

import (
	"slices"

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
