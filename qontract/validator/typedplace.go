package validator

import "github.com/app-sre/prcheck/qontract/bundle"

// A typedPlace is a place in the GraphQL types: the field of a type in which a value
// stands, or, if field is nil, an object of the type itself.
type typedPlace struct {
	typ   *gqlType
	field *gqlField
}

// objectType returns the type of an object at this place.
func (p typedPlace) objectType(t *gqlTypes) *gqlType {
	if p.field == nil {
		return p.typ
	}
	return t.byName[p.field.typ]
}

// child returns the place of the value of a key.
func (p typedPlace) child(t *gqlTypes, key string, v any) typedPlace {
	if p.typ == nil || key == "$ref" {
		return p
	}
	typ := p.objectType(t)
	if typ == nil {
		return typedPlace{}
	}
	return typedPlace{typ, typ.fieldsByName[key]}.resolveInterface(t, v)
}

// resolveInterface replaces an interface by the object type of the value.
func (p typedPlace) resolveInterface(t *gqlTypes, v any) typedPlace {
	o, ok := v.(*bundle.Object)
	if p.field == nil || !ok {
		return p
	}
	typ := t.byName[p.field.typ]
	if typ == nil {
		return p
	}
	key, types := typ.discriminator()
	if types == nil {
		return p
	}
	if settled := t.byName[types.String(o.String(key))]; settled != nil {
		return typedPlace{settled, nil}
	}
	return p
}
