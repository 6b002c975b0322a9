package affected

import (
	"maps"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// maxNamed bounds how many fields evidence names.
const maxNamed = 20

// A reach is the part of a change that one query can see.
type reach struct {
	direct  paths    // changed files that differ in something that the query reads
	fields  []string // the fields that differ, as PATH#POINTER
	quoting paths    // files in which the query reads a reference to a changed file as a scalar
	roots   []paths  // by root of the query: the files whose evaluation can differ
}

// paths is a set of files.
type paths = map[bundle.Path]bool

// reach compares every changed file at every position of the query, and follows
// references backwards from the files that differ.
func (c *Comparison) reach(q *gql.Query) reach {
	r := reach{direct: paths{}, quoting: paths{}}
	c.addQuoting(q, &r)
	top := q.Footprint()
	for i, root := range q.Roots() {
		if root.Kind == gql.RootDatafiles && c.hasNone(root.Schema) {
			r.roots = append(r.roots, nil) // an empty list on both sides
			continue
		}
		from, _ := c.walk(&r, top.Children[i].Pos, root.Resources())
		r.roots = append(r.roots, from)
	}
	slices.Sort(r.fields)
	r.fields = slices.Compact(r.fields)
	if len(r.fields) > maxNamed {
		r.fields = r.fields[:maxNamed]
	}
	return r
}

// addQuoting adds the files in which the query reads a reference to a changed file
// where it expects a scalar. The answer then has the whole target.
func (c *Comparison) addQuoting(q *gql.Query, r *reach) {
	scalars := q.Scalars()
	for _, f := range c.diff.Datafiles {
		for key, from := range c.referrersOf(f.Path) {
			if !scalars[key] {
				continue
			}
			r.direct[f.Path] = true
			for _, p := range from {
				r.quoting[p] = true
			}
		}
	}
}

// referrersOf returns the files that refer to a path, by the key that the
// reference stands under.
func (c *Comparison) referrersOf(p bundle.Path) map[string][]bundle.Path {
	if known, ok := c.referrers[p]; ok {
		return known
	}
	out := map[string][]bundle.Path{}
	for _, f := range c.mentions().Of(p) {
		f.EachHolder(p, func(key string) { out[key] = append(out[key], f.Path) })
	}
	c.referrers[p] = out
	return out
}

// walk returns the files whose evaluation at a position can differ between base
// and head, and among them the files that differ because they refer to others.
//
// A file differs directly, by a field that the query reads in it, or because it
// refers to a file that differs at a position below. The query may have entered a
// referring file at any position above, since the objects in between can be
// inline, so the file counts at all these positions.
func (c *Comparison) walk(r *reach, pos *gql.Position, resources bool) (differ, referring paths) {
	referring = paths{}
	for _, child := range pos.Children {
		if child.Synthetic != nil && c.hasNone(child.Synthetic.Schema) {
			continue // no back references on either side
		}
		below, referringBelow := c.walk(r, child.Pos, child.Resource)
		for p := range referringBelow {
			referring[p] = true
		}
		for p := range below {
			c.addReferrers(child, p, referring)
		}
	}
	differ = c.differing(r, pos, resources)
	for p := range referring {
		differ[p] = true
	}
	return differ, referring
}

// hasNone tells whether neither side has a datafile of a schema.
func (c *Comparison) hasNone(s bundle.SchemaPath) bool {
	return len(c.base.BySchema(s))+len(c.head.BySchema(s)) == 0
}

// addReferrers adds the files from which a child leads to the given file.
func (c *Comparison) addReferrers(child gql.Child, p bundle.Path, to paths) {
	if child.Synthetic == nil {
		for _, f := range c.mentions().Of(p) {
			to[f.Path] = true
		}
		return
	}
	// A back reference: the files that p refers to show p, and so does any
	// object that has the path of one of them.
	for _, b := range []*bundle.Bundle{c.base, c.head} {
		f, ok := b.Datafile(p)
		if !ok {
			continue
		}
		for target := range f.EachMention {
			to[target] = true
			for _, f := range c.mentions().WithPathValue(target) {
				to[f.Path] = true
			}
		}
	}
}

// differing returns the changed files that differ in a field that the query reads at
// a position, and notes them in r.
func (c *Comparison) differing(r *reach, pos *gql.Position, resources bool) paths {
	out := maps.Clone(r.quoting)
	changes := [][]bundle.Change{c.diff.Datafiles}
	if resources {
		changes = [][]bundle.Change{c.diff.Resources, c.diff.Backrefs}
	}
	for _, list := range changes {
		for _, f := range list {
			switch {
			case f.Old == nil || f.New == nil:
				out[f.Path] = true
			case !pos.Same(f.Old.Object(), f.New.Object()):
				out[f.Path] = true
				for _, pointer := range pos.Changed(f.Old.Object(), f.New.Object()) {
					r.fields = append(r.fields, string(f.Path)+"#"+pointer)
				}
			default:
				continue
			}
			r.direct[f.Path] = true
		}
	}
	return out
}

// candidates returns the root elements that must be evaluated, in path order: the
// files of the set that have the root's schema on either side.
func (c *Comparison) candidates(root *gql.Root, from paths) []bundle.Path {
	var out []bundle.Path
	for p := range from {
		if root.Resources() {
			if _, isBase := c.base.Resource(p); isBase {
				out = append(out, p)
			} else if _, isHead := c.head.Resource(p); isHead {
				out = append(out, p)
			}
			continue
		}
		for _, b := range []*bundle.Bundle{c.base, c.head} {
			if f, ok := b.Datafile(p); ok && f.Schema == root.Schema {
				out = append(out, p)
				break
			}
		}
	}
	slices.SortFunc(out, func(a, b bundle.Path) int { return strings.Compare(string(a), string(b)) })
	return out
}
