package validator

import "github.com/app-sre/prcheck/bundle"

// A typedPlace is a place in the GraphQL types: the field of a type in which a value
// stands, or, if field is nil, an object of the type itself.
type typedPlace struct {
	typ   *gqlType
	field *gqlField
}

// objectType returns the type of an object at this place.
func (s typedPlace) objectType(t *gqlTypes) *gqlType {
	if s.field == nil {
		return s.typ
	}
	return t.byName[s.field.typ]
}

// child returns the place of the value of a key.
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

// resolveInterface replaces an interface by the object type of the value.
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
