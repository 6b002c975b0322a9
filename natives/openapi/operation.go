package openapi

import (
	"slices"
	"strings"
)

// An Operation is a verb of an address.
type Operation struct {
	Verb  string // in lower case
	place Place
	item  Place // the address, whose parameters are those of all its operations
}

// An Address is a path of a specification with its operations.
type Address struct {
	Path  string
	place Place
	end   Place // where its operations stand: another place behind a reference
}

// Addresses returns the paths of a specification, sorted, and why some cannot be read. Those in
// x-ms-paths, which differ in queries only, are left out.
func (d *Document) Addresses() (all []Address, mistakes []error) {
	paths := d.Root.Get("paths")
	for i, name := range paths.Names() {
		if !strings.HasPrefix(name, "/") || !paths.items[i].IsObject() {
			continue
		}
		a, err := newAddress(name, d.Place(paths.items[i]))
		if err != nil {
			mistakes = append(mistakes, err)
			continue
		}
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b Address) int { return strings.Compare(a.Path, b.Path) })
	return all, mistakes
}

// newAddress returns an address, with its operations over all references.
func newAddress(path string, at Place) (Address, error) {
	end, err := at.Follow()
	if err != nil {
		return Address{}, err
	}
	a := Address{Path: path, place: at, end: end}
	for _, verb := range verbs {
		if v := a.find(verb); v.Value != nil {
			if _, err := v.Follow(); err != nil {
				return Address{}, err
			}
		}
	}
	return a, nil
}

// verbs are those of operations.
var verbs = []string{"get", "put", "post", "patch", "delete"}

// find returns the place of an operation: what stands beside a reference counts before what is behind it.
func (a Address) find(verb string) Place {
	for _, p := range []Place{a.place, a.end} {
		if v := p.Value.Get(verb); v.IsObject() {
			return p.Document.Place(v)
		}
	}
	return Place{}
}

// Place returns where an address stands.
func (a Address) Place() Place { return a.place }

// Operation returns an operation of an address.
func (a Address) Operation(verb string) (Operation, bool) {
	p := a.find(verb)
	if p.Value == nil {
		return Operation{}, false
	}
	end, err := p.Follow()
	if err != nil {
		return Operation{}, false // an address with it is none
	}
	return Operation{Verb: verb, place: end, item: a.end}, true
}

// Has reports whether an address has an operation.
func (a Address) Has(verb string) bool {
	_, ok := a.Operation(verb)
	return ok
}

// Verbs returns the verbs of an address.
func (a Address) Verbs() []string {
	var out []string
	for _, verb := range verbs {
		if a.Has(verb) {
			out = append(out, verb)
		}
	}
	return out
}

// Keyword returns a keyword of an operation, such as x-ms-long-running-operation.
func (o Operation) Keyword(name string) *Value { return o.place.Value.Get(name) }

// Place returns where an operation stands.
func (o Operation) Place() Place { return o.place }

// parameters returns the places of the parameters of an operation and of its address, over
// their references.
func parameters(places ...Place) ([]Place, error) {
	var out []Place
	for _, p := range places {
		for _, v := range p.Value.Get("parameters").Items() {
			end, err := p.Document.Place(v).Follow()
			if err != nil {
				return nil, err
			}
			out = append(out, end)
		}
	}
	return out, nil
}

// Choices returns the values that the parameters in the path of an address may have, by the
// name of the parameter. A parameter of which any value is allowed is left out.
func (a Address) Choices() (map[string][]string, error) {
	places := []Place{a.end}
	for _, verb := range []string{"get", "put"} {
		if o, ok := a.Operation(verb); ok {
			places = append(places, o.place)
		}
	}
	all, err := parameters(places...)
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, p := range all {
		if p.Value.Get("in").Text() != "path" {
			continue
		}
		values := p.Value.Get("enum").Strings()
		if values == nil {
			schema, err := p.Document.View().Schema(p.Document.Place(p.Value.Get("schema"))).Keyword("enum")
			if err != nil {
				return nil, err
			}
			values = schema.Value.Strings()
		}
		if len(values) > 0 {
			out[p.Value.Get("name").Text()] = values
		}
	}
	return out, nil
}

// Body returns the schema of the body that an operation takes, and the media types in which
// it takes it. The schema is nil if there is none.
func (o Operation) Body(view *View) (*Schema, []string, error) {
	if b := o.place.Value.Get("requestBody"); b != nil {
		p, err := o.place.Document.Place(b).Follow()
		if err != nil {
			return nil, nil, err
		}
		schema, media := content(view, p)
		return schema, media, nil
	}
	all, err := parameters(o.place, o.item)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range all {
		if p.Value.Get("in").Text() == "body" {
			return view.Schema(p.Document.Place(p.Value.Get("schema"))), o.consumes(), nil
		}
	}
	return nil, nil, nil
}

func (o Operation) consumes() []string {
	if own := o.place.Value.Get("consumes"); own != nil {
		return own.Strings()
	}
	return o.place.Document.Root.Get("consumes").Strings()
}

// Answer returns the schema of what an operation answers when it succeeds, nil if that is
// not described.
func (o Operation) Answer(view *View) (*Schema, error) {
	responses := o.place.Value.Get("responses")
	for _, status := range []string{"200", "201", "202", "2XX"} {
		v := responses.Get(status)
		if v == nil {
			continue
		}
		p, err := o.place.Document.Place(v).Follow()
		if err != nil {
			return nil, err
		}
		if s := p.Value.Get("schema"); s != nil {
			return view.Schema(p.Document.Place(s)), nil
		}
		if s, _ := content(view, p); s != nil {
			return s, nil
		}
	}
	return nil, nil
}

// content returns the schema of a body or an answer of OpenAPI 3, and all its media types.
// Of several schemas it is that of JSON.
func content(view *View, p Place) (*Schema, []string) {
	c := p.Value.Get("content")
	media := slices.Sorted(slices.Values(c.Names()))
	rank := func(name string) int {
		name, _, _ = strings.Cut(name, ";")
		switch {
		case name == "application/json":
			return 0
		case strings.HasSuffix(name, "+json"):
			return 1
		}
		return 2
	}
	best := slices.Clone(media)
	slices.SortStableFunc(best, func(a, b string) int { return rank(a) - rank(b) })
	for _, name := range best {
		if s := c.Get(name).Get("schema"); s != nil {
			return view.Schema(p.Document.Place(s)), media
		}
	}
	return nil, media
}

// Header returns the place of a parameter in the header of an operation, whatever its case.
func (o Operation) Header(name string) (Place, error) {
	all, err := parameters(o.place, o.item)
	if err != nil {
		return Place{}, err
	}
	for _, p := range all {
		if p.Value.Get("in").Text() == "header" && strings.EqualFold(p.Value.Get("name").Text(), name) {
			return p, nil
		}
	}
	return Place{}, nil
}

// Asks reports whether an operation needs a parameter in the query, but for one.
func (o Operation) Asks(except string) (bool, error) {
	all, err := parameters(o.place, o.item)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(all, func(p Place) bool {
		return p.Value.Get("in").Text() == "query" && p.Value.Get("required").Is() && p.Value.Get("name").Text() != except
	}), nil
}

// QueryNames returns the names of the parameters in the query of an operation, sorted.
func (o Operation) QueryNames() ([]string, error) {
	all, err := parameters(o.place, o.item)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, p := range all {
		if p.Value.Get("in").Text() == "query" {
			out = append(out, p.Value.Get("name").Text())
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
