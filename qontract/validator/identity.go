package validator

import (
	"strings"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// itemIdentity returns a text that identifies a list item: the fields that distinguish
// items, and their values. It returns "" if the item has no such fields. A reference is
// identified by its target.
func (c *checker) itemIdentity(item any, s typedPlace) string {
	o, ok := item.(*bundle.Object)
	if !ok {
		return ""
	}
	if target := o.String("$ref"); target != "" {
		return c.targetIdentity(bundle.Path(target))
	}
	typ := s.objectType(c.types)
	if s.typ == nil || typ == nil || len(typ.identityFields) == 0 {
		return ""
	}
	return identityOf(typ, o, true)
}

// targetIdentity returns the identity of a datafile as a list item. It computes it once.
func (c *checker) targetIdentity(p bundle.Path) string {
	if id, ok := c.identities.Load(p); ok {
		return id.(string)
	}
	id := ""
	if f, ok := c.head.Datafile(p); ok {
		if typ := c.types.bySchema[f.Schema]; typ != nil && len(typ.identityFields) > 0 {
			id = identityOf(typ, f.Decode(), false)
		}
	}
	c.identities.Store(p, id)
	return id
}

// identityOf returns the identity of an object of this type. It uses the __identifier that
// the bundler computed, if there is one. If the object stands inside a list (inline), only
// single values and references count.
func identityOf(typ *gqlType, o *bundle.Object, inline bool) string {
	head := strings.Join(typ.identityFields, ", ") + "\n"
	if id := o.String("__identifier"); id != "" {
		return head + id
	}
	hasValue := false
	for _, name := range typ.identityFields {
		v, _ := o.Get(name)
		if inline && !isSingle(v) {
			v = nil
		}
		hasValue = hasValue || v != nil
		head += bundle.Canonical(v) + "\n"
	}
	if !hasValue {
		return ""
	}
	return head
}

// isSingle reports whether a value is a scalar or a reference.
func isSingle(v any) bool {
	switch v := v.(type) {
	case []any:
		return false
	case *bundle.Object:
		return v.String("$ref") != ""
	}
	return true
}
