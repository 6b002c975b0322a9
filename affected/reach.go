package affected

import (
	"maps"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
)

// maxNamed bounds how many paths or fields evidence names.
const maxNamed = 20

// A reach is what one query can see of a change.
type reach struct {
	direct  paths    // changed files with a difference in what it reads
	fields  []string // PATH#POINTER of such differences
	quoting paths    // files in which it reads a reference to a changed file as a scalar
	roots   []paths  // by root: what can differ
}

// paths is a set of files.
type paths = map[bundle.Path]bool

// reach compares every changed file at every position of the query, and
// follows references backwards from those that differ.
func (w *World) reach(q *gql.Query) reach {
	r := reach{direct: paths{}, quoting: paths{}}
	w.quoting(q, &r)
	top := q.Footprint()
	for i, root := range q.Roots() {
		if root.Kind == gql.RootDatafiles && w.none(root.Schema) {
			r.roots = append(r.roots, nil) // an empty list on both sides
			continue
		}
		from, _ := w.walk(&r, top.Children[i].Pos, root.Resources())
		r.roots = append(r.roots, from)
	}
	slices.Sort(r.fields)
	r.fields = slices.Compact(r.fields)
	if len(r.fields) > maxNamed {
		r.fields = r.fields[:maxNamed]
	}
	return r
}

// quoting finds the files in which the query reads a reference to a changed
// file where it expects a scalar. The answer then has the whole target.
func (w *World) quoting(q *gql.Query, r *reach) {
	scalars := q.Scalars()
	for _, c := range w.diff.Datafiles {
		for key, from := range w.holders(c.Path) {
			if !scalars[key] {
				continue
			}
			r.direct[c.Path] = true
			for _, p := range from {
				r.quoting[p] = true
			}
		}
	}
}

// holders returns the files that refer to a path, by the key that the reference
// stands under.
func (w *World) holders(p bundle.Path) map[string][]bundle.Path {
	if known, ok := w.held[p]; ok {
		return known
	}
	out := map[string][]bundle.Path{}
	for _, f := range w.mentions().Of(p) {
		f.EachHolder(p, func(key string) { out[key] = append(out[key], f.Path) })
	}
	w.held[p] = out
	return out
}

// walk returns the files whose evaluation at a position can differ between
// base and head, and those among them that refer to others.
//
// A file differs directly, by what the query reads in it, or because it refers
// to a file that differs at a position below. A referring file may have been
// entered at any position above, since what lies between can be inline, so it
// counts at all of them.
func (w *World) walk(r *reach, pos *gql.Position, resources bool) (differ, referring paths) {
	referring = paths{}
	for _, child := range pos.Children {
		if child.Synthetic != nil && w.none(child.Synthetic.Schema) {
			continue // no back references on either side
		}
		below, referringBelow := w.walk(r, child.Pos, child.Resource)
		for p := range referringBelow {
			referring[p] = true
		}
		for p := range below {
			w.referrers(child, p, referring)
		}
	}
	differ = w.direct(r, pos, resources)
	for p := range referring {
		differ[p] = true
	}
	return differ, referring
}

// none tells whether neither side has a datafile of a schema.
func (w *World) none(s bundle.Schema) bool {
	return len(w.base.BySchema(s))+len(w.head.BySchema(s)) == 0
}

// referrers adds the files from which a child leads to the given file.
func (w *World) referrers(child gql.Child, p bundle.Path, to paths) {
	if child.Synthetic == nil {
		for _, f := range w.mentions().Of(p) {
			to[f.Path] = true
		}
		return
	}
	// A back reference: the files that p refers to show p, and so does any
	// object that has the path of one of them.
	for _, b := range []*bundle.Bundle{w.base, w.head} {
		f, ok := b.Datafile(p)
		if !ok {
			continue
		}
		for target := range f.EachMention {
			to[target] = true
			for _, f := range w.mentions().WithPathValue(target) {
				to[f.Path] = true
			}
		}
	}
}

// direct returns the changed files that differ in what the query reads of them
// at a position.
func (w *World) direct(r *reach, pos *gql.Position, resources bool) paths {
	out := maps.Clone(r.quoting)
	changes := [][]bundle.Change{w.diff.Datafiles}
	if resources {
		changes = [][]bundle.Change{w.diff.Resources, w.diff.Backrefs}
	}
	for _, list := range changes {
		for _, c := range list {
			switch {
			case c.Old == nil || c.New == nil:
				out[c.Path] = true
			case !pos.Same(c.Old.Object(), c.New.Object()):
				out[c.Path] = true
				for _, pointer := range pos.Changed(c.Old.Object(), c.New.Object()) {
					r.fields = append(r.fields, string(c.Path)+"#"+pointer)
				}
			default:
				continue
			}
			r.direct[c.Path] = true
		}
	}
	return out
}

// candidates returns the root elements that must be evaluated: those in the
// set that have the root's schema on either side, in path order.
func (w *World) candidates(root *gql.Root, from paths) []bundle.Path {
	var out []bundle.Path
	for p := range from {
		if root.Resources() {
			if _, isBase := w.base.Resource(p); isBase {
				out = append(out, p)
			} else if _, isHead := w.head.Resource(p); isHead {
				out = append(out, p)
			}
			continue
		}
		for _, b := range []*bundle.Bundle{w.base, w.head} {
			if f, ok := b.Datafile(p); ok && f.Schema == root.Schema {
				out = append(out, p)
				break
			}
		}
	}
	slices.SortFunc(out, func(a, b bundle.Path) int { return strings.Compare(string(a), string(b)) })
	return out
}
