package validator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
)

// checkTypes checks the GraphQL types: against their schema, with each other, and against
// the JSON schemas.
func (c *checker) checkTypes() []Finding {
	at := Finding{Section: GraphQL}
	var found []Finding
	if o, ok := c.head.GraphQL().(*bundle.Object); ok {
		c.compileSchemaOf(o)
		_, found = c.checkFile(at, o)
	}
	g := &typeChecker{checker: c, found: found}
	seen := map[string]bool{}
	for _, t := range c.types.all {
		if seen[t.name] {
			g.addFinding(t.at+"/name", GraphQLRepeated, "the type %s is defined twice", shortJSON(t.name))
		}
		seen[t.name] = true
		g.checkType(t)
	}
	if len(g.found) == 0 && c.head.GraphQL() != nil {
		if _, err := gql.NewSchema(c.head.GraphQL()); err != nil {
			g.addFinding("", GraphQLInvalid, "%s", firstLine(err.Error()))
		}
	}
	g.found = append(g.found, c.newGaps()...)
	return g.found
}

// compileSchemaOf compiles the schema that a file names.
func (c *checker) compileSchemaOf(o *bundle.Object) {
	if p := schemaPath(o.String("$schema")); c.library.docs[p] != nil {
		_, _ = c.library.compile(p, "") // checkSchema reports the error
	}
}

// A typeChecker collects the findings in the GraphQL types.
type typeChecker struct {
	checker *checker
	found   []Finding
}

func (g *typeChecker) addFinding(at string, r Rule, format string, args ...any) {
	g.found = append(g.found, Finding{Section: GraphQL, Pointer: at, Rule: r, Message: fmt.Sprintf(format, args...)})
}

// checkSchemaExists checks that the schema that a type names exists. An empty name is
// allowed.
func (g *typeChecker) checkSchemaExists(at, name string) {
	if name != "" && g.checker.library.docs[schemaPath(name)] == nil {
		g.addFinding(at, GraphQLSchema, "%s is not the path of a schema", shortJSON(name))
	}
}

// checkType checks one type.
func (g *typeChecker) checkType(t *gqlType) {
	g.checkSchemaExists(t.at+"/datafile", t.datafile)
	for _, f := range t.fields {
		g.checkField(t, f)
	}
	if t.implements != "" {
		g.checkInterface(t)
	}
	if t.isInterface && t.interfaceResolve == nil {
		g.addFinding(t.at, GraphQLInterface, "the interface %s lacks interfaceResolve", shortJSON(t.name))
	}
	if t.interfaceResolve == nil || t.interfaceResolve.String("strategy") != "fieldMap" {
		return
	}
	if name := t.interfaceResolve.String("field"); t.fieldsByName[name] == nil {
		g.addFinding(t.at+"/interfaceResolve/field", GraphQLInterface, "the interface %s has no field %s", shortJSON(t.name), shortJSON(name))
	}
	v, _ := t.interfaceResolve.Get("fieldMap")
	types, _ := v.(*bundle.Object)
	if types == nil {
		g.addFinding(t.at+"/interfaceResolve", GraphQLInterface, "the key \"fieldMap\" is missing")
		return
	}
	for _, m := range types.Members() {
		g.checkMappedType(t, m)
	}
}

// checkMappedType checks one entry of the fieldMap of an interface.
func (g *typeChecker) checkMappedType(t *gqlType, m bundle.Member) {
	name, _ := m.Value.(string)
	at := t.at + "/interfaceResolve/fieldMap" + pointer([]step{{key: m.Key}})
	switch typ := g.checker.types.byName[name]; {
	case typ == nil:
		g.addFinding(at, GraphQLType, "there is no type %s", shortJSON(m.Value))
	case typ.implements != t.name:
		g.addFinding(at, GraphQLInterface, "the type %s does not implement %s", shortJSON(name), shortJSON(t.name))
	}
}

