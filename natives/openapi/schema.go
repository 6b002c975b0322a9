package openapi

import (
	"slices"
	"strings"
)

// A Schema is what one or several places say about a value. All its methods work on a nil
// Schema, about which nothing is said.
type Schema struct {
	view       *View
	places     []Place
	isExpanded bool
	err        error
	layers     []layer
	names      []string
	properties map[string]*Schema
	items      *Schema
	values     *Schema
	ends       []*Value // see Targets
	hasEnds    bool
	variants   *Variants // once they were asked for
	hasForms   bool
	keywords   map[string]Place // those that were asked for
	required   []string         // sorted, once it was asked for
	hasNeeds   bool
}

// A layer is a place that takes part in a schema.
type layer struct {
	Place
	// isChoice says that the layer is one of several: a variant of a discriminator, or a
	// member of oneOf. Its properties count, what it says about the value itself does not.
	isChoice bool
}

// The bounds of what a specification can ask for. A small text can describe very much: ten
// properties that all refer to an object with ten properties, and so on.
const (
	maxLayers = 2000      // of one schema
	maxParts  = 4_000_000 // layers and properties of all schemas of a specification
)

// expand finds the layers of a schema and what they describe.
func (s *Schema) expand() error {
	if s == nil || s.isExpanded {
		return s.fault()
	}
	s.isExpanded = true
	for _, p := range s.places {
		if s.err = s.add(p, false); s.err != nil {
			return s.err
		}
	}
	if s.err = s.addVariants(); s.err != nil {
		return s.err
	}
	s.err = s.collect()
	return s.err
}

func (s *Schema) fault() error {
	if s == nil {
		return nil
	}
	return s.err
}

// add adds the layers of a place: itself, its reference, its allOf and its choices.
func (s *Schema) add(p Place, isChoice bool) error {
	if slices.ContainsFunc(s.layers, func(l layer) bool { return l.Value == p.Value }) {
		return nil
	}
	if err := s.spend(p, 1); err != nil {
		return err
	}
	s.layers = append(s.layers, layer{p, isChoice})
	if p.Value.Get("$ref") != nil {
		target, err := p.Follow()
		if err != nil {
			return err
		}
		if err := s.add(target, isChoice); err != nil {
			return err
		}
	}
	for _, part := range p.Value.Get("allOf").Items() {
		if err := s.add(p.Document.Place(part), isChoice); err != nil {
			return err
		}
	}
	choices := append(p.choices("oneOf"), p.choices("anyOf")...)
	for _, c := range choices {
		if err := s.add(c, isChoice || len(choices) > 1); err != nil {
			return err
		}
	}
	return nil
}

// spend counts parts of a schema.
func (s *Schema) spend(p Place, parts int) error {
	s.view.parts += parts
	if len(s.layers) >= maxLayers || s.view.parts > maxParts {
		return &Error{Code: CodeLoad, Place: p.String(), Message: "the schema has too many parts"}
	}
	return nil
}

// choices returns the members of oneOf or anyOf that are not null.
func (p Place) choices(keyword string) []Place {
	var out []Place
	for _, v := range p.Value.Get(keyword).Items() {
		if v.Get("type").Text() != "null" {
			out = append(out, p.Document.Place(v))
		}
	}
	return out
}

