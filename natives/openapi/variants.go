package openapi

import (
	"slices"
	"strings"
)

// Variants are the forms that an object takes by the value of one of its fields.
type Variants struct {
	Field  string              `json:"field"`  // the name of the field
	Values map[string][]string `json:"values"` // the names of the properties, sorted, by the value of the field
}

// discriminator returns the place of the keyword discriminator.
func (s *Schema) discriminator() Place {
	for _, l := range s.layers {
		if d := l.Value.Get("discriminator"); d != nil && !l.isChoice {
			return l.Document.Place(d)
		}
	}
	return Place{}
}

// Variants returns the variants of a schema, nil if it has no discriminator.
func (s *Schema) Variants() (*Variants, error) {
	if err := s.expand(); err != nil || s == nil {
		return nil, err
	}
	if s.hasForms {
		return s.variants, nil
	}
	var err error
	if s.variants, err = s.findVariants(); err == nil {
		s.hasForms = true
	}
	return s.variants, err
}

func (s *Schema) findVariants() (*Variants, error) {
	d := s.discriminator()
	field := d.Value.Text()
	if field == "" {
		field = d.Value.Get("propertyName").Text()
	}
	if field == "" {
		return nil, nil
	}
	out := &Variants{Field: field, Values: map[string][]string{}}
	mapping, err := mappingOf(d)
	if err != nil {
		return nil, err
	}
	for _, p := range s.variantPlaces() {
		one := &Schema{view: s.view, places: []Place{p}}
		if err := one.add(p, false); err != nil {
			return nil, err
		}
		if err := one.collect(); err != nil {
			return nil, err
		}
		for _, value := range mapping.valuesOf(p) {
			out.Values[value] = one.names
		}
	}
	return out, nil
}

// variantPlaces returns the places of the variants: schemas that name this one in their
// allOf, and members of oneOf or anyOf.
func (s *Schema) variantPlaces() []Place {
	var out []Place
	add := func(p Place) {
		end, err := p.Follow()
		if err == nil && !slices.Contains(out, end) {
			out = append(out, end)
		}
	}
	for _, target := range s.targets() {
		for _, p := range s.view.derived(target.Value) {
			add(p)
		}
	}
	for _, l := range s.layers {
		if l.isChoice {
			continue
		}
		for _, p := range append(l.choices("oneOf"), l.choices("anyOf")...) {
			add(p)
		}
	}
	return out
}

// A mapping gives schemas values of the discriminator.
type mapping map[*Value][]string

// mappingOf reads the mapping of a discriminator of OpenAPI 3. Its values are references, or
// names of schemas.
func mappingOf(d Place) (mapping, error) {
	out := mapping{}
	m := d.Value.Get("mapping")
	for i, value := range m.Names() {
		ref := m.items[i].Text()
		if !strings.ContainsAny(ref, "#/.") {
			ref = "#/components/schemas/" + ref
		}
		p, err := d.resolve(ref)
		if err != nil {
			return nil, err
		}
		out[p.Value] = append(out[p.Value], value)
	}
	return out, nil
}

// valuesOf returns the values for which a variant stands.
func (m mapping) valuesOf(p Place) []string {
	if v := p.Value.Get("x-ms-discriminator-value").Text(); v != "" {
		return []string{v}
	}
	if values := m[p.Value]; values != nil {
		return values
	}
	if name := p.Name(); p.isNamed() {
		return []string{name}
	}
	return nil
}
