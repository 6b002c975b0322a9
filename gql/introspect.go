package gql

// A wrapped is a type that introspection shows as a list, or as not null.
type wrapped struct {
	kind string
	of   any // *typeDef or wrapped
}

// An enumWord is a value of an enumeration.
type enumWord struct{ name, note string }

// shown returns a field's type as introspection walks it.
func (f *fieldDef) shown() any {
	var t any = f.typ
	if f.list {
		t = wrapped{"LIST", wrapped{"NON_NULL", f.typ}}
	}
	if f.required {
		t = wrapped{"NON_NULL", t}
	}
	return t
}

func (a *argDef) shown() any {
	if a.required {
		return wrapped{"NON_NULL", a.typ}
	}
	return a.typ
}

// meta resolves a field of introspection. Nothing is deprecated, and only what
// every schema has is described.
func (s *Schema) meta(p *pick, parent any) any {
	switch parent := parent.(type) {
	case undefined:
		return s.metaRoot(p)
	case *Schema:
		return s.metaSchema(p.def.name)
	case *typeDef:
		return s.metaType(p.def.name, parent)
	case wrapped:
		switch p.def.name {
		case "kind":
			return parent.kind
		case "ofType":
			return parent.of
		}
	case *fieldDef:
		return metaField(p.def.name, parent)
	case *argDef:
		return metaArg(p.def.name, parent)
	case *directiveDef:
		return metaDirective(p.def.name, parent)
	case enumWord:
		return metaNamed(p.def.name, parent.name, parent.note)
	}
	return nil
}

func (s *Schema) metaRoot(p *pick) any {
	if p.def.name == "__schema" {
		return s
	}
	name, _ := p.args["name"].(string)
	if t := s.types[name]; t != nil {
		return t
	}
	return nil
}

func (s *Schema) metaSchema(field string) any {
	switch field {
	case "types":
		return anyList(s.order)
	case "queryType":
		return s.query
	case "directives":
		return anyList(s.directives)
	}
	return nil
}

func (s *Schema) metaType(field string, t *typeDef) any {
	composite := !t.leaf()
	switch {
	case field == "kind":
		return t.kind.String()
	case field == "name" || field == "description":
		return metaNamed(field, t.name, t.note)
	case field == "fields" && composite:
		return anyList(t.fields)
	case field == "interfaces" && composite:
		return anyList(t.interfaces)
	case field == "possibleTypes" && t.kind == kindInterface:
		return anyList(t.possible)
	case field == "enumValues" && t.kind == kindEnum:
		words := make([]any, len(t.enum))
		for i, word := range t.enum {
			words[i] = enumWord{word, t.enumNotes[i]}
		}
		return words
	}
	return nil
}

func metaField(field string, f *fieldDef) any {
	switch field {
	case "args":
		return anyList(f.args)
	case "type":
		return f.shown()
	}
	return metaNamed(field, f.name, f.note)
}

func metaArg(field string, a *argDef) any {
	switch field {
	case "type":
		return a.shown()
	case "defaultValue":
		if a.standard == nil {
			return nil
		}
		return string(appendJSON(nil, a.standard))
	}
	return metaNamed(field, a.name, a.note)
}

func metaDirective(field string, d *directiveDef) any {
	switch field {
	case "isRepeatable":
		return false
	case "locations":
		return anyList(d.locations)
	case "args":
		return anyList(d.args)
	}
	return metaNamed(field, d.name, d.note)
}

// metaNamed resolves what all parts of a schema have.
func metaNamed(field, name, note string) any {
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
