package gql

import (
	"slices"

	"github.com/app-sre/prcheck/bundle"
)

// maxSpreads bounds how often fragments are entered; beyond it a query is too
// tangled to be rewritten.
const maxSpreads = 1000

// Single rewrites a request so that it asks for one root field only, and there
// for one file only; root is one of the query's [Query.Roots]. The answer then
// has what [Engine.Element] says about the file. It returns nil when the
// arguments of the root leave the file out. ok is false when the request cannot
// be read, or is too tangled.
func Single(req Request, root *Root, f *bundle.File) (single *Request, ok bool) {
	doc, failed := parse(req.Query)
	if failed != nil {
		return nil, false
	}
	op, err := doc.operation(req)
	if err != nil {
		return nil, false
	}
	s := singler{doc: doc, key: root.Key, path: f.Path}
	if given, isText := root.pick.args["path"].(string); isText && (given != "" || !root.Resources()) {
		if given != string(f.Path) {
			return nil, true
		}
		s.given = true
	}
	if schema := root.pick.text("schema"); root.Resources() && !s.given && schema != "" && schema != string(f.Schema) {
		return nil, true
	}
	if !s.set(op.set) {
		return nil, false
	}
	s.forget(op)
	req.Query = doc.write()
	return &req, true
}

// A singler rewrites the root fields of a query.
type singler struct {
	doc     *document
	key     string
	path    bundle.Path
	given   bool // the path stands there already
	spreads int
}

func (s *singler) set(set *selectionSet) bool {
	for _, selection := range set.selections {
		ok := true
		switch n := selection.(type) {
		case *fieldNode:
			s.field(n)
		case *inlineNode:
			ok = s.set(n.set)
		case *spreadNode:
			s.spreads++
			f := s.doc.fragment(n.name)
			ok = s.spreads <= maxSpreads && f != nil && s.set(f.set)
		}
		if !ok {
			return false
		}
	}
	return true
}

func (d *document) fragment(name string) *fragment {
	for _, f := range d.fragments {
		if f.name == name {
			return f
		}
	}
	return nil
}

// field narrows the wanted root field, and leaves the others out by a
// condition.
func (s *singler) field(f *fieldNode) {
	if f.key() != s.key {
		f.directives = []*directive{{name: "skip", arguments: []*argument{{name: "if", value: &valueNode{kind: valueBoolean, raw: "true"}}}}}
		return
	}
	if s.given {
		return
	}
	f.arguments = slices.DeleteFunc(f.arguments, func(a *argument) bool { return a.name == "path" })
	f.arguments = append(f.arguments, &argument{name: "path", value: &valueNode{kind: valueString, raw: string(s.path)}})
}

// forget removes the variables that nothing uses any more.
func (s *singler) forget(op *operation) {
	used := map[string]bool{}
	usesOf(op.directives, used)
	op.set.uses(used)
	for _, f := range s.doc.fragments {
		f.set.uses(used)
	}
	op.variables = slices.DeleteFunc(op.variables, func(v *variable) bool { return !used[v.name] })
}

// uses gathers the variables that a selection set uses.
func (s *selectionSet) uses(used map[string]bool) {
	if s == nil {
		return
	}
	for _, selection := range s.selections {
		usesOf(selection.notes(), used)
		switch n := selection.(type) {
		case *fieldNode:
			for _, a := range n.arguments {
				a.value.uses(used)
			}
			n.set.uses(used)
		case *inlineNode:
			n.set.uses(used)
		}
	}
}

func usesOf(list []*directive, used map[string]bool) {
	for _, d := range list {
		for _, a := range d.arguments {
			a.value.uses(used)
		}
	}
}

func (v *valueNode) uses(used map[string]bool) {
	if v.kind == valueVariable {
		used[v.raw] = true
	}
	for _, item := range v.items {
		item.uses(used)
	}
	for _, f := range v.fields {
		f.value.uses(used)
	}
}
