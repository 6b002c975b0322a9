package settings

import (
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/internal/phrase"
)

// A Checkout says where the parts of a bundle are in a checkout of the repository.
// Paths have slashes. Schemas and GraphQL may be outside of the checkout: they may be
// absolute, and a path that begins with ../ starts at the folder of the settings file.
// Schemas may also be the path of a bundle file (*.json). The GraphQL types then come
// from that bundle, too.
type Checkout struct {
	Data, Resources, Schemas, GraphQL string
}

// defaultCheckout has the paths that hold if the settings do not set them.
var defaultCheckout = Checkout{
	Data: "data", Resources: "resources", Schemas: "schemas", GraphQL: "graphql-schemas/schema.yml",
}

// Checkout returns where the parts of a bundle are. Keys that the settings do not set
// have their defaults.
func (s *Settings) Checkout() Checkout {
	if s.checkout == (Checkout{}) {
		return defaultCheckout
	}
	return s.checkout
}

// FromBundle reports whether schemas and GraphQL types come from a bundle file.
func (c Checkout) FromBundle() bool { return path.Ext(c.Schemas) == ".json" }

// IsOutside reports whether a path of a Checkout is absolute or begins with ../, so that
// it does not start at the root of the checkout.
func IsOutside(p string) bool { return path.IsAbs(p) || p == ".." || strings.HasPrefix(p, "../") }

// readCheckout reads the key checkout.
func (r *reader) readCheckout(n *yaml.Node) Checkout {
	c := defaultCheckout
	keys := r.readObject(n, "checkout", "data", "resources", "schemas", "graphql")
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
			if s, ok := r.readText(n, at); ok {
				*k.to = s
				r.checkCheckoutPath(n.Line, at, s, k.outside)
			}
		}
	}
	if n := keys["graphql"]; n != nil && c.FromBundle() {
		r.fail(n.Line, "checkout.graphql", "cannot be set, since the GraphQL types come with the schemas from the bundle %s",
			phrase.Quote(c.Schemas))
	}
	return c
}

// checkCheckoutPath notes a mistake if a path of checkout cannot be used.
func (r *reader) checkCheckoutPath(line int, at, p string, outside bool) {
	why := ""
	switch {
	case strings.Contains(p, `\`):
		why = "it has a backslash; write slashes"
	case IsOutside(p) && outside:
	case IsOutside(p):
		why = "it is not inside of the checkout"
	default:
		why = pathProblem(p)
	}
	if why != "" {
		r.fail(line, at, "%s cannot be used: %s", phrase.Quote(p), why)
	}
}