// addVariants adds the layers of the variants of a discriminator.
func (s *Schema) addVariants() error {
	if s.discriminator().Value == nil {
		return nil
	}
	for _, target := range s.targets() {
		for _, p := range s.view.derived(target.Value) {
			if err := s.add(p, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// targets returns the named schemas for which a schema stands: the ends of the references,
// also of one in an allOf that has no other member.
func (s *Schema) targets() []Place {
	var out []Place
	for _, p := range s.places {
		if only := p.Value.Get("allOf").Items(); len(only) == 1 && p.Value.Get("properties") == nil &&
			only[0].Get("$ref") != nil {
			p = p.Document.Place(only[0])
		}
		if p.Value.Get("$ref") == nil && !p.isNamed() {
			continue
		}
		if end, err := p.Follow(); err == nil {
			out = append(out, end)
		}
	}
	return out
}

// isNamed reports whether a place is a definition, to which others refer.
func (p Place) isNamed() bool {
	parent := p.Value.parent
	root := p.Document.Root
	return parent != nil && (parent == root.Get("definitions") || parent == root.Get("components").Get("schemas"))
}

// Properties returns the names of the properties of an object, sorted.
func (s *Schema) Properties() ([]string, error) {
	if err := s.expand(); err != nil || s == nil {
		return nil, err
	}
	return s.names, nil
}

// Property returns the schema of a property, nil if it is not described.
func (s *Schema) Property(name string) (*Schema, error) {
	if err := s.expand(); err != nil || s == nil {
		return nil, err
	}
	return s.properties[name], nil
}

// ItemsOf returns the schema of the items of a list, nil if it is not described.
func (s *Schema) ItemsOf() (*Schema, error) {
	if err := s.expand(); err != nil || s == nil {
		return nil, err
	}
	return s.items, nil
}

// ValuesOf returns the schema of the values of a map, nil if it is not described.
func (s *Schema) ValuesOf() (*Schema, error) {
	if err := s.expand(); err != nil || s == nil {
		return nil, err
	}
	return s.values, nil
}

// IsOpen reports whether a schema takes any members, for it describes none, or says nothing.
func (s *Schema) IsOpen() (bool, error) {
	if err := s.expand(); err != nil || s == nil {
		return err == nil, err
	}
	return !slices.ContainsFunc(s.layers, func(l layer) bool {
		return l.Value.Get("properties") != nil || l.Value.Get("items").IsObject() ||
			l.Value.Get("additionalProperties").IsObject()
	}), nil
}

// Keyword returns the value of a keyword, and its place. The layer nearest to the place of the
// schema wins. Layers that are one of several choices have no say.
func (s *Schema) Keyword(name string) (Place, error) {
	if err := s.expand(); err != nil || s == nil {
		return Place{}, err
	}
	p, isKnown := s.keywords[name]
	if isKnown {
		return p, nil
	}
	for _, l := range s.layers {
		if v := l.Value.Get(name); v != nil && !l.isChoice {
			p = l.Document.Place(v)
			break
		}
	}
	if s.keywords == nil {
		s.keywords = map[string]Place{}
	}
	s.keywords[name] = p
	return p, nil
}

// Targets returns the named schemas for which a schema stands. A schema holds itself if one
// of its targets is a target of a schema around it.
func (s *Schema) Targets() []*Value {
	if s == nil {
		return nil
	}
	if !s.hasEnds {
		s.hasEnds = true
		for _, p := range s.targets() {
			s.ends = append(s.ends, p.Value)
		}
	}
	return s.ends
}

// Place returns the first place of a schema.
func (s *Schema) Place() Place {
	if s == nil {
		return Place{}
	}
	return s.places[0]
}

// Required returns the names of the properties that an object must have, sorted.
func (s *Schema) Required() ([]string, error) {
	if err := s.expand(); err != nil || s == nil {
		return nil, err
	}
	if s.hasNeeds {
		return s.required, nil
	}
	for _, l := range s.layers {
		if !l.isChoice {
			s.required = append(s.required, l.Value.Get("required").Strings()...)
		}
	}
	slices.Sort(s.required)
	s.required, s.hasNeeds = slices.Compact(s.required), true
	return s.required, nil
}

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

// collect gathers the properties, items and values that the layers describe.
func (s *Schema) collect() error {
	if target := s.alias(); target != nil {
		err := target.expand()
		s.names, s.properties, s.items, s.values = target.names, target.properties, target.items, target.values
		return err
	}
	places := map[string][]Place{}
	var items, values []Place
	for _, l := range s.layers {
		properties := l.Value.Get("properties")
		if err := s.spend(l.Place, len(properties.Names())); err != nil {
			return err
		}
		for i, name := range properties.Names() {
			if places[name] == nil {
				s.names = append(s.names, name)
			}
			places[name] = append(places[name], l.Document.Place(properties.items[i]))
		}
		if v := l.Value.Get("items"); v.IsObject() {
			items = append(items, l.Document.Place(v))
		}
		if v := l.Value.Get("additionalProperties"); v.IsObject() {
			values = append(values, l.Document.Place(v))
		}
	}
	slices.Sort(s.names)
	s.properties = make(map[string]*Schema, len(places))
	for name, p := range places {
		s.properties[name] = s.view.merged(p)
	}
	if items != nil {
		s.items = s.view.merged(items)
	}
	if values != nil {
		s.values = s.view.merged(values)
	}
	return nil
}

// alias returns the schema that describes all that is inside of a schema: that of its
// reference, if nothing that stands beside it has a say in it.
func (s *Schema) alias() *Schema {
	own := s.places[0].Value
	if len(s.places) != 1 || own.Get("$ref") == nil || len(s.layers) < 2 {
		return nil
	}
	for _, keyword := range []string{"properties", "items", "additionalProperties", "allOf", "oneOf", "anyOf",
		"discriminator"} {
		if own.Get(keyword) != nil {
			return nil
		}
	}
	end, err := s.places[0].Follow()
	if err != nil || end.Value == own || s.layers[1].Value.Get("$ref") != nil {
		return nil
	}
	return s.view.Schema(end)
}
