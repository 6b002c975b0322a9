package bundle

import "slices"

// Mentions is a reverse index: which datafiles hold a string that may name a
// file. Every string value that begins with a slash counts, whatever its key,
// so it is a superset of the $ref edges, of the resources a datafile names,
// and of the paths that back references compare.
type Mentions struct {
	ids     map[string]int32
	files   [][]*File // by id: all that mention it
	pathKey [][]*File // by id: those that mention it under the key path
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

// Refs calls yield for the target of every $ref in the file.
func (f *File) Refs(yield func(Path) bool) {
	for _, at := range f.mentions {
		if at.kind == refKey && !yield(f.text(at)) {
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

// DanglingRef is a $ref whose target is not in the bundle.
type DanglingRef struct {
	From, To Path
}

// DanglingRefs returns the references of datafiles that lead nowhere, in the
// order of the bundle.
func (b *Bundle) DanglingRefs() []DanglingRef {
	var out []DanglingRef
	for _, f := range b.datafiles.files {
		for _, at := range f.mentions {
			if at.kind != refKey {
				continue
			}
			text := f.raw[at.start+1 : at.end-1]
			if isPlain(text) {
				if _, ok := b.datafiles.at[Path(text)]; ok {
					continue
				}
			}
			to := f.text(at)
			if _, ok := b.datafiles.at[to]; !ok {
				out = append(out, DanglingRef{f.Path, to})
			}
		}
	}
	return out
}

func isPlain(text []byte) bool {
	for _, c := range text {
		if c == '\\' {
			return false
		}
	}
	return true
}
