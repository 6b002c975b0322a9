package gql

// finish adds everything that needs all types: arguments, the order of types, and the
// object types of interfaces.
func (b *builder) finish() {
	for _, t := range b.declared {
		for _, f := range t.fields {
			if f.resolver == resolveDatafiles {
				f.args = b.filterArguments(f)
			}
		}
	}
	b.orderTypes()
	for _, t := range b.schema.typeList {
		if t.kind == kindObject {
			for _, i := range t.interfaces {
				i.possibleTypes = append(i.possibleTypes, t)
			}
		}
	}
}

// filterArguments returns the arguments of a field of datafiles: its searchable fields,
// path and filter.
func (b *builder) filterArguments(f *fieldDef) []*argDef {
	var args []*argDef
	add := func(name string, typ *typeDef) {
		if a := findArgument(args, name); a != nil {
			a.typ = typ
			return
		}
		args = append(args, &argDef{name: name, typ: typ})
	}
	for _, name := range b.searchable[f.typ] {
		add(name, b.schema.builtins.stringType)
	}
	add("path", b.schema.builtins.stringType)
	add("filter", b.schema.builtins.jsonType)
	return args
}

// orderTypes lists all types in the order of graphql-js: the object types in the order of
// the bundle, each followed by the types that it refers to and that are not yet listed.
func (b *builder) orderTypes() {
	seen := map[*typeDef]bool{}
	for _, t := range b.declared {
		seen[t] = t.kind == kindObject
	}
	var visit func(*typeDef)
	list := func(t *typeDef) {
		seen[t] = true
		b.schema.typeList = append(b.schema.typeList, t)
		for _, i := range t.interfaces {
			visit(i)
		}
		for _, f := range t.fields {
			visit(f.typ)
			for _, a := range f.args {
				visit(a.typ)
			}
		}
	}
	visit = func(t *typeDef) {
		if !seen[t] {
			list(t)
		}
	}
	for _, t := range b.declared {
		if t.kind == kindObject {
			list(t)
		}
	}
	visit(b.schema.builtins.booleanType)
	visit(b.schema.builtins.stringType)
	visit(b.schema.builtins.schemaType)
	b.schema.types = make(map[string]*typeDef, len(b.schema.typeList))
	for _, t := range b.schema.typeList {
		b.schema.types[t.name] = t
	}
}
