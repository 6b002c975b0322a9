package gql

import (
	"errors"
	"fmt"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// defineFields adds the fields of a type.
func (b *builder) defineFields(t *typeDef, conf *bundle.Object) error {
	v, _ := conf.Get("fields")
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return errors.New("it has no fields")
	}
	t.fields = make([]*fieldDef, 0, len(list))
	block := make([]fieldDef, len(list))
	if len(list) >= indexFrom {
		t.fieldIndex = make(map[string]*fieldDef, len(list))
	}
	for i, v := range list {
		o, ok := v.(*bundle.Object)
		if !ok {
			return fmt.Errorf("field %d: not an object", i)
		}
		f := &block[i]
		f.name = o.String("name")
		if err := b.defineField(f, o); err != nil {
			return fmt.Errorf("field %q: %w", f.name, err)
		}
		if isTruthyKey(o, "isSearchable") {
			b.searchable[t] = append(b.searchable[t], f.name)
		}
		t.setField(f)
	}
	return nil
}

// setField adds a field. It replaces a field with the same name.
func (t *typeDef) setField(f *fieldDef) {
	if old := t.field(f.name); old != nil {
		*old = *f
		return
	}
	t.fields = append(t.fields, f)
	if t.fieldIndex != nil {
		t.fieldIndex[f.name] = f
	}
}

// defineField reads the type of a field and where its values come from.
func (b *builder) defineField(f *fieldDef, o *bundle.Object) error {
	if err := checkName(f.name); err != nil {
		return err
	}
	f.bundleType = o.String("type")
	f.typ = b.typeNamed(f.bundleType, isTruthyKey(o, "isInterface"))
	if f.typ == nil {
		return fmt.Errorf("there is no %s %q", typeKindWord(o), f.bundleType)
	}
	f.isList = isTruthyKey(o, "isList")
	f.list = f.isList
	f.required = isTruthyKey(o, "isRequired")
	return b.readResolver(f, o)
}

// typeKindWord names the kind of type that a field of the bundle asks for, for an error
// message.
func typeKindWord(o *bundle.Object) string {
	if isTruthyKey(o, "isInterface") {
		return "interface"
	}
	return "object type"
}

// typeNamed returns the type that a field names, or nil.
func (b *builder) typeNamed(name string, isInterface bool) *typeDef {
	switch name {
	case "string":
		return b.schema.builtins.stringType
	case "int":
		return b.schema.builtins.intType
	case "float":
		return b.schema.builtins.floatType
	case "boolean":
		return b.schema.builtins.booleanType
	case "json":
		return b.schema.builtins.jsonType
	}
	t := b.schema.types[name]
	if t == nil || (t.kind == kindInterface) != isInterface {
		return nil
	}
	return t
}

// readResolver reads where the values of a field come from.
func (b *builder) readResolver(f *fieldDef, o *bundle.Object) error {
	switch {
	case isTruthyKey(o, "datafileSchema"):
		f.resolver = resolveDatafiles
		f.schema = bundle.SchemaPath(o.String("datafileSchema"))
		if f.typ.isLeaf() {
			return fmt.Errorf("datafiles cannot be of type %q", f.bundleType)
		}
	case isTruthyKey(o, "synthetic"):
		v, _ := o.Get("synthetic")
		synthetic, ok := v.(*bundle.Object)
		if !ok {
			return errors.New("synthetic is not an object")
		}
		f.resolver = resolveSynthetic
		f.schema = bundle.SchemaPath(synthetic.String("schema"))
		f.subAttr = synthetic.String("subAttr")
	case !isTruthyKey(o, "isResource"):
	case f.bundleType == "string" && isTruthyKey(o, "resolveResource"):
		f.resolver = resolveResource
		f.typ, f.list, f.required = b.typeNamed("Resource_v1", false), false, false
		if f.typ == nil {
			return errors.New(`it resolves resources, but there is no object type "Resource_v1"`)
		}
	case f.bundleType == "Resource_v1" && f.typ.kind == kindObject:
		f.resolver = resolveResources
		f.args = []*argDef{{name: "path", typ: b.schema.builtins.stringType},
			{name: "schema", typ: b.schema.builtins.stringType}}
	}
	return nil
}
