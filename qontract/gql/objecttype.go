package gql

import "github.com/app-sre/prcheck/qontract/bundle"

// objectType returns the object type of a value of an interface.
func (s *Schema) objectType(t *typeDef, v any, field *selectedField) (*typeDef, *Error) {
	name, ok := s.typeName(t, v, 0)
	if !ok {
		return nil, internalError("Abstract type %q must resolve to an Object type at runtime for field \"%s.%s\". "+
			"Either the %q type should provide a \"resolveType\" function or each possible type should provide an "+
			"\"isTypeOf\" function.",
			t.name, field.parent.name, field.def.name, t.name)
	}
	found := s.types[name]
	switch {
	case found == nil:
		return nil, internalError("Abstract type %q was resolved to a type %q that does not exist inside the schema.", t.name,
			name)
	case found.kind != kindObject:
		return nil, internalError("Abstract type %q was resolved to a non-object type %q.", t.name, name)
	case !found.isSubtypeOf(t):
		return nil, internalError("Runtime Object type %q is not a possible type for %q.", name, t.name)
	}
	return found, nil
}

// maxInterfaces is the number of interfaces that may pass the question about a type on to
// another one.
const maxInterfaces = 10

// typeName returns the name of the type that an interface finds for a value. If the schema
// of the value is bound to another interface, that interface decides. asked counts the
// interfaces before this one.
func (s *Schema) typeName(t *typeDef, v any, asked int) (string, bool) {
	if !t.resolver.bySchema {
		value, ok := property(v, t.resolver.field)
		key := "undefined"
		if ok {
			key = jsText(value)
		}
		name, ok := t.resolver.types[key]
		return name, ok
	}
	schema, _ := property(v, "$schema")
	name, _ := schema.(string)
	bound := s.bySchema[bundle.SchemaPath(name)]
	switch {
	case bound == nil:
		return "", false
	case bound.kind != kindInterface:
		return bound.name, true
	case asked == maxInterfaces:
		return "", false
	}
	return s.typeName(bound, v, asked+1)
}
