package gitlabtest

import (
	"slices"
	"strings"
)

// mergeBase returns the commit that two histories share, "" if they share none. Git is asked if
// the second history has merges.
func (s *store) mergeBase(ours, theirs string) string {
	key := [2]string{ours, theirs}
	base, known := s.bases[key]
	if !known {
		base = s.findBase(ours, theirs)
		s.bases[key] = base
	}
	return base
}

func (s *store) findBase(ours, theirs string) string {
	for id := theirs; ; {
		if s.isAncestor(id, ours) {
			return id
		}
		c, _ := s.commit(id)
		if len(c.parents) != 1 {
			base, _ := s.ask("merge-base", ours, theirs)
			return base
		}
		id = c.parents[0]
	}
}

// merge returns the tree of a merge of two commits, and whether git can merge them. Git decides,
// unless both sides only changed lines of files far from each other: a process of git for each of
// those would make long tests slow.
func (s *store) merge(ours, theirs string) (tree string, ok bool) {
	if tree, ok := s.mergeApart(ours, theirs); ok {
		return tree, true
	}
	out, ok := s.ask("merge-tree", "--write-tree", "--allow-unrelated-histories", "--no-messages", ours, theirs)
	tree, _, _ = strings.Cut(out, "\n")
	return tree, ok
}

// canMerge reports whether git can merge two commits.
func (s *store) canMerge(ours, theirs string) bool {
	key := [2]string{ours, theirs}
	ok, known := s.clean[key]
	if !known {
		if _, isApart := s.apart(ours, theirs); isApart {
			ok = true
		} else {
			_, ok = s.merge(ours, theirs)
		}
		s.clean[key] = ok
	}
	return ok
}

// mergeApart merges two commits that changed the content of files without adding or removing
// lines, nowhere near each other; false if they did anything else.
func (s *store) mergeApart(ours, theirs string) (tree string, ok bool) {
	theirEdits, ok := s.apart(ours, theirs)
	if !ok {
		return "", false
	}
	c, _ := s.commit(ours)
	tree = c.tree
	for _, d := range theirEdits {
		mine, _ := s.find(tree, d.path)
		text, _ := s.mergeLines(d.was.id, mine.id, d.is.id) // apart says that it can
		tree = s.put(tree, d.path, d.is.mode, s.write("blob", []byte(text)))
	}
	return tree, true
}

// apart returns what the second commit changed, if [store.mergeApart] can merge two commits.
func (s *store) apart(ours, theirs string) ([]difference, bool) {
	base, ok := s.commit(s.mergeBase(ours, theirs))
	if !ok {
		return nil, false
	}
	a, _ := s.commit(ours)
	b, _ := s.commit(theirs)
	yours := s.diff(base.tree, b.tree, "")
	for _, d := range yours {
		is, _ := s.find(a.tree, d.path)
		if !d.isEdit() || is.mode != d.was.mode {
			return nil, false
		}
		if _, ok := s.mergeLines(d.was.id, is.id, d.is.id); !ok {
			return nil, false
		}
	}
	for _, d := range s.diff(base.tree, a.tree, "") {
		if !d.isEdit() {
			return nil, false
		}
	}
	return yours, true
}

// near is within how many lines two changes count as near each other. Git decides about those.
const near = 4

// mergeLines merges two versions of a text that have as many lines as the text before, and whose
// changes are not near each other. It takes lines of the same number for the same lines, which git
// does as well unless a text repeats itself all the time.
func (s *store) mergeLines(was, ours, theirs string) (text string, ok bool) {
	switch {
	case ours == was:
		o, _ := s.read(theirs)
		return string(o.data), true
	case theirs == was:
		o, _ := s.read(ours)
		return string(o.data), true
	}
	var lines [3][]string
	for i, id := range []string{was, ours, theirs} {
		o, _ := s.read(id)
		lines[i] = strings.SplitAfter(string(o.data), "\n")
	}
	out := slices.Clone(lines[1])
	if len(out) != len(lines[0]) || len(out) != len(lines[2]) {
		return "", false
	}
	last := [3]int{-2 * near, -2 * near, -2 * near} // the last line that each side changed
	for i, line := range lines[0] {
		for side := 1; side <= 2; side++ {
			if lines[side][i] == line {
				continue
			}
			if last[side] = i; i-last[3-side] <= near {
				return "", false
			}
		}
		if lines[2][i] != line {
			out[i] = lines[2][i]
		}
	}
	return strings.Join(out, ""), true
}

// A difference is a file that differs between two trees. An entry without an id is not there.
type difference struct {
	path    string
	was, is entry
}

// isEdit reports whether only the content of a file differs.
func (d difference) isEdit() bool {
	return d.was.id != "" && d.is.id != "" && d.was.mode == d.is.mode && d.is.mode == modeFile
}

// diff returns the files that differ between two trees, sorted by path.
func (s *store) diff(was, is, below string) []difference {
	if was == is {
		return nil
	}
	pairs := map[string]*difference{}
	for _, e := range s.entries(was) {
		pairs[e.name] = &difference{path: below + e.name, was: e}
	}
	for _, e := range s.entries(is) {
		if pairs[e.name] == nil {
			pairs[e.name] = &difference{path: below + e.name}
		}
		pairs[e.name].is = e
	}
	var out []difference
	for _, d := range pairs {
		if d.was == d.is {
			continue
		}
		folders, files := [2]string{}, *d
		if d.was.mode == modeFolder {
			folders[0], files.was = d.was.id, entry{}
		}
		if d.is.mode == modeFolder {
			folders[1], files.is = d.is.id, entry{}
		}
		if files.was.id != files.is.id || files.was.mode != files.is.mode {
			out = append(out, files)
		}
		out = append(out, s.diff(folders[0], folders[1], d.path+"/")...)
	}
	slices.SortFunc(out, func(a, b difference) int { return strings.Compare(a.path, b.path) })
	return out
}

// changed returns the paths that differ between two commits, sorted.
func (s *store) changed(from, to string) []string {
	a, _ := s.commit(from)
	b, _ := s.commit(to)
	var out []string
	for _, d := range s.diff(a.tree, b.tree, "") {
		out = append(out, d.path)
	}
	return out
}
