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
	ids     map[string]int32
	files   [][]*File // by id: all that mention it
	pathKey [][]*File // by id: those that mention it under the key path
	refs    []bool    // by id: some $ref leads there
	whole   bool
}

// IndexMentions builds the index over the datafiles of all given bundles.
func IndexMentions(bundles ...*Bundle) *Mentions {
	m := &Mentions{ids: map[string]int32{}, whole: true}
	for i, b := range bundles {
		m.whole = m.whole && !b.odd
		for _, f := range b.datafiles.files {
			shared := func(other *Bundle) bool { return other.Holds(f) }
			if !slices.ContainsFunc(bundles[:i], shared) {
				m.add(f)
			}
		}
	}
	return m
}

func (m *Mentions) add(f *File) {
	for _, at := range f.mentions {
		text := f.raw[at.start+1 : at.end-1]
		var id int32
		var ok bool
		if isPlain(text) {
			if id, ok = m.ids[string(text)]; !ok {
				id = m.insert(string(text))
			}
		} else {
			s := unescape(text)
			if id, ok = m.ids[s]; !ok {
				id = m.insert(s)
			}
		}
		m.files[id] = appendOnce(m.files[id], f)
		m.refs[id] = m.refs[id] || at.kind == refKey
		if at.kind == pathKey {
			m.pathKey[id] = appendOnce(m.pathKey[id], f)
		}
	}
}

func appendOnce(list []*File, f *File) []*File {
	if n := len(list); n > 0 && list[n-1] == f {
		return list
	}
	return append(list, f)
}

func (m *Mentions) insert(s string) int32 {
	id := int32(len(m.files))
	m.ids[s] = id
	m.files = append(m.files, nil)
	m.pathKey = append(m.pathKey, nil)
	m.refs = append(m.refs, false)
	return id
}

// Of returns the datafiles, of any of the bundles, that mention a path. The
// caller must not change the list.
func (m *Mentions) Of(p Path) []*File {
	if id, ok := m.ids[string(p)]; ok {
		return m.files[id]
	}
	return nil
}

// AsPath returns the datafiles, of any of the bundles, in which a path is the
// value of a key named path: an object in them then has the same back
// references as the file of that path.
func (m *Mentions) AsPath(p Path) []*File {
	if id, ok := m.ids[string(p)]; ok {
		return m.pathKey[id]
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
	for target, id := range m.ids {
		if _, ok := b.datafiles.at[Path(target)]; ok || !m.refs[id] {
			continue
		}
		for _, f := range m.files[id] {
			if b.Holds(f) && f.refersTo(Path(target)) {
				out = append(out, DanglingRef{f.Path, Path(target)})
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
