package classes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// A Classifier classifies the properties of one type.
type Classifier struct {
	family    *resources.Habits
	fixed     map[string]kubeField // what the API server does with fields of the type
	sides     sides
	patchKind resources.PatchKind
	overrides map[string][]*Entry // by the path of the property
	// patchLacks says whether PATCH lacks something that PUT takes, once that was asked for.
	patchLacks *bool
	plain      []string // names that look like those of secrets, and are none
	kept       *node    // the root of what Lookup read
	count      int      // of the nodes below it
}

// New returns a classifier of a type. It takes the entries of override files that are about
// the type, and marks them as used; an entry whose property is not there is an error.
func New(t *resources.Type, files ...*Overrides) (*Classifier, error) {
	bodies, err := t.Bodies()
	if err != nil {
		return nil, err
	}
	kind, err := bodies.PatchKind()
	if err != nil {
		return nil, err
	}
	c := &Classifier{
		family: t.Family,
		sides: sides{
			get:   rootSide(bodies.HasGet, bodies.Get),
			put:   rootSide(bodies.HasPut, bodies.Put),
			post:  rootSide(bodies.HasPost, bodies.Post),
			patch: rootSide(bodies.HasPatch, bodies.Patch),
		}.settled(),
		patchKind: kind,
		plain:     plainNames(t),
		fixed:     kubeFields(t),
	}
	return c, c.addOverrides(t, files)
}

// inherited is the classes that a property passes on to what is inside of it.
type inherited struct {
	readOnly, createOnly, writeOnly, secret, volatile *Ground
	mutable                                           *Ground // an override says so
	mutability                                        openapi.Place
	fixedIf                                           string
}

// Family returns the family of the type.
func (c *Classifier) Family() *resources.Habits { return c.family }

func (c *Classifier) root() *node { return &node{sides: c.sides} }

// child returns a part of a node, with the classes that it inherits.
func (c *Classifier) child(n *node, st step) (*node, error) {
	s, err := n.child(st)
	if err != nil {
		return nil, err
	}
	p, in, err := c.classify(n)
	if err != nil {
		return nil, err
	}
	for _, g := range []**Ground{&in.readOnly, &in.createOnly, &in.mutable, &in.writeOnly, &in.secret, &in.volatile} {
		if *g != nil && (*g).From == "" && p.Path != "" {
			from := **g
			from.From = p.Path
			*g = &from
		}
	}
	return &node{sides: s, path: st.text(n.path), pointer: st.pattern(n.pointer), step: st, inherited: in, parent: n}, nil
}

// Explain returns what is known of the property of a path. The path is dotted, as in
// properties.rules[].action, or a JSON pointer.
func (c *Classifier) Explain(path string) (*Property, error) {
	n, err := c.find(path)
	if err != nil {
		return nil, err
	}
	p, _, err := c.classify(n)
	if err != nil {
		return nil, err
	}
	p.Cyclic = n.isCyclic()
	if name := lastName(path); c.MasksKey(p, name) {
		masked := *p
		masked.Masked = true
		return &masked, nil
	}
	return p, nil
}

// classify returns a property and what it passes on.
func (c *Classifier) classify(n *node) (*Property, inherited, error) {
	if n.property == nil {
		p, in, err := c.decide(n)
		if err != nil {
			return nil, in, err
		}
		n.property, n.passes = p, in
	}
	return n.property, n.passes, nil
}

func (c *Classifier) decide(n *node) (*Property, inherited, error) {
	p := &Property{Path: n.path, Pattern: n.pointer, Get: n.get.presence, Put: n.put.presence, Post: n.post.presence,
		Patched: n.patch.presence, IsValue: n.step.kind == mapValue}
	in := n.inherited
	if n.path == "" {
		return p, in, c.describe(n, p, &in)
	}
	for _, rule := range []func(*node, *Property, *inherited) error{
		c.describe, c.mutability, c.readOnly, c.createOnly, c.writeOnly, c.secret, c.list, c.defaults, c.format,
	} {
		if err := rule(n, p, &in); err != nil {
			return nil, in, err
		}
	}
	c.override(n, p, &in)
	p.ReadOnly, p.Mutable, p.WriteOnly, p.Secret, p.Volatile = in.readOnly, in.mutable, in.writeOnly, in.secret,
		in.volatile
	p.FixedIf = in.fixedIf
	if p.CreateOnly = in.createOnly; p.ReadOnly != nil {
		p.CreateOnly = nil
	}
	return p, in, nil
}

func declared(p openapi.Place, text string) *Ground {
	return &Ground{Source: Declared, Place: p.String(), Text: text}
}

