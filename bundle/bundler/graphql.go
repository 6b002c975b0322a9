package bundler

import "errors"

// A graphqlType is one type of the GraphQL section, as far as it counts here.
type graphqlType struct {
	fields   map[string]*graphqlField
	unique   map[string]bool // fields that tell list items apart
	resolves string          // of an interface with a field map: the field that decides
	impls    *node           // and what its values mean
}

type graphqlField struct {
	typ    *graphqlType // nil when it is a scalar
	unique bool
}

// A graphql is the GraphQL section made findable.
type graphql struct {
	types    map[string]*graphqlType
	bySchema map[string]*graphqlType
}

func newGraphQL(root *node) (*graphql, error) {
	confs := root
	if root != nil && root.kind == mapping {
		confs = root.get("confs")
	}
	if confs == nil || confs.kind != list {
		return nil, errors.New("has no list of GraphQL types: it is either that list or has it as confs")
	}
	g := &graphql{types: map[string]*graphqlType{}, bySchema: map[string]*graphqlType{}}
	for _, conf := range confs.items {
		if name := conf.get("name").str(); name != "" {
			g.types[name] = &graphqlType{}
		}
	}
	for _, conf := range confs.items {
		t := g.types[conf.get("name").str()]
		if t == nil {
			continue
		}
		g.fill(t, conf)
		if schema := conf.get("datafile").str(); schema != "" {
			g.bySchema[schema] = t
		}
	}
	g.query(confs)
	return g, nil
}

// fill reads a type; of two with one name the last one counts.
func (g *graphql) fill(t *graphqlType, conf *node) {
	*t = graphqlType{fields: map[string]*graphqlField{}, unique: map[string]bool{}}
	if fields := conf.get("fields"); fields != nil {
		for _, f := range fields.items {
			name := f.get("name").str()
			if name == "" {
				continue
			}
			unique := f.get("isContextUnique").truthy() || f.get("isUnique").truthy()
			t.fields[name] = &graphqlField{typ: g.types[f.get("type").str()], unique: unique}
			if delete(t.unique, name); unique {
				t.unique[name] = true
			}
		}
	}
	resolve := conf.get("interfaceResolve")
	if conf.get("isInterface").truthy() && resolve.get("strategy").str() == "fieldMap" {
		t.resolves, t.impls = resolve.get("field").str(), resolve.get("fieldMap")
	}
}

// query lets the fields of Query say which type a schema has.
func (g *graphql) query(confs *node) {
	for _, conf := range confs.items {
		fields := conf.get("fields")
		if conf.get("name").str() != "Query" || fields == nil {
			continue
		}
		for _, f := range fields.items {
			if schema := f.get("datafileSchema").str(); schema != "" {
				g.bySchema[schema] = g.types[f.get("type").str()]
			}
		}
	}
}

// decides is the value of data that tells which implementation of an
// interface it is, nil when t is none or the value is empty.
func (t *graphqlType) decides(data *node) *node {
	if t == nil || t.resolves == "" {
		return nil
	}
	if v := data.get(t.resolves); v.truthy() {
		return v
	}
	return nil
}

// implementation is the type that data has if t is an interface.
func (g *graphql) implementation(t *graphqlType, data *node) *graphqlType {
	v := t.decides(data)
	if v == nil || t.impls == nil || t.impls.kind != mapping {
		return nil
	}
	for _, m := range t.impls.members {
		if same(m.key, v) {
			return g.types[m.value.str()]
		}
	}
	return nil
}
