package bundle

import (
	"cmp"
	"slices"
)

// Mentions is a reverse index: which datafiles hold a string that may name a
// file. Every string value that begins with a slash counts, whatever its key,
// so it is a superset of the $ref edges, of the resources a datafile names,
// and of the paths that back references compare.
type Mentions struct {
	at    map[string]int32 // place of a path in targets
	by    []target
	whole bool
}

// A target is a path that is mentioned.
type target struct {
	files  []*File // in which it is mentioned
	asPath []*File // in which it stands under the key path
	ref    bool    // some $ref leads there
}

// IndexMentions builds the index over the datafiles of all given bundles.
func IndexMentions(bundles ...*Bundle) *Mentions {
	m := &Mentions{whole: true}
	for i, b := range bundles {
		m.whole = m.whole && !b.odd
		if i == 0 {
			m.at = make(map[string]int32, len(b.datafiles.files))
			m.by = make([]target, 0, len(b.datafiles.files))
		}
		for place, f := range b.datafiles.files {
			shared := func(other *Bundle) bool {
				files := other.datafiles.files
				return place < len(files) && files[place] == f || other.Holds(f)
			}
			if !slices.ContainsFunc(bundles[:i], shared) {
				m.add(f)
			}
		}
	}
	return m
}

func (m *Mentions) add(f *File) {
	for _, at := range f.mentions {
		t := m.target(f.raw[at.start+1 : at.end-1])
		t.files = appendOnce(t.files, f)
		t.ref = t.ref || at.kind == refKey
		if at.kind == pathKey {
			t.asPath = appendOnce(t.asPath, f)
		}
	}
}

// target returns the entry of a path as it is written; it holds until the next
// call.
func (m *Mentions) target(written []byte) *target {
	i, ok := m.at[string(written)]
	if !ok || !isPlain(written) {
		path := unescape(written)
		if i, ok = m.at[path]; !ok {
			i = int32(len(m.by))
			m.at[path] = i
			m.by = append(m.by, target{})
		}
	}
	return &m.by[i]
}

func appendOnce(list []*File, f *File) []*File {
	if n := len(list); n > 0 && list[n-1] == f {
		return list
	}
	return append(list, f)
}

// Of returns the datafiles, of any of the bundles, that mention a path. The
// caller must not change the list.
func (m *Mentions) Of(p Path) []*File {
	if i, ok := m.at[string(p)]; ok {
		return m.by[i].files
	}
	return nil
}

// AsPath returns the datafiles, of any of the bundles, in which a path is the
// value of a key named path: an object in them then has the same back
// references as the file of that path.
func (m *Mentions) AsPath(p Path) []*File {
	if i, ok := m.at[string(p)]; ok {
		return m.by[i].asPath
	}
	return nil
}

// Whole tells whether the index can be relied on: in a bundle with a path that
// does not begin with a slash it misses mentions.
func (m *Mentions) Whole() bool { return m.whole }

// Mentioned calls yield for every string of the file that may name a file.
func (f *File) Mentioned(yield func(Path) bool) {
	for _, at := range f.mentions {
		if !yield(f.text(at)) {
			return
		}
	}
}

// Holders calls yield for each reference to a path with the key under which the
// reference stands, alone or as an item of a list.
func (f *File) Holders(target Path, yield func(key string)) {
	for _, at := range f.mentions {
		if at.kind == refKey && f.text(at) == target {
			yield(unescape(f.raw[at.holder.start:at.holder.end]))
		}
	}
}

func (f *File) text(at mention) Path {
	return Path(unescape(f.raw[at.start+1 : at.end-1]))
}

// A DanglingRef is a $ref whose target is not in the bundle.
type DanglingRef struct {
	From, To Path
}

// Dangling returns the references of a bundle's datafiles that lead nowhere, in
// the order of the bundle, each once. The bundle must be one that the index
// covers.
func (m *Mentions) Dangling(b *Bundle) []DanglingRef {
	var out []DanglingRef
	for to, i := range m.at {
		if _, ok := b.datafiles.at[Path(to)]; ok || !m.by[i].ref {
			continue
		}
		for _, f := range m.by[i].files {
			if b.Holds(f) && f.refersTo(Path(to)) {
				out = append(out, DanglingRef{f.Path, Path(to)})
			}
		}
	}
	slices.SortFunc(out, func(x, y DanglingRef) int {
		return cmp.Or(cmp.Compare(b.Order(x.From), b.Order(y.From)), cmp.Compare(x.To, y.To))
	})
	return out
}

func (f *File) refersTo(p Path) bool {
	found := false
	f.Holders(p, func(string) { found = true })
	return found
}

func isPlain(text []byte) bool {
	for _, c := range text {
		if c == '\\' {
			return false
		}
	}
	return true
}
