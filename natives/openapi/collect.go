package openapi

import "slices"

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
