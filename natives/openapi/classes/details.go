package classes

import (
	"bytes"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/natives/openapi"
)

// maxDescription is the length in bytes up to which a description is kept.
const maxDescription = 2000

// describe finds what the specification says about the value itself.
func (c *Classifier) describe(n *node, p *Property, _ *inherited) error {
	all := n.all()
	for _, f := range []struct {
		keyword string
		use     func(openapi.Place)
	}{
		{"type", func(at openapi.Place) { p.Type = typeName(at.Value) }},
		{"enum", func(at openapi.Place) { p.Enum = at.Value }},
		{"description", func(at openapi.Place) {
			p.Description = at.Value.Text()
			p.Description = phrase.Cut(p.Description, maxDescription)
		}},
	} {
		at, err := firstKeyword(f.keyword, all...)
		if err != nil {
			return err
		}
		if at.Value != nil {
			f.use(at)
		}
	}
	if p.Type == "" {
		if err := guessType(n, p); err != nil {
			return err
		}
	}
	var err error
	if p.NullInPatch, err = n.patch.isNullable(); err != nil {
		return err
	}
	if p.Variants, err = first(all...).schema.Variants(); err != nil {
		return err
	}
	if n.parent != nil && n.step.kind == property {
		required, err := first(n.parent.requests()...).schema.Required()
		if err != nil {
			return err
		}
		p.Required = slices.Contains(required, n.step.name)
	}
	return c.atomic(n, p)
}

// isNullable reports whether null is a value of a property.
func (s side) isNullable() (bool, error) {
	if !s.has() {
		return false, nil
	}
	for _, name := range []string{"nullable", "x-nullable"} {
		if at, err := s.keyword(name); err != nil || at.Value.Is() {
			return err == nil, err
		}
	}
	kind, err := s.keyword("type")
	return slices.Contains(kind.Value.Strings(), "null"), err
}

// typeName returns the type, of OpenAPI 3.1 the one beside null.
func typeName(v *openapi.Value) string {
	if name := v.Text(); name != "" {
		return name
	}
	names := slices.DeleteFunc(v.Strings(), func(name string) bool { return name == "null" })
	return strings.Join(names, "|")
}

// guessType finds the type of a value whose type is not declared, from what it holds.
func guessType(n *node, p *Property) error {
	isList, err := n.describes(step{kind: item})
	if err != nil || isList {
		p.Type = "array"
		return err
	}
	for _, s := range n.all() {
		names, err := s.schema.Properties()
		if err != nil {
			return err
		}
		if len(names) > 0 {
			p.Type = "object"
		}
	}
	isMap, err := n.describes(step{kind: mapValue})
	if isMap {
		p.Type = "object"
	}
	return err
}

// atomic finds objects that are one value.
func (c *Classifier) atomic(n *node, p *Property) error {
	at, err := firstKeyword("x-kubernetes-map-type", n.all()...)
	if err == nil && at.Value.Text() == "atomic" {
		p.Atomic = declared(at, "x-kubernetes-map-type is atomic")
	}
	return err
}

// list decides how a list is merged. The first keyword that says something wins.
func (c *Classifier) list(n *node, p *Property, _ *inherited) error {
	if p.Type != "array" {
		return nil
	}
	p.List = &List{Kind: Atomic, Ground: Ground{Source: Inferred, Text: "nothing says that its items have keys"}}
	for _, rule := range []func(*node) (*List, error){listType, mergeKey, identifiers, unique, c.setOfFamily,
		c.keyOfItems} {
		l, err := rule(n)
		if err != nil {
			return err
		}
		if l != nil {
			p.List = l
			return nil
		}
	}
	return nil
}

func listType(n *node) (*List, error) {
	at, err := firstKeyword("x-kubernetes-list-type", n.all()...)
	if err != nil || at.Value.Text() == "" {
		return nil, err
	}
	l := &List{Kind: Atomic, Ground: *declared(at, "x-kubernetes-list-type")}
	switch at.Value.Text() {
	case "set":
		l.Kind = Set
	case "map":
		keys, err := firstKeyword("x-kubernetes-list-map-keys", n.all()...)
		if err != nil {
			return nil, err
		}
		if l.Keys = keys.Value.Strings(); len(l.Keys) > 0 {
			l.Kind = Map
		}
	}
	return l, nil
}