func inferred(s side, text string) *Ground {
	return &Ground{Source: Inferred, Place: s.schema.Place().String(), Text: text}
}

// mutability finds x-ms-mutability, which counts for everything inside.
func (c *Classifier) mutability(n *node, _ *Property, in *inherited) error {
	p, err := firstKeyword("x-ms-mutability", n.all()...)
	if err == nil && p.Value != nil {
		in.mutability = p
	}
	return err
}

// allows reports whether mutability is declared, and names an act: read, create or update.
func (in *inherited) allows(act string) (declared, allowed bool) {
	acts := in.mutability.Value.Strings()
	return len(acts) > 0, slices.Contains(acts, act)
}

// readOnly decides whether the service fills a property in.
func (c *Classifier) readOnly(n *node, p *Property, in *inherited) error {
	if in.readOnly != nil {
		return nil
	}
	mark, err := first(n.requests()...).keyword("readOnly")
	if err != nil {
		return err
	}
	isDeclared, canCreate := in.allows("create")
	_, canUpdate := in.allows("update")
	_, canRead := in.allows("read")
	switch {
	case mark.Value.Is():
		in.readOnly = declared(mark, "readOnly in what a request takes")
	case isDeclared && canRead && !canCreate && !canUpdate:
		in.readOnly = declared(in.mutability, "x-ms-mutability is read only")
	case c.isOfFamily(n.path):
		in.readOnly = &Ground{Source: ByFamily, Text: "all services of the family " + c.family.Name + " fill it in"}
	case in.mutable != nil:
	case n.get.has() && n.put.lacks() && n.post.lacks() && n.patch.lacks():
		in.readOnly = inferred(n.get, "GET answers it and no request takes it")
	}
	return nil
}

func (c *Classifier) isOfFamily(path string) bool {
	return slices.Contains(c.family.ReadOnly, path)
}

// writeOnly decides whether a property can be sent and never read.
func (c *Classifier) writeOnly(n *node, p *Property, in *inherited) error {
	if in.writeOnly != nil || in.readOnly != nil {
		return nil
	}
	isDeclared, canRead := in.allows("read")
	mark, err := first(n.requests()...).keyword("writeOnly")
	switch {
	case err != nil:
		return err
	case mark.Value.Is():
		in.writeOnly = declared(mark, "writeOnly")
	case isDeclared && !canRead:
		in.writeOnly = declared(in.mutability, "x-ms-mutability lacks read")
	case n.get.presence == Missing && first(n.put, n.post).has():
		in.writeOnly = inferred(first(n.put, n.post), "a request takes it and GET does not answer it")
	}
	return nil
}

// maxKept is how many properties Lookup keeps. Types that hold themselves have no end of them.
const maxKept = 50_000

// Lookup returns what is known of the property of a JSON pointer, nil if the type has none. It
// keeps what it reads: all keys of a map are one property, and the next look costs as much as the
// pointer is long.
func (c *Classifier) Lookup(pointer string) (*Property, error) {
	n, err := c.lookup(pointer)
	if n == nil || err != nil {
		return nil, err
	}
	p, _, err := c.classify(n)
	return p, err
}

// IsDescribed reports whether the specification describes any property of the type.
func (c *Classifier) IsDescribed() (bool, error) {
	steps, err := c.root().steps()
	return len(steps) > 0, err
}

// Members returns the names of the properties of the object of a JSON pointer, sorted.
func (c *Classifier) Members(pointer string) ([]string, error) {
	n, err := c.lookup(pointer)
	if n == nil || err != nil {
		return nil, err
	}
	steps, err := n.steps()
	var out []string
	for _, st := range steps {
		if st.kind == property {
			out = append(out, st.name)
		}
	}
	return out, err
}

// lookup returns the node of a JSON pointer, nil if the type has none.
func (c *Classifier) lookup(pointer string) (*node, error) {
	if c.kept == nil || c.count >= maxKept {
		c.kept, c.count = c.root(), 0
	}
	n := c.kept
	for part, rest, more := "", strings.TrimPrefix(pointer, "/"), pointer != ""; more; {
		var err error
		part, rest, more = strings.Cut(rest, "/")
		if n, err = c.part(n, jsonpointer.Unescape(part)); n == nil || err != nil {
			return nil, err
		}
	}
	return n, nil
}

// part returns the part of a node that a name stands for, nil if there is none.
func (c *Classifier) part(n *node, name string) (*node, error) {
	for _, st := range [...]step{{property, name}, {kind: item}, {kind: mapValue}} {
		if next := n.parts[st]; next != nil {
			return next, nil
		}
		isThere, err := n.describes(st)
		switch {
		case err != nil:
			return nil, err
		case isThere:
			return c.keep(n, st)
		}
	}
	return nil, nil
}

