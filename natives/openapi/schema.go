package openapi

import (
	"slices"
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