func mergeKey(n *node) (*List, error) {
	key, err := firstKeyword("x-kubernetes-patch-merge-key", n.all()...)
	if err != nil {
		return nil, err
	}
	if name := key.Value.Text(); name != "" {
		return &List{Kind: Map, Keys: []string{name}, Ground: *declared(key, "x-kubernetes-patch-merge-key")}, nil
	}
	strategy, err := firstKeyword("x-kubernetes-patch-strategy", n.all()...)
	if err != nil || !slices.Contains(strings.Split(strategy.Value.Text(), ","), "merge") {
		return nil, err
	}
	if isScalar, err := holdsScalars(n); err != nil || !isScalar {
		return nil, err
	}
	return &List{Kind: Set,
		Ground: *declared(strategy, "x-kubernetes-patch-strategy is merge, and the items are scalars")}, nil
}

// identifiers reads x-ms-identifiers. An empty list says that there is no key.
func identifiers(n *node) (*List, error) {
	at, err := firstKeyword("x-ms-identifiers", n.all()...)
	if err != nil || at.Value == nil {
		return nil, err
	}
	keys := at.Value.Strings()
	if len(keys) == 0 {
		return &List{Kind: Atomic, Ground: *declared(at, "x-ms-identifiers is empty: its items have no key")}, nil
	}
	for i, key := range keys {
		keys[i] = strings.TrimPrefix(key, "/")
	}
	return &List{Kind: Map, Keys: keys, Ground: *declared(at, "x-ms-identifiers")}, nil
}

func unique(n *node) (*List, error) {
	at, err := firstKeyword("uniqueItems", n.all()...)
	if err != nil || !at.Value.Is() {
		return nil, err
	}
	if isScalar, err := holdsScalars(n); err != nil || !isScalar {
		return nil, err
	}
	return &List{Kind: Set, Ground: *declared(at, "uniqueItems, and the items are scalars")}, nil
}

// holdsScalars reports whether the items of a list are texts, numbers or truth values.
func holdsScalars(n *node) (bool, error) {
	items, err := n.child(step{kind: item})
	if err != nil {
		return false, err
	}
	at, err := firstKeyword("type", items.all()...)
	if err != nil {
		return false, err
	}
	switch typeName(at.Value) {
	case "string", "integer", "number", "boolean":
		return true, nil
	}
	return false, nil
}

// defaults finds the default that a request declares, or else an answer.
func (c *Classifier) defaults(n *node, p *Property, _ *inherited) error {
	at, err := firstKeyword("default", n.all()...)
	if err != nil || at.Value == nil || c.isZero(at.Value) {
		return err
	}
	p.Default = &Default{Value: at.Value, Ground: *declared(at, "default")}
	return nil
}

// isZero reports whether a default is none: it is that of a struct of the language that the
// service is written in.
func (c *Classifier) isZero(v *openapi.Value) bool {
	if v.Kind == openapi.Null || v.Kind >= openapi.Array && len(v.Items()) == 0 {
		return true
	}
	if !c.family.ZeroDefaults {
		return false
	}
	raw, err := v.MarshalJSON()
	return err == nil && slices.ContainsFunc([]string{`""`, "0", "false"}, func(zero string) bool {
		return bytes.Equal(raw, []byte(zero))
	})
}

// format decides how two texts are compared.
func (c *Classifier) format(n *node, p *Property, _ *inherited) error {
	at, err := firstKeyword("format", n.all()...)
	if err != nil {
		return err
	}
	details, err := firstKeyword("x-ms-arm-id-details", n.all()...)
	if err != nil {
		return err
	}
	intOrString, err := firstKeyword("x-kubernetes-int-or-string", n.all()...)
	switch name := at.Value.Text(); {
	case err != nil:
		return err
	case name == "arm-id", name == "duration", name == "date-time", name == "int-or-string", name == "quantity":
		p.Format = &Format{name, *declared(at, "format")}
	case details.Value != nil:
		p.Format = &Format{"arm-id", *declared(details, "x-ms-arm-id-details")}
	case intOrString.Value.Is():
		p.Format = &Format{"int-or-string", *declared(intOrString, "x-kubernetes-int-or-string")}
	case p.Type == "string" && n.step == (step{property, "location"}):
		p.Format = &Format{"location", Ground{Source: Inferred, Text: "its name is location"}}
	default:
		p.Format = c.familyFormat(n)
	}
	return nil
}

// familyFormat returns the format that the family gives a definition by its name.
func (c *Classifier) familyFormat(n *node) *Format {
	for _, s := range n.all() {
		for _, target := range s.schema.Targets() {
			definition := openapi.Place{Value: target}.Name()
			if name := c.family.Formats[definition]; name != "" {
				return &Format{name, Ground{Source: ByFamily, Text: "it is a " + definition}}
			}
		}
	}
	return nil
}