// keep reads a part of a node, and keeps it.
func (c *Classifier) keep(n *node, st step) (*node, error) {
	next, err := c.child(n, st)
	if err != nil {
		return nil, err
	}
	if n.parts == nil {
		n.parts = map[step]*node{}
	}
	n.parts[st] = next
	c.count++
	return next, nil
}

// secret decides whether a value must be shown nowhere.
func (c *Classifier) secret(n *node, p *Property, in *inherited) error {
	p.Masked = p.Type == "string" && n.step.kind == property && LooksSecret(n.step.name) &&
		!slices.Contains(c.plain, n.step.name)
	if in.secret != nil {
		return nil
	}
	mark, err := firstKeyword("x-ms-secret", n.all()...)
	if err != nil {
		return err
	}
	format, err := firstKeyword("format", n.all()...)
	switch {
	case err != nil:
		return err
	case mark.Value.Is():
		in.secret = declared(mark, "x-ms-secret")
	case format.Value.Text() == "password":
		in.secret = declared(format, "format is password")
	}
	return nil
}

// MasksKey reports whether the value of a key of a map is masked: its name looks like that of a secret, and it may be a
// text. The property is that of all values of the map.
func (c *Classifier) MasksKey(p *Property, name string) bool {
	isText := p.Type == "string" || p.Type == ""
	return p.IsValue && isText && LooksSecret(name) && !slices.Contains(c.plain, name)
}

// lastName returns the last name of a path, either dotted or a JSON pointer.
func lastName(path string) string {
	if strings.HasPrefix(path, "/") {
		return jsonpointer.Unescape(path[strings.LastIndexByte(path, '/')+1:])
	}
	return path[strings.LastIndexByte(path, '.')+1:]
}

// plainNames returns the names of properties of a type that look like those of secrets and are none.
// In the types that every server of Kubernetes has, a key is the name of something: of a label, of a
// taint, of a part of a Secret. The group of a custom resource has a dot, and is none of k8s.io.
func plainNames(t *resources.Type) []string {
	group, _, _ := strings.Cut(t.Name, "/")
	if t.Family != resources.Kubernetes || strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io") {
		return nil
	}
	return []string{"key", "topologyKey"}
}

// setOfFamily finds lists of texts that are sets in all services of a family.
func (c *Classifier) setOfFamily(n *node) (*List, error) {
	if n.step.kind != property || !slices.Contains(c.family.Sets, n.step.name) {
		return nil, nil
	}
	if isScalar, err := holdsScalars(n); err != nil || !isScalar {
		return nil, err
	}
	return &List{Kind: Set, Exclusive: true,
		Ground: *c.ofFamily("the order of " + n.step.name + " does not count, and all of them are of the data")}, nil
}

// keyOfItems finds the member by which items are known: one that requests take, and that is a text. Names come first.
func (c *Classifier) keyOfItems(n *node) (*List, error) {
	if len(c.family.Keys) == 0 {
		return nil, nil
	}
	items, err := n.child(step{kind: item})
	if err != nil {
		return nil, err
	}
	for _, name := range c.keysOf(n) {
		isThere, err := items.describes(step{property, name})
		if err != nil {
			return nil, err
		}
		if !isThere {
			continue
		}
		member, err := items.child(step{property, name})
		if err != nil {
			return nil, err
		}
		taken := first(member.requests()...)
		if isKey, err := taken.isKey(); err != nil || isKey {
			return &List{Kind: Map, Keys: []string{name},
				Ground: Ground{Source: Inferred, Text: fmt.Sprintf("its items have a %s", name)}}, err
		}
	}
	return nil, nil
}

// keysOf returns the names of members that may be the key of a list, the best one first: name, the name of one of the
// list, as locationName of locations, and id.
func (c *Classifier) keysOf(n *node) []string {
	keys := slices.Clone(c.family.Keys)
	if n.step.kind != property {
		return keys
	}
	if one, isPlural := strings.CutSuffix(n.step.name, "s"); isPlural && one != "" {
		keys = slices.Insert(keys, 1, one+"Name")
	}
	return keys
}

// isKey reports whether a request takes a text.
func (s side) isKey() (bool, error) {
	if !s.has() {
		return false, nil
	}
	kind, err := s.keyword("type")
	if err != nil {
		return false, err
	}
	mark, err := s.keyword("readOnly")
	return typeName(kind.Value) == "string" && !mark.Value.Is(), err
}
