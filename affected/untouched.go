package affected

import (
	"slices"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
)

// untouched tells whether both sides are known to answer a request alike, to the
// byte, without evaluating it: nothing that it reads can see the change. Where
// that is not certain it says no.
func (w *World) untouched(req gql.Request) bool {
	if w.live != nil || w.typesChanged() || !w.canonical() || !w.mentions().IsComplete() {
		return false
	}
	q, err := w.Compile("", req)
	if err != nil || q.base == nil || q.base != q.head || readsWhole(q.base.Footprint()) {
		return false
	}
	r := w.reach(q.base)
	for i, root := range q.base.Roots() {
		if opaque(root) || root.Kind != gql.RootConstant && len(w.candidates(root, r.roots[i])) > 0 {
			return false
		}
	}
	return true
}

// readsWhole tells whether a query reads a part of a file with all that is in
// it, down to the order of its keys.
func readsWhole(p *gql.Position) bool {
	return len(p.Whole) > 0 || slices.ContainsFunc(p.Children, func(c gql.Child) bool { return readsWhole(c.Pos) })
}

// isCanonical tells whether what both sides have in common is in the same order
// and has the same bytes, and no file changed its schema. Then answers can differ
// through the files of the diff alone.
func (w *World) isCanonical() bool {
	changed := map[bundle.Path]bool{}
	for _, list := range [][]bundle.Change{w.diff.Datafiles, w.diff.Resources, w.diff.Backrefs} {
		for _, c := range list {
			changed[c.Path] = true
			if c.Old != nil && c.New != nil && c.Old.Schema != c.New.Schema {
				return false
			}
		}
	}
	common := func(files []*bundle.File, find func(bundle.Path) (*bundle.File, bool)) []*bundle.File {
		return slices.DeleteFunc(slices.Clone(files), func(f *bundle.File) bool { _, ok := find(f.Path); return !ok })
	}
	same := func(a, b *bundle.File) bool {
		return a == b || a.Path == b.Path && (changed[a.Path] || string(a.Raw()) == string(b.Raw()))
	}
	return slices.EqualFunc(common(w.base.Datafiles(), w.head.Datafile), common(w.head.Datafiles(), w.base.Datafile), same) &&
		slices.EqualFunc(common(w.base.Resources(), w.head.Resource), common(w.head.Resources(), w.base.Resource), same)
}
