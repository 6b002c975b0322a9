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
func RestrictToFile(req Request, root *Root, f *bundle.File) (single *Request, ok bool) {
	doc, failed := parse(req.Query)
	if failed != nil {
		return nil, false
	}
	op, err := doc.selectOperation(req)
	if err != nil {
		return nil, false
	}
	s := fileRestriction{doc: doc, key: root.Key, path: f.Path}
	if given, isText := root.pick.args["path"].(string); isText && (given != "" || !root.Resources()) {
		if given != string(f.Path) {
			return nil, true
		}
		s.hasPath = true
	}
	if schema := root.pick.stringArgument("schema"); root.Resources() && !s.hasPath && schema != "" && schema != string(f.Schema) {
		return nil, true
	}
	if !s.restrictSet(op.selectionSet) {
		return nil, false
	}
	s.removeUnusedVariables(op)
	req.Query = doc.print()
	return &req, true
}

// A singler rewrites the root fields of a query.
type fileRestriction struct {
	doc         *document
	key         string
	path        bundle.Path
	hasPath     bool // the path stands there already
	spreadCount int
}

func (s *fileRestriction) restrictSet(set *selectionSet) bool {
	for _, selection := range set.selections {
		ok := true
		switch n := selection.(type) {
		case *fieldNode:
			s.restrictField(n)
		case *inlineNode:
			ok = s.restrictSet(n.selectionSet)
		case *spreadNode:
			s.spreadCount++
			f := s.doc.fragmentNamed(n.name)
			ok = s.spreadCount <= maxSpreads && f != nil && s.restrictSet(f.selectionSet)
		}
		if !ok {
			return false
		}
	}
	return true
}

func (d *document) fragmentNamed(name string) *fragment {
	for _, f := range d.fragments {
		if f.name == name {
			return f
		}
	}
	return nil
}

// field narrows the wanted root field, and leaves the others out by a
// condition.
func (s *fileRestriction) restrictField(f *fieldNode) {
	if f.responseKey() != s.key {
		f.directives = []*directive{{name: "skip", arguments: []*argument{{name: "if", value: &valueNode{kind: valueBoolean, raw: "true"}}}}}
		return
	}
	if s.hasPath {
		return
	}
	f.arguments = slices.DeleteFunc(f.arguments, func(a *argument) bool { return a.name == "path" })
	f.arguments = append(f.arguments, &argument{name: "path", value: &valueNode{kind: valueString, raw: string(s.path)}})
}

// forget removes the variables that nothing uses any more.
func (s *fileRestriction) removeUnusedVariables(op *operation) {
	used := map[string]bool{}
	collectDirectiveVariables(op.directives, used)
	op.selectionSet.collectVariables(used)
	for _, f := range s.doc.fragments {
		f.selectionSet.collectVariables(used)
	}
	op.variables = slices.DeleteFunc(op.variables, func(v *variableDefinition) bool { return !used[v.name] })
}

// uses gathers the variables that a selection set uses.
func (s *selectionSet) collectVariables(used map[string]bool) {
	if s == nil {
		return
	}
	for _, selection := range s.selections {
		collectDirectiveVariables(selection.appliedDirectives(), used)
		switch n := selection.(type) {
		case *fieldNode:
			for _, a := range n.arguments {
				a.value.collectVariables(used)
			}
			n.selectionSet.collectVariables(used)
		case *inlineNode:
			n.selectionSet.collectVariables(used)
		}
	}
}

func collectDirectiveVariables(list []*directive, used map[string]bool) {
	for _, d := range list {
		for _, a := range d.arguments {
			a.value.collectVariables(used)
		}
	}
}

func (v *valueNode) collectVariables(used map[string]bool) {
	if v.kind == valueVariable {
		used[v.raw] = true
	}
	for _, item := range v.items {
		item.collectVariables(used)
	}
	for _, f := range v.fields {
		f.value.collectVariables(used)
	}
}
