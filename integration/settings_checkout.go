package integration

import (
	"path"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A Checkout says where the parts of a bundle are in a checkout of the
// repository. Paths have slashes. Schemas and GraphQL may lie outside: a path
// that begins with a slash or with ../ starts from the folder of the settings
// file. Schemas may also be a bundle file (*.json), which then gives the
// GraphQL types too.
type Checkout struct {
	Data, Resources, Schemas, GraphQL string
}

// defaultCheckout holds where the settings say nothing.
var defaultCheckout = Checkout{
	Data: "data", Resources: "resources", Schemas: "schemas", GraphQL: "graphql-schemas/schema.yml",
}

// Checkout says where the parts of a bundle are, defaults filled in.
func (s *Settings) Checkout() Checkout {
	if s.checkout == (Checkout{}) {
		return defaultCheckout
	}
	return s.checkout
}

// FromBundle tells whether schemas and GraphQL types come from a bundle file.
func (c Checkout) FromBundle() bool { return path.Ext(c.Schemas) == ".json" }

// Outside tells whether a path of a checkout starts from the folder of the
// settings file.
func Outside(p string) bool { return path.IsAbs(p) || p == ".." || strings.HasPrefix(p, "../") }

func (r *reader) checkout(n *yaml.Node) Checkout {
	c := defaultCheckout
	keys := r.object(n, "checkout", "data", "resources", "schemas", "graphql")
	for _, k := range []struct {
		name    string
		to      *string
		outside bool
	}{
		{"data", &c.Data, false}, {"resources", &c.Resources, false},
		{"schemas", &c.Schemas, true}, {"graphql", &c.GraphQL, true},
	} {
		at := "checkout." + k.name
		if n := keys[k.name]; n != nil {
			if s, ok := r.text(n, at); ok {
				*k.to = s
				r.checkoutPath(n.Line, at, s, k.outside)
			}
		}
	}
	if n := keys["graphql"]; n != nil && c.FromBundle() {
		r.fail(n.Line, "checkout.graphql", "cannot be told when the schemas come from the bundle %s", clip(c.Schemas))
	}
	return c
}

func (r *reader) checkoutPath(line int, at, p string, outside bool) {
	why := ""
	switch {
	case strings.Contains(p, `\`):
		why = "it has a backslash; write slashes"
	case Outside(p) && outside:
	case Outside(p):
		why = "it is not inside of the checkout"
	default:
		why = badPath(p)
	}
	if why != "" {
		r.fail(line, at, "%s cannot be used: %s", clip(p), why)
	}
}
