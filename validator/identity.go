package validator

import (
	"strings"

	"github.com/app-sre/prcheck/bundle"
)

// identity names a list item by the fields that tell items apart, and their
// values; "" when there is nothing of the kind. A reference stands for its
// target.
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

// targetIdentity names a datafile as a list item; it is computed once.
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

// identify uses what the bundler has computed from those fields, if it has. Of
// an object inside a list only single values and references count.
func identityOf(typ *gqlType, o *bundle.Object, inline bool) string {
	head := strings.Join(typ.identityFields, ", ") + "\n"
	if id := o.String("__identifier"); id != "" {
		return head + id
	}
	some := false
	for _, name := range typ.identityFields {
		v, _ := o.Get(name)
		if inline && !isSingle(v) {
			v = nil
		}
		some = some || v != nil
		head += bundle.Canonical(v) + "\n"
	}
	if !some {
		return ""
	}
	return head
}

func isSingle(v any) bool {
	switch v := v.(type) {
	case []any:
		return false
	case *bundle.Object:
		return v.String("$ref") != ""
	}
	return true
}
