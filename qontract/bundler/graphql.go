package bundler

import "errors"

// A graphqlType is a type of the GraphQL section, as far as the bundler needs it.
type graphqlType struct {
	fields       map[string]*graphqlField
	uniqueFields map[string]bool // fields that identify a list item
	resolveField string          // of an interface: the field whose value tells the implementation
	typeNames    *node           // of an interface: the names of the implementations by this value
}

// A graphqlField is a field of a type.
type graphqlField struct {
	typ    *graphqlType // nil for a scalar
	unique bool         // identifies a list item
}

// A graphql holds the GraphQL types by their names and by the schemas of their
// datafiles.
type graphql struct {
	types    map[string]*graphqlType
	bySchema map[string]*graphqlType
}

// newGraphQL reads the GraphQL section.
func newGraphQL(root *node) (*graphql, error) {
	confs := root
	if root != nil && root.kind == mapping {
		confs = root.get("confs")
	}
	if confs == nil || confs.kind != list {
		return nil, errors.New("has no list of GraphQL types: the file must be that list, or a mapping with that list " +
			"as confs")
	}
	g := &graphql{types: map[string]*graphqlType{}, bySchema: map[string]*graphqlType{}}
	for _, conf := range confs.items {
		if name := conf.get("name").stringValue(); name != "" {
			g.types[name] = &graphqlType{}
		}
	}
	for _, conf := range confs.items {
		t := g.types[conf.get("name").stringValue()]
		if t == nil {
			continue
		}
		g.readType(t, conf)
		if schema := conf.get("datafile").stringValue(); schema != "" {
			g.bySchema[schema] = t
		}
	}
	g.readQueryType(confs)
	return g, nil
}

// readType reads a type. If two types have the same name, the last one counts.
func (g *graphql) readType(t *graphqlType, conf *node) {
	*t = graphqlType{fields: map[string]*graphqlField{}, uniqueFields: map[string]bool{}}
	if fields := conf.get("fields"); fields != nil {
		for _, f := range fields.items {
			name := f.get("name").stringValue()
			if name == "" {
				continue
			}
			unique := f.get("isContextUnique").isTruthy() || f.get("isUnique").isTruthy()
			t.fields[name] = &graphqlField{typ: g.types[f.get("type").stringValue()], unique: unique}
			if delete(t.uniqueFields, name); unique {
				t.uniqueFields[name] = true
			}
		}
	}
	resolve := conf.get("interfaceResolve")
	if conf.get("isInterface").isTruthy() && resolve.get("strategy").stringValue() == "fieldMap" {
		t.resolveField, t.typeNames = resolve.get("field").stringValue(), resolve.get("fieldMap")
	}
}

// readQueryType reads the type Query: its fields say which type belongs to a schema.
func (g *graphql) readQueryType(confs *node) {
	for _, conf := range confs.items {
		fields := conf.get("fields")
		if conf.get("name").stringValue() != "Query" || fields == nil {
			continue
		}
		for _, f := range fields.items {
			if schema := f.get("datafileSchema").stringValue(); schema != "" {
				g.bySchema[schema] = g.types[f.get("type").stringValue()]
			}
		}
	}
}

// resolvingValue returns the value in data that tells which implementation of an
// interface it is. It returns nil if t is not an interface or the value is empty.
func (t *graphqlType) resolvingValue(data *node) *node {
	if t == nil || t.resolveField == "" {
		return nil
	}
	if v := data.get(t.resolveField); v.isTruthy() {
		return v
	}
	return nil
}

// implementation returns the type of data if t is an interface, else nil.
func (g *graphql) implementation(t *graphqlType, data *node) *graphqlType {
	v := t.resolvingValue(data)
	if v == nil || t.typeNames == nil || t.typeNames.kind != mapping {
		return nil
	}
	for _, m := range t.typeNames.members {
		if equalScalars(m.key, v) {
			return g.types[m.value.stringValue()]
		}
	}
	return nil
}
