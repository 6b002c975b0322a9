package gql

import (
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// library returns the schema as gqlparser wants it for validation: our types,
// its own built-in types, and the directives that graphql-js 16 knows.
func (s *Schema) library() *ast.Schema {
	out := &ast.Schema{
		Types:         make(map[string]*ast.Definition, len(s.types)),
		Directives:    map[string]*ast.DirectiveDefinition{},
		PossibleTypes: map[string][]*ast.Definition{},
		Implements:    map[string][]*ast.Definition{},
	}
	prelude := validator.PreludeDocument()
	for _, d := range prelude.Directives {
		if s.directive(d.Name) != nil {
			out.Directives[d.Name] = d
		}
	}
	for _, def := range prelude.Definitions {
		if s.types[def.Name] == nil {
			continue // graphql-js does not know scalars that no field has
		}
		out.Types[def.Name] = def
		out.AddPossibleType(def.Name, def)
	}
	for _, t := range s.order {
		if out.Types[t.name] == nil {
			out.Types[t.name] = definition(t)
		}
	}
	for _, t := range s.order {
		def := out.Types[t.name]
		for _, i := range t.interfaces {
			out.AddPossibleType(i.name, def)
			out.AddImplements(t.name, out.Types[i.name])
		}
		if t.kind == kindObject {
			out.AddPossibleType(t.name, def)
		}
	}
	out.Query = out.Types[s.query.name]
	out.Query.Fields = slices.Concat(out.Query.Fields, validator.QueryIntrospectionFields())
	return out
}

// definition describes one of our types.
func definition(t *typeDef) *ast.Definition {
	def := &ast.Definition{Name: t.name, Kind: ast.Object}
	switch t.kind {
	case kindScalar:
		def.Kind = ast.Scalar
	case kindInterface:
		def.Kind = ast.Interface
	}
	for _, i := range t.interfaces {
		def.Interfaces = append(def.Interfaces, i.name)
	}
	def.Fields = make(ast.FieldList, 0, len(t.fields))
	for _, f := range t.fields {
		field := &ast.FieldDefinition{Name: f.name, Type: typeRef(f.typ.name, f.list, f.required)}
		for _, a := range f.args {
			field.Arguments = append(field.Arguments, &ast.ArgumentDefinition{Name: a.name, Type: typeRef(a.typ.name, false, a.required)})
		}
		def.Fields = append(def.Fields, field)
	}
	return def
}

func typeRef(name string, list, required bool) *ast.Type {
	t := &ast.Type{NamedType: name}
	if list {
		t.NonNull = true
		t = &ast.Type{Elem: t}
	}
	t.NonNull = required
	return t
}

// ruleSet returns gqlparser's rules but for two: a mutation is not rejected, it
// is answered with an error; and fields that conflict are found by a merger.
func ruleSet() *rules.Rules {
	set := rules.NewDefaultRules()
	set.RemoveRule("KnownRootType")
	set.RemoveRule("OverlappingFieldsCanBeMerged")
	return set
}
