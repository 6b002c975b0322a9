package gql

// A wrappedType is a type that introspection shows as a list or as non-null.
type wrappedType struct {
	kind   string
	ofType any // *typeDef or wrapped
}

// An enumValue is a value of an enum as introspection shows it.
type enumValue struct{ name, description string }

// introspectedType returns the type of a field as introspection shows it: a *typeDef, or a
// wrappedType around it.
func (f *fieldDef) introspectedType() any {
	var t any = f.typ
	if f.list {
		t = wrappedType{"LIST", wrappedType{"NON_NULL", f.typ}}
	}
	if f.required {
		t = wrappedType{"NON_NULL", t}
	}
	return t
}

func (a *argDef) introspectedType() any {
	if a.required {
		return wrappedType{"NON_NULL", a.typ}
	}
	return a.typ
}

// introspect resolves a field of introspection. Nothing is deprecated, and only builtin
// types, fields and directives have descriptions.
func (s *Schema) introspect(field *selectedField, parent any) any {
	switch parent := parent.(type) {
	case undefined:
		return s.introspectQuery(field)
	case *Schema:
		return s.introspectSchema(field.def.name)
	case *typeDef:
		return s.introspectType(field.def.name, parent)
	case wrappedType:
		switch field.def.name {
		case "kind":
			return parent.kind
		case "ofType":
			return parent.ofType
		}
	case *fieldDef:
		return introspectField(field.def.name, parent)
	case *argDef:
		return introspectArgument(field.def.name, parent)
	case *directiveDef:
		return introspectDirective(field.def.name, parent)
	case enumValue:
		return introspectNamed(field.def.name, parent.name, parent.description)
	}
	return nil
}

func (s *Schema) introspectQuery(field *selectedField) any {
	if field.def.name == "__schema" {
		return s
	}
	name, _ := field.args["name"].(string)
	if t := s.types[name]; t != nil {
		return t
	}
	return nil
}

func (s *Schema) introspectSchema(field string) any {
	switch field {
	case "types":
		return anyList(s.typeList)
	case "queryType":
		return s.query
	case "directives":
		return anyList(s.directives)
	}
	return nil
}

func (s *Schema) introspectType(field string, t *typeDef) any {
	composite := !t.isLeaf()
	switch {
	case field == "kind":
		return t.kind.String()
	case field == "name" || field == "description":
		return introspectNamed(field, t.name, t.description)
	case field == "fields" && composite:
		return anyList(t.fields)
	case field == "interfaces" && composite:
		return anyList(t.interfaces)
	case field == "possibleTypes" && t.kind == kindInterface:
		return anyList(t.possibleTypes)
	case field == "enumValues" && t.kind == kindEnum:
		words := make([]any, len(t.enumValues))
		for i, word := range t.enumValues {
			words[i] = enumValue{word, t.enumDescriptions[i]}
		}
		return words
	}
	return nil
}

func introspectField(field string, f *fieldDef) any {
	switch field {
	case "args":
		return anyList(f.args)
	case "type":
		return f.introspectedType()
	}
	return introspectNamed(field, f.name, f.description)
}

func introspectArgument(field string, a *argDef) any {
	switch field {
	case "type":
		return a.introspectedType()
	case "defaultValue":
		if a.defaultValue == nil {
			return nil
		}
		return string(AppendJSON(nil, a.defaultValue))
	}
	return introspectNamed(field, a.name, a.description)
}

func introspectDirective(field string, d *directiveDef) any {
	switch field {
	case "isRepeatable":
		return false
	case "locations":
		return anyList(d.locations)
	case "args":
		return anyList(d.args)
	}
	return introspectNamed(field, d.name, d.description)
}

// introspectNamed resolves the fields that all parts of a schema have: name, description
// and isDeprecated.
func introspectNamed(field, name, note string) any {
	switch field {
	case "name":
		return name
	case "description":
		if note != "" {
			return note
		}
	case "isDeprecated":
		return false
	}
	return nil
}

func anyList[T any](list []T) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

// maxIntrospectionLists is the number of nested introspection lists from which a query is
// rejected.
const maxIntrospectionLists = 3

// checkIntrospectionDepth reports whether a field of introspection nests too many lists,
// and records the error. Fields below such a field are not checked again.
func (v *validator) checkIntrospectionDepth(n *fieldNode) bool {
	if n.name != "__schema" && n.name != "__type" || v.inDeepIntrospection {
		return false
	}
	d := introspectionSearch{v: v, path: map[string]bool{}}
	if !d.isTooDeep(n, 0) {
		return false
	}
	v.report("Maximum introspection depth exceeded", n.pos)
	v.inDeepIntrospection = true
	return true
}

// An introspectionSearch searches for lists of introspection inside of other such lists.
type introspectionSearch struct {
	v    *validator
	path map[string]bool // fragments from the first selection to the current one
}

// isTooDeep reports whether lists nest too deep below a selection. depth is the number of
// lists around it. A search that takes too many steps counts as too deep: fragments that
// use others twice can make it grow exponentially.
func (s *introspectionSearch) isTooDeep(selection selection, depth int) bool {
	if s.v.introspectionSteps++; s.v.introspectionSteps > maxReached {
		return true
	}
	switch n := selection.(type) {
	case *spreadNode:
		f := s.v.fragments[n.name]
		if f == nil || s.path[n.name] {
			return false
		}
		s.path[n.name] = true
		defer delete(s.path, n.name)
		return s.isAnyTooDeep(f.selectionSet, depth)
	case *inlineNode:
		return s.isAnyTooDeep(n.selectionSet, depth)
	case *fieldNode:
		switch n.name {
		case "fields", "interfaces", "possibleTypes", "inputFields":
			depth++
		}
		return depth >= maxIntrospectionLists || s.isAnyTooDeep(n.selectionSet, depth)
	}
	return false
}

// isAnyTooDeep reports whether lists nest too deep below any selection of a set, which may
// be nil.
func (s *introspectionSearch) isAnyTooDeep(set *selectionSet, depth int) bool {
	if set == nil {
		return false
	}
	for _, selection := range set.selections {
		if s.isTooDeep(selection, depth) {
			return true
		}
	}
	return false
}
