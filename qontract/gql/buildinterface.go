package gql

import (
	"errors"
	"fmt"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// readTypeResolver reads how the object type of a value of this interface is found.
func (t *typeDef) readTypeResolver(conf *bundle.Object) error {
	v, _ := conf.Get("interfaceResolve")
	how, ok := v.(*bundle.Object)
	if !ok {
		return errors.New("an interface needs interfaceResolve")
	}
	switch strategy := how.String("strategy"); strategy {
	case "schema":
		t.resolver = &typeResolver{bySchema: true}
		return nil
	case "fieldMap":
		t.resolver = &typeResolver{field: how.String("field"), types: map[string]string{}}
	default:
		return fmt.Errorf("interfaceResolve: there is no strategy %q", strategy)
	}
	v, _ = how.Get("fieldMap")
	fieldMap, ok := v.(*bundle.Object)
	if !ok || t.resolver.field == "" {
		return errors.New("interfaceResolve: the strategy fieldMap needs field and fieldMap")
	}
	for _, m := range jsMembers(fieldMap) {
		if name, ok := m.Value.(string); ok {
			t.resolver.types[m.Key] = name
			t.resolver.typeNames = append(t.resolver.typeNames, name)
		}
	}
	return nil
}

// addInterfaces adds the interfaces that a type implements: the one it names, and
// DatafileObject_v1 if the type or its interface is bound to a schema.
func (b *builder) addInterfaces(t *typeDef, conf *bundle.Object) {
	bound := t.datafileSchema != ""
	if i := b.schema.types[conf.String("interface")]; i != nil && i.kind == kindInterface && i != t {
		t.interfaces = append(t.interfaces, i)
		bound = bound || i.datafileSchema != ""
	}
	all := b.schema.types["DatafileObject_v1"]
	if bound && all != nil && all.kind == kindInterface && !t.isSubtypeOf(all) {
		t.interfaces = append(t.interfaces, all)
	}
}

// checkInterfaces checks that a type has all fields and arguments of its interfaces, with
// types that fit.
func (t *typeDef) checkInterfaces() error {
	for _, i := range t.interfaces {
		for _, up := range i.interfaces {
			if !t.isSubtypeOf(up) {
				return fmt.Errorf("it must implement %q, because %q does", up.name, i.name)
			}
		}
		for _, want := range i.fields {
			f := t.field(want.name)
			if f == nil {
				return fmt.Errorf("field %q of interface %q is missing", want.name, i.name)
			}
			if !f.isCompatibleWith(want) {
				return fmt.Errorf("field %q is %s, but interface %q has %s", f.name, f.typeString(), i.name, want.typeString())
			}
			for _, a := range want.args {
				if own := findArgument(f.args, a.name); own == nil || own.typ != a.typ {
					return fmt.Errorf("field %q lacks argument %q of interface %q", f.name, a.name, i.name)
				}
			}
		}
	}
	return nil
}

// isCompatibleWith reports whether every value of the field is also a value of the other
// field.
func (f *fieldDef) isCompatibleWith(other *fieldDef) bool {
	return f.list == other.list && (f.required || !other.required) && f.typ.isSubtypeOf(other.typ)
}
