package validator

import "github.com/app-sre/prcheck/bundle"

// A spot is where a value stands among the GraphQL types: in a field, or, when
// there is none, at an object of the type.
type typedPlace struct {
	typ   *gqlType
	field *gqlField
}

// object returns the type of an object at the spot.
func (s typedPlace) objectType(t *gqlTypes) *gqlType {
	if s.field == nil {
		return s.typ
	}
	return t.byName[s.field.typ]
}

// child returns the spot of a key's value.
func (s typedPlace) child(t *gqlTypes, key string, v any) typedPlace {
	if s.typ == nil || key == "$ref" {
		return s
	}
	typ := s.objectType(t)
	if typ == nil {
		return typedPlace{}
	}
	return typedPlace{typ, typ.fieldsByName[key]}.resolveInterface(t, v)
}

// settle replaces an interface by the type that the value has.
func (s typedPlace) resolveInterface(t *gqlTypes, v any) typedPlace {
	o, ok := v.(*bundle.Object)
	if s.field == nil || !ok {
		return s
	}
	typ := t.byName[s.field.typ]
	if typ == nil {
		return s
	}
	key, types := typ.discriminator()
	if types == nil {
		return s
	}
	if settled := t.byName[types.String(o.String(key))]; settled != nil {
		return typedPlace{settled, nil}
	}
	return s
}
