package bundle

import (
	"cmp"
	"slices"
)

// Mentions is an index from paths to the datafiles that mention them. Every string value
// that begins with a slash counts as a mention, whatever its key, and so does every $ref.
// So the mentions include all references, all resources that a datafile names, and all
// paths that back references compare.
type Mentions struct {
	indexOf  map[string]int32 // index of a path in entries
	entries  []mentionEntry
	complete bool
}

// A mentionEntry lists the mentions of one path.
type mentionEntry struct {
	files         []*File // datafiles that mention the path
	withPathValue []*File // datafiles in which the path is the value of a key "path"
	hasRef        bool    // some $ref names the path
}

// IndexMentions builds an index of the datafiles of all given bundles.
func IndexMentions(bundles ...*Bundle) *Mentions {
	m := &Mentions{complete: true}
	for i, b := range bundles {
		m.complete = m.complete && !b.hasPathWithoutSlash
		if i == 0 {
			m.indexOf = make(map[string]int32, len(b.datafiles.files))
			m.entries = make([]mentionEntry, 0, len(b.datafiles.files))
		}
		for place, f := range b.datafiles.files {
			shared := func(other *Bundle) bool {
				files := other.datafiles.files
				return place < len(files) && files[place] == f || other.HasDatafile(f)
			}
			if !slices.ContainsFunc(bundles[:i], shared) {
				m.addFile(f)
			}
		}
	}
	return m
}

func (m *Mentions) addFile(f *File) {
	for _, mentioned := range f.mentions {
		t := m.entry(f.raw[mentioned.start+1 : mentioned.end-1])
		t.files = appendOnce(t.files, f)
		t.hasRef = t.hasRef || mentioned.keyKind == refKey
		if mentioned.keyKind == pathKey {
			t.withPathValue = appendOnce(t.withPathValue, f)
		}
	}
}

// entry returns the entry of a path, which may have escapes. The pointer is valid until the
// next call.
func (m *Mentions) entry(written []byte) *mentionEntry {
	i, ok := m.indexOf[string(written)]
	if !ok || !hasNoEscape(written) {
		path := unescape(written)
		if i, ok = m.indexOf[path]; !ok {
			i = int32(len(m.entries))
			m.indexOf[path] = i
			m.entries = append(m.entries, mentionEntry{})
		}
	}
	return &m.entries[i]
}

// appendOnce appends a file, unless it is the last file of the list.
func appendOnce(list []*File, f *File) []*File {
	if n := len(list); n > 0 && list[n-1] == f {
		return list
	}
	return append(list, f)
}

// Of returns the datafiles of any of the bundles that mention a path. The caller must not
// change the list.
func (m *Mentions) Of(p Path) []*File {
	if i, ok := m.indexOf[string(p)]; ok {
		return m.entries[i].files
	}
	return nil
}

// WithPathValue returns the datafiles of any of the bundles in which a path is the value of
// a key "path". An object with this key has the same back references as the file with this
// path.
func (m *Mentions) WithPathValue(p Path) []*File {
	if i, ok := m.indexOf[string(p)]; ok {
		return m.entries[i].withPathValue
	}
	return nil
}

// IsComplete reports whether the index has all mentions. If a bundle has a path that does
// not begin with a slash, the index misses mentions of it.
func (m *Mentions) IsComplete() bool { return m.complete }

// EachMention calls yield for every string of the file that may name a file, until yield
// returns false.
func (f *File) EachMention(yield func(Path) bool) {
	for _, at := range f.mentions {
		if !yield(f.mentionedPath(at)) {
			return
		}
	}
}

// EachHolder calls yield for each reference to target, with the key under which the
// reference stands, directly or as an item of a list.
func (f *File) EachHolder(target Path, yield func(key string)) {
	for _, at := range f.mentions {
		if at.keyKind == refKey && f.mentionedPath(at) == target {
			yield(unescape(f.raw[at.holder.start:at.holder.end]))
		}
	}
}

func (f *File) mentionedPath(at mention) Path {
	return Path(unescape(f.raw[at.start+1 : at.end-1]))
}

// A DanglingRef is a reference whose target is not in the bundle.
type DanglingRef struct {
	From, To Path
}

// DanglingRefs returns the references in the datafiles of a bundle whose targets do not
// exist, each of them once, in the order of the bundle. The index must cover the bundle.
func (m *Mentions) DanglingRefs(b *Bundle) []DanglingRef {
	var out []DanglingRef
	for to, i := range m.indexOf {
		if _, ok := b.datafiles.indexOf[Path(to)]; ok || !m.entries[i].hasRef {
			continue
		}
		for _, f := range m.entries[i].files {
			if b.HasDatafile(f) && f.refersTo(Path(to)) {
				out = append(out, DanglingRef{f.Path, Path(to)})
			}
		}
	}
	slices.SortFunc(out, func(x, y DanglingRef) int {
		return cmp.Or(cmp.Compare(b.DatafileIndex(x.From), b.DatafileIndex(y.From)), cmp.Compare(x.To, y.To))
	})
	return out
}

func (f *File) refersTo(p Path) bool {
	found := false
	f.EachHolder(p, func(string) { found = true })
	return found
}

func hasNoEscape(text []byte) bool {
	for _, c := range text {
		if c == '\\' {
			return false
		}
	}
	return true
}
