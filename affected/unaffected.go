package affected

import (
	"slices"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// isUnaffected tells whether both sides are known to answer a request alike, to the
// byte, without evaluating it: nothing that it reads can see the change. It says
// no where that is not certain.
func (c *Comparison) isUnaffected(req gql.Request) bool {
	if c.isLive() || c.typesChanged() || !c.comparable() || !c.mentions().IsComplete() {
		return false
	}
	q, err := c.Compile("", req)
	if err != nil || q.base == nil || q.base != q.head || readsWhole(q.base.Footprint()) {
		return false
	}
	r := c.reach(q.base)
	for i, root := range q.base.Roots() {
		if isOpaque(root) || root.Kind != gql.RootConstant && len(c.candidates(root, r.roots[i])) > 0 {
			return false
		}
	}
	return true
}

// readsWhole tells whether a query reads an object with all its content, down to
// the order of its keys.
func readsWhole(p *gql.Position) bool {
	return len(p.Whole) > 0 || slices.ContainsFunc(p.Children, func(c gql.Child) bool { return readsWhole(c.Pos) })
}

// unchangedFilesAreEqual tells whether the files that both sides have stand in the
// same order, those outside of the diff have the same bytes, and no file changed its
// schema. Then answers can differ through the files of the diff alone.
func (c *Comparison) unchangedFilesAreEqual() bool {
	changed := map[bundle.Path]bool{}
	for _, list := range [][]bundle.Change{c.diff.Datafiles, c.diff.Resources, c.diff.Backrefs} {
		for _, f := range list {
			changed[f.Path] = true
			if f.Old != nil && f.New != nil && f.Old.Schema != f.New.Schema {
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
	return slices.EqualFunc(common(c.base.Datafiles(), c.head.Datafile), common(c.head.Datafiles(), c.base.Datafile),
		same) &&
		slices.EqualFunc(common(c.base.Resources(), c.head.Resource), common(c.head.Resources(), c.base.Resource), same)
}
