package openapi

import (
	"cmp"
	"slices"
	"strings"
)

// A View gives the schemas of one specification. Variants of a discriminator are looked for
// in the specification and in all documents that it leads to.
type View struct {
	document *Document
	schemas  map[*Value]*Schema
	variants map[*Value][]Place // schemas that name another one in their allOf, by that one
	parts    int                // see maxParts
}

// View returns the view of a specification.
func (d *Document) View() *View {
	if d.view == nil {
		d.view = &View{document: d, schemas: map[*Value]*Schema{}}
	}
	return d.view
}

// Schema returns the schema at a place, nil if there is nothing.
func (v *View) Schema(p Place) *Schema {
	if p.Value == nil {
		return nil
	}
	s, ok := v.schemas[p.Value]
	if !ok {
		s = &Schema{view: v, places: []Place{p}}
		v.schemas[p.Value] = s
	}
	return s
}

// merged returns the schema that several places describe together.
func (v *View) merged(places []Place) *Schema {
	if len(places) == 1 {
		return v.Schema(places[0])
	}
	return &Schema{view: v, places: places}
}

// derived returns the schemas that name a schema in their allOf, directly or over others.
func (v *View) derived(base *Value) []Place {
	if v.variants == nil {
		v.variants = map[*Value][]Place{}
		for _, d := range v.document.closure() {
			d.addDerived(v.variants)
		}
	}
	out := slices.Clone(v.variants[base])
	for i := 0; i < len(out); i++ { // out grows
		for _, p := range v.variants[out[i].Value] {
			if p.Value != base && !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	slices.SortFunc(out, func(a, b Place) int { return cmp.Compare(a.Name(), b.Name()) })
	return out
}

// addDerived adds the named schemas of a document that have references in their allOf.
func (d *Document) addDerived(to map[*Value][]Place) {
	for _, folder := range []string{"/definitions", "/components/schemas"} {
		for _, v := range d.Root.At(folder).Items() {
			for _, part := range v.Get("allOf").Items() {
				if part.Get("$ref") == nil {
					continue
				}
				// A reference that leads nowhere is told where the schema is used.
				if base, err := d.Place(part).Follow(); err == nil {
					to[base.Value] = append(to[base.Value], d.Place(v))
				}
			}
		}
	}
}

// closure returns a document and all that it leads to. Those that cannot be read are left
// out: who follows the reference is told.
func (d *Document) closure() []*Document {
	out := []*Document{d}
	for i := 0; i < len(out); i++ { // out grows
		for _, name := range out[i].References() {
			if next, err := d.set.Document(name); err == nil && !slices.Contains(out, next) {
				out = append(out, next)
			}
		}
	}
	return out
}

// References returns the names of the documents to which the schemas, parameters and
// operations of a document refer, sorted.
func (d *Document) References() []string {
	if !d.seen {
		d.seen = true
		found := map[string]bool{}
		d.find(d.Root, found)
		for name := range found {
			d.refs = append(d.refs, name)
		}
		slices.Sort(d.refs)
	}
	return d.refs
}

func (d *Document) find(v *Value, found map[string]bool) {
	for i, item := range v.Items() {
		if v.Kind == Object {
			switch v.names[i] {
			case "x-ms-examples", "example", "examples", "default", "enum":
				continue
			case "$ref":
				file, _, _ := strings.Cut(item.Text(), "#")
				if name, err := d.resolveName(file); err == nil && file != "" {
					found[name] = true
				}
				continue
			}
		}
		if item.Kind >= Array {
			d.find(item, found)
		}
	}
}

// Name returns the last part of a place's pointer: the name of a definition.
func (p Place) Name() string {
	v := p.Value
	if v == nil || v.parent == nil || v.parent.Kind != Object {
		return ""
	}
	for i, item := range v.parent.items {
		if item == v {
			return v.parent.names[i]
		}
	}
	return ""
}
