package validator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
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
	if p := schemaPath(o.String("$schema")); c.library.docs.has(p) {
		_, _ = c.library.compile(p, "") // checkSchema reports the error
	}
}

// A typeChecker collects the findings in the GraphQL types.
type typeChecker struct {
	checker *checker
	found   []Finding
}

func (c *typeChecker) addFinding(at string, r Rule, format string, args ...any) {
	c.found = append(c.found, Finding{Section: GraphQL, Pointer: at, Rule: r, Message: fmt.Sprintf(format, args...)})
}

// checkSchemaExists checks that the schema that a type names exists. An empty name is
// allowed.
func (c *typeChecker) checkSchemaExists(at, name string) {
	if name != "" && !c.checker.library.docs.has(schemaPath(name)) {
		c.addFinding(at, GraphQLSchema, "%s is not the path of a schema", shortJSON(name))
	}
}

// checkType checks one type.
func (c *typeChecker) checkType(t *gqlType) {
	c.checkSchemaExists(t.at+"/datafile", t.datafile)
	for _, f := range t.fields {
		c.checkField(t, f)
	}
	if t.implements != "" {
		c.checkInterface(t)
	}
	if t.isInterface && t.interfaceResolve == nil {
		c.addFinding(t.at, GraphQLInterface, "the interface %s lacks interfaceResolve", shortJSON(t.name))
	}
	if t.interfaceResolve == nil || t.interfaceResolve.String("strategy") != "fieldMap" {
		return
	}
	if name := t.interfaceResolve.String("field"); t.fieldsByName[name] == nil {
		c.addFinding(t.at+"/interfaceResolve/field", GraphQLInterface, "the interface %s has no field %s", shortJSON(t.name),
			shortJSON(name))
	}
	v, _ := t.interfaceResolve.Get("fieldMap")
	types, _ := v.(*bundle.Object)
	if types == nil {
		c.addFinding(t.at+"/interfaceResolve", GraphQLInterface, "the key \"fieldMap\" is missing")
		return
	}
	for _, m := range types.Members() {
		c.checkMappedType(t, m)
	}
}

// checkMappedType checks one entry of the fieldMap of an interface.
func (c *typeChecker) checkMappedType(t *gqlType, m bundle.Member) {
	name, _ := m.Value.(string)
	at := t.at + "/interfaceResolve/fieldMap" + pointer([]step{{key: m.Key}})
	switch typ := c.checker.types.byName[name]; {
	case typ == nil:
		c.addFinding(at, GraphQLType, "there is no type %s", shortJSON(m.Value))
	case typ.implements != t.name:
		c.addFinding(at, GraphQLInterface, "the type %s does not implement %s", shortJSON(name), shortJSON(t.name))
	}
}

// checkInterface checks a type against the interface that it implements.
func (c *typeChecker) checkInterface(t *gqlType) {
	up := c.checker.types.byName[t.implements]
	if up == nil || !up.isInterface {
		c.addFinding(t.at+"/interface", GraphQLInterface, "there is no interface %s", shortJSON(t.implements))
		return
	}
	for _, want := range up.fields {
		switch f := t.fieldsByName[want.name]; {
		case f == nil:
			c.addFinding(t.at, GraphQLInterface, "the type %s lacks the field %s of its interface %s", shortJSON(t.name),
				shortJSON(want.name), shortJSON(up.name))
		case f.isList != want.isList || want.isRequired && !f.isRequired:
			c.addFinding(f.at, GraphQLInterface, "the field %s is not as in the interface %s: isList and isRequired must be "+
				"the same", shortJSON(f.name), shortJSON(up.name))
		}
	}
}

// checkField checks one field.
func (c *typeChecker) checkField(t *gqlType, f *gqlField) {
	typ := c.checker.types.byName[f.typ]
	if !scalarTypes[f.typ] && typ == nil {
		c.addFinding(f.at+"/type", GraphQLType, "there is no type %s", shortJSON(f.typ))
	}
	if typ != nil && typ.isInterface != f.isInterface {
		c.addFinding(f.at, GraphQLInterface, "isInterface of the field %s is %t, that of its type %s is %t",
			shortJSON(f.name), f.isInterface, shortJSON(f.typ), typ.isInterface)
	}
	if f.isInterface && typ == nil && scalarTypes[f.typ] {
		c.addFinding(f.at, GraphQLInterface, "the type %s of the field %s is not an interface", shortJSON(f.typ),
			shortJSON(f.name))
	}
	c.checkSchemaExists(f.at+"/datafileSchema", f.datafileSchema)
	if f.synthetic != nil {
		c.checkSchemaExists(f.at+"/synthetic/schema", f.synthetic.String("schema"))
	}
	if f.isUnique && !scalarTypes[f.typ] {
		c.addFinding(f.at, UniqueComplex, "isUnique set on %s.%s, type %s is not a simple type", t.name, f.name, f.typ)
	}
	if f.isUnique && !c.checker.types.topLevel[t.name] {
		c.addFinding(f.at, UniqueNotTop, "isUnique set on %s.%s, which is not a top-level type", t.name, f.name)
	}
	if scalarTypes[f.typ] || typ != nil {
		c.checkFieldKind(t, f)
	}
}

// checkFieldKind checks that a field has the same kind as its property in the JSON schema:
// list, object or scalar.
func (c *typeChecker) checkFieldKind(t *gqlType, f *gqlField) {
	for _, schema := range c.checker.types.schemasOf(t) {
		props := c.checker.properties(schema, 0)
		types := props[f.name]
		if len(types) == 0 || f.synthetic != nil || f.typ == "json" {
			continue
		}
		isArray := slices.Contains(types, "array")
		scalar := map[string][]string{"int": {"integer", "number"}, "float": {"integer", "number"}, "boolean": {"boolean"},
			"string": nil}
		fits, known := scalar[f.typ]
		switch {
		case isArray && len(types) == 1 && !f.isList:
			c.addFinding(f.at, GraphQLKind, "the field %s is not a list, but in %s it is one", shortJSON(f.name), schema)
		case !isArray && f.isList:
			c.addFinding(f.at, GraphQLKind, "the field %s is a list, but in %s it is %s", shortJSON(f.name), schema,
				strings.Join(types, " or "))
		case !isArray && !known && !slices.Contains(types, "object"):
			c.addFinding(f.at, GraphQLKind, "the field %s is an object, but in %s it is %s", shortJSON(f.name), schema,
				strings.Join(types, " or "))
		case !isArray && fits != nil && !slices.ContainsFunc(types, func(t string) bool { return slices.Contains(fits, t) }):
			c.addFinding(f.at, GraphQLKind, "the field %s is %s, but in %s it is %s", shortJSON(f.name), f.typ, schema,
				strings.Join(types, " or "))
		}
	}
}
