package gql

import (
	"strings"

	"github.com/app-sre/prcheck/bundle"
)

// targets calls visit for what an object refers to with a dotted attribute.
// Lists on the way are gone through; what is neither a list nor an object, such
// as an explicit null, leads nowhere. (It stops qontract-server from loading
// the bundle at all.)
func eachTarget(o *bundle.Object, attr string, visit func(path string)) {
	head, rest, more := strings.Cut(attr, ".")
	v, ok := o.Get(head)
	if !ok {
		return
	}
	eachObject(v, func(o *bundle.Object) {
		if more {
			eachTarget(o, rest, visit)
			return
		}
		if path := o.String("$ref"); path != "" {
			visit(path)
		}
	})
}

// eachObject calls visit for an object, or for all objects in a list and the
// lists inside it.
func eachObject(v any, visit func(*bundle.Object)) {
	switch v := v.(type) {
	case *bundle.Object:
		visit(v)
	case []any:
		for _, item := range v {
			eachObject(item, visit)
		}
	}
}
