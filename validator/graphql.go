package validator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
)

// checkTypes checks the GraphQL types: against their schema, among themselves,
// and against the JSON schemas.
func (c *checker) checkTypes() []Finding {
	at := Finding{Section: GraphQL}
	var found []Finding
	if o, ok := c.head.GraphQL().(*bundle.Object); ok {
		c.compileNamed(o)
		_, found = c.checkFile(at, o)
	}
	g := &typeCheck{c: c, found: found}
	seen := map[string]bool{}
	for _, t := range c.types.all {
		if seen[t.name] {
			g.add(t.at+"/name", GraphQLRepeated, "the type %s is there twice", show(t.name))
		}
		seen[t.name] = true
		g.typ(t)
	}
	if len(g.found) == 0 && c.head.GraphQL() != nil {
		if _, err := gql.NewSchema(c.head.GraphQL()); err != nil {
			g.add("", GraphQLInvalid, "%s", firstLine(err.Error()))
		}
	}
	g.found = append(g.found, c.newGaps()...)
	return g.found
}

// compileNamed compiles the schema that a file names.
func (c *checker) compileNamed(o *bundle.Object) {
	if p := schemaPath(o.String("$schema")); c.library.docs[p] != nil {
		_, _ = c.library.compile(p, "") // what is wrong is told with the schema
	}
}

// A typeCheck collects what is wrong with the GraphQL types.
type typeCheck struct {
	c     *checker
	found []Finding
}

func (g *typeCheck) add(at string, r Rule, format string, args ...any) {
	g.found = append(g.found, Finding{Section: GraphQL, Pointer: at, Rule: r, Message: fmt.Sprintf(format, args...)})
}

// schemaExists checks that a schema that a type names is there.
func (g *typeCheck) schemaExists(at, name string) {
	if name != "" && g.c.library.docs[schemaPath(name)] == nil {
		g.add(at, GraphQLSchema, "%s is not the path of a schema", show(name))
	}
}

func (g *typeCheck) typ(t *gqlType) {
	g.schemaExists(t.at+"/datafile", t.datafile)
	for _, f := range t.fields {
		g.field(t, f)
	}
	if t.implements != "" {
		g.implements(t)
	}
	if t.isInterface && t.resolve == nil {
		g.add(t.at, GraphQLInterface, "the interface %s lacks interfaceResolve", show(t.name))
	}
	if t.resolve == nil || t.resolve.String("strategy") != "fieldMap" {
		return
	}
	if name := t.resolve.String("field"); t.by[name] == nil {
		g.add(t.at+"/interfaceResolve/field", GraphQLInterface, "the interface %s has no field %s", show(t.name), show(name))
	}
	v, _ := t.resolve.Get("fieldMap")
	types, _ := v.(*bundle.Object)
	if types == nil {
		g.add(t.at+"/interfaceResolve", GraphQLInterface, "the key \"fieldMap\" is missing")
		return
	}
	for _, m := range types.Members() {
		g.mapped(t, m)
	}
}

// mapped checks one type that an interface stands for.
func (g *typeCheck) mapped(t *gqlType, m bundle.Member) {
	name, _ := m.Value.(string)
	at := t.at + "/interfaceResolve/fieldMap" + pointer([]step{{key: m.Key}})
	switch typ := g.c.types.by[name]; {
	case typ == nil:
		g.add(at, GraphQLType, "there is no type %s", show(m.Value))
	case typ.implements != t.name:
		g.add(at, GraphQLInterface, "the type %s does not implement %s", show(name), show(t.name))
	}
}

// implements checks a type against its interface.
func (g *typeCheck) implements(t *gqlType) {
	up := g.c.types.by[t.implements]
	if up == nil || !up.isInterface {
		g.add(t.at+"/interface", GraphQLInterface, "there is no interface %s", show(t.implements))
		return
	}
	for _, want := range up.fields {
		switch f := t.by[want.name]; {
		case f == nil:
			g.add(t.at, GraphQLInterface, "the type %s lacks the field %s of its interface %s", show(t.name), show(want.name), show(up.name))
		case f.isList != want.isList || want.isRequired && !f.isRequired:
			g.add(f.at, GraphQLInterface, "the field %s is not as in the interface %s: isList and isRequired must be the same", show(f.name), show(up.name))
		}
	}
}

// field checks one field.
func (g *typeCheck) field(t *gqlType, f *gqlField) {
	typ := g.c.types.by[f.typ]
	if !simple[f.typ] && typ == nil {
		g.add(f.at+"/type", GraphQLType, "there is no type %s", show(f.typ))
	}
	if typ != nil && typ.isInterface != f.isInterface {
		g.add(f.at, GraphQLInterface, "isInterface of the field %s is %t, that of its type %s is %t", show(f.name), f.isInterface, show(f.typ), typ.isInterface)
	}
	if f.isInterface && typ == nil && simple[f.typ] {
		g.add(f.at, GraphQLInterface, "the type %s of the field %s is no interface", show(f.typ), show(f.name))
	}
	g.schemaExists(f.at+"/datafileSchema", f.datafileSchema)
	if f.synthetic != nil {
		g.schemaExists(f.at+"/synthetic/schema", f.synthetic.String("schema"))
	}
	if f.isUnique && !simple[f.typ] {
		g.add(f.at, UniqueComplex, "isUnique set on %s.%s, type %s is not a simple type", t.name, f.name, f.typ)
	}
	if f.isUnique && !g.c.types.top[t.name] {
		g.add(f.at, UniqueNotTop, "isUnique set on %s.%s, which is not a top-level type", t.name, f.name)
	}
	if simple[f.typ] || typ != nil {
		g.kind(t, f)
	}
}

// kind checks that a field and the property that it reads are alike.
func (g *typeCheck) kind(t *gqlType, f *gqlField) {
	for _, s := range g.c.types.schemasOf(t) {
		props := g.c.properties(s, 0)
		types := props[f.name]
		if len(types) == 0 || f.synthetic != nil || f.typ == "json" {
			continue
		}
		isArray := slices.Contains(types, "array")
		scalar := map[string][]string{"int": {"integer", "number"}, "float": {"integer", "number"}, "boolean": {"boolean"}, "string": nil}
		fits, known := scalar[f.typ]
		switch {
		case isArray && len(types) == 1 && !f.isList:
			g.add(f.at, GraphQLKind, "the field %s is no list, but in %s it is", show(f.name), s)
		case !isArray && f.isList:
			g.add(f.at, GraphQLKind, "the field %s is a list, but in %s it is %s", show(f.name), s, strings.Join(types, " or "))
		case !isArray && !known && !slices.Contains(types, "object"):
			g.add(f.at, GraphQLKind, "the field %s is an object, but in %s it is %s", show(f.name), s, strings.Join(types, " or "))
		case !isArray && fits != nil && !slices.ContainsFunc(types, func(t string) bool { return slices.Contains(fits, t) }):
			g.add(f.at, GraphQLKind, "the field %s is %s, but in %s it is %s", show(f.name), f.typ, s, strings.Join(types, " or "))
		}
	}
}