// checkInterface checks a type against the interface that it implements.
func (g *typeChecker) checkInterface(t *gqlType) {
	up := g.checker.types.byName[t.implements]
	if up == nil || !up.isInterface {
		g.addFinding(t.at+"/interface", GraphQLInterface, "there is no interface %s", shortJSON(t.implements))
		return
	}
	for _, want := range up.fields {
		switch f := t.fieldsByName[want.name]; {
		case f == nil:
			g.addFinding(t.at, GraphQLInterface, "the type %s lacks the field %s of its interface %s", shortJSON(t.name), shortJSON(want.name), shortJSON(up.name))
		case f.isList != want.isList || want.isRequired && !f.isRequired:
			g.addFinding(f.at, GraphQLInterface, "the field %s is not as in the interface %s: isList and isRequired must be the same", shortJSON(f.name), shortJSON(up.name))
		}
	}
}

// checkField checks one field.
func (g *typeChecker) checkField(t *gqlType, f *gqlField) {
	typ := g.checker.types.byName[f.typ]
	if !scalarTypes[f.typ] && typ == nil {
		g.addFinding(f.at+"/type", GraphQLType, "there is no type %s", shortJSON(f.typ))
	}
	if typ != nil && typ.isInterface != f.isInterface {
		g.addFinding(f.at, GraphQLInterface, "isInterface of the field %s is %t, that of its type %s is %t", shortJSON(f.name), f.isInterface, shortJSON(f.typ), typ.isInterface)
	}
	if f.isInterface && typ == nil && scalarTypes[f.typ] {
		g.addFinding(f.at, GraphQLInterface, "the type %s of the field %s is not an interface", shortJSON(f.typ), shortJSON(f.name))
	}
	g.checkSchemaExists(f.at+"/datafileSchema", f.datafileSchema)
	if f.synthetic != nil {
		g.checkSchemaExists(f.at+"/synthetic/schema", f.synthetic.String("schema"))
	}
	if f.isUnique && !scalarTypes[f.typ] {
		g.addFinding(f.at, UniqueComplex, "isUnique set on %s.%s, type %s is not a simple type", t.name, f.name, f.typ)
	}
	if f.isUnique && !g.checker.types.topLevel[t.name] {
		g.addFinding(f.at, UniqueNotTop, "isUnique set on %s.%s, which is not a top-level type", t.name, f.name)
	}
	if scalarTypes[f.typ] || typ != nil {
		g.checkFieldKind(t, f)
	}
}

// checkFieldKind checks that a field has the same kind as its property in the JSON schema:
// list, object or scalar.
func (g *typeChecker) checkFieldKind(t *gqlType, f *gqlField) {
	for _, schema := range g.checker.types.schemasOf(t) {
		props := g.checker.properties(schema, 0)
		types := props[f.name]
		if len(types) == 0 || f.synthetic != nil || f.typ == "json" {
			continue
		}
		isArray := slices.Contains(types, "array")
		scalar := map[string][]string{"int": {"integer", "number"}, "float": {"integer", "number"}, "boolean": {"boolean"}, "string": nil}
		fits, known := scalar[f.typ]
		switch {
		case isArray && len(types) == 1 && !f.isList:
			g.addFinding(f.at, GraphQLKind, "the field %s is not a list, but in %s it is one", shortJSON(f.name), schema)
		case !isArray && f.isList:
			g.addFinding(f.at, GraphQLKind, "the field %s is a list, but in %s it is %s", shortJSON(f.name), schema, strings.Join(types, " or "))
		case !isArray && !known && !slices.Contains(types, "object"):
			g.addFinding(f.at, GraphQLKind, "the field %s is an object, but in %s it is %s", shortJSON(f.name), schema, strings.Join(types, " or "))
		case !isArray && fits != nil && !slices.ContainsFunc(types, func(t string) bool { return slices.Contains(fits, t) }):
			g.addFinding(f.at, GraphQLKind, "the field %s is %s, but in %s it is %s", shortJSON(f.name), f.typ, schema, strings.Join(types, " or "))
		}
	}
}
