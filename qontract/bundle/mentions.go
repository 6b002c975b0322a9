package bundle

import (
	"cmp"
	"slices"
	"sync"
)

// Mentions is an index from paths to the datafiles that mention them. Every string value
// that begins with a slash counts as a mention, whatever its key, and so does every $ref.
// So the mentions include all references, all resources that a datafile names, and all
// paths that back references compare.
type Mentions struct {
	first    *Bundle
	parts    []*mentionPart // of the first bundle, and of the files that only others have
	complete bool
}

// A mentionPart is the index of some files.
type mentionPart struct {
	files    []*File
	index    mentionIndex
	dangling func() []DanglingRef // of a whole bundle; else nil
}

// IndexMentions returns an index of the datafiles of all given bundles. A bundle keeps its own
// index, so that only the files in which the others differ from the first bundle are read.
func IndexMentions(first *Bundle, others ...*Bundle) *Mentions {
	m := &Mentions{first: first, parts: []*mentionPart{first.mentionPart()}, complete: !first.hasPathWithoutSlash}
	seen := []*Bundle{first}
	for _, b := range others {
		m.complete = m.complete && !b.hasPathWithoutSlash
		if own := b.datafilesBesides(seen); len(own) > 0 {
			m.parts = append(m.parts, &mentionPart{files: own, index: indexMentions(own)})
		}
		seen = append(seen, b)
	}
	return m
}

// mentionPart returns the index of the datafiles of a bundle.
func (b *Bundle) mentionPart() *mentionPart {
	if p := b.mentions.Load(); p != nil {
		return p
	}
	p := &mentionPart{files: b.datafiles.files, index: indexMentions(b.datafiles.files)}
	p.dangling = sync.OnceValue(func() []DanglingRef { return b.danglingAmong(b.datafiles.files) })
	b.mentions.Store(p)
	return p
}

// datafilesBesides returns the datafiles that none of some bundles shares.
func (b *Bundle) datafilesBesides(seen []*Bundle) (own []*File) {
	for place, f := range b.datafiles.files {
		shared := func(other *Bundle) bool {
			files := other.datafiles.files
			return place < len(files) && files[place] == f || other.HasDatafile(f)
		}
		if !slices.ContainsFunc(seen, shared) {
			own = append(own, f)
		}
	}
	return own
}

// Of returns the datafiles of any of the bundles that mention a path. A file can be among them
// that does not, if two paths have the same hash.
func (m *Mentions) Of(p Path) []*File { return m.find(p, 0) }

// WithPathValue returns the datafiles of any of the bundles in which a path is the value of
// a key "path". An object with this key has the same back references as the file with this
// path. As with Of, there can be more of them.
func (m *Mentions) WithPathValue(p Path) []*File { return m.find(p, mentionedByPath) }

// find returns the files with a mention of a path that has all of some flags.
func (m *Mentions) find(p Path, flags uint32) (out []*File) {
	for _, part := range m.parts {
		part.index.each(string(p), flags, func(place int) {
			if f := part.files[place]; len(out) == 0 || out[len(out)-1] != f {
				out = append(out, f)
			}
		})
	}
	return out
}

// IsComplete reports whether the index has all mentions. If a bundle has a path that does
// not begin with a slash, the index misses mentions of it.
func (m *Mentions) IsComplete() bool { return m.complete }

// EachMention calls yield for every string of the file that may name a file, until yield
// returns false.
func (f *File) EachMention(yield func(Path) bool) {
	for _, at := range f.found() {
		if !yield(f.mentionedPath(at)) {
			return
		}
	}
}

// EachHolder calls yield for each reference to target, with the key under which the
// reference stands, directly or as an item of a list.
func (f *File) EachHolder(target Path, yield func(key string)) {
	for _, at := range f.found() {
		if at.keyKind == refKey && f.mentionedPath(at) == target {
			yield(unescape(f.text()[at.holder.start:at.holder.end]))
		}
	}
}

func (f *File) mentionedPath(at mention) Path {
	return Path(unescape(f.text()[at.start+1 : at.end-1]))
}

// A DanglingRef is a reference whose target is not in the bundle.
type DanglingRef struct {
	From, To Path
}

// DanglingRefs returns the references in the datafiles of a bundle whose targets do not
// exist, each of them once, in the order of the bundle. The index must cover the bundle.
func (m *Mentions) DanglingRefs(b *Bundle) []DanglingRef {
	if b == m.first {
		return m.parts[0].dangling()
	}
	var out []DanglingRef
	for _, r := range m.parts[0].dangling() {
		if f, ok := b.Datafile(r.From); ok && m.first.HasDatafile(f) && !b.hasDatafileAt(r.To) {
			out = append(out, r)
		}
	}
	for _, gone := range m.first.datafilesBesides([]*Bundle{b}) {
		if b.hasDatafileAt(gone.Path) {
			continue
		}
		for _, f := range m.Of(gone.Path) {
			if b.HasDatafile(f) && m.first.HasDatafile(f) && f.refersTo(gone.Path) {
				out = append(out, DanglingRef{f.Path, gone.Path})
			}
		}
	}
	return b.sortDangling(append(out, b.danglingAmong(b.datafilesBesides([]*Bundle{m.first}))...))
}

// danglingAmong returns the references of some datafiles of the bundle that lead nowhere.
func (b *Bundle) danglingAmong(files []*File) (out []DanglingRef) {
	for _, f := range files {
		for _, at := range f.found() {
			if to := f.mentionedPath(at); at.keyKind == refKey && !b.hasDatafileAt(to) {
				out = append(out, DanglingRef{f.Path, to})
			}
		}
	}
	return b.sortDangling(out)
}

// hasDatafileAt reports whether there is a datafile with a path.
func (b *Bundle) hasDatafileAt(p Path) bool {
	_, ok := b.datafiles.indexOf[p]
	return ok
}

// sortDangling sorts references by the order of the bundle, and takes repeated ones out.
func (b *Bundle) sortDangling(refs []DanglingRef) []DanglingRef {
	slices.SortFunc(refs, func(x, y DanglingRef) int {
		return cmp.Or(cmp.Compare(b.DatafileIndex(x.From), b.DatafileIndex(y.From)), cmp.Compare(x.To, y.To))
	})
	return slices.Compact(refs)
}

func (f *File) refersTo(p Path) bool {
	found := false
	f.EachHolder(p, func(string) { found = true })
	return found
}
