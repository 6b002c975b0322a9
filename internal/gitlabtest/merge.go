package gitlabtest

import (
	"slices"
	"strings"
)

// mergeBase returns the commit that two histories share, "" if they share none. Git is asked if
// the second history has merges.
func (s *store) mergeBase(ours, theirs string) string {
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
// unless both sides only changed the content of files and no file was changed by both: a process
// of git for each of those would make long tests slow.
func (s *store) merge(ours, theirs string) (tree string, ok bool) {
	if tree, ok := s.mergeApart(ours, theirs); ok {
		return tree, true
	}
	out, ok := s.ask("merge-tree", "--write-tree", "--allow-unrelated-histories", "--no-messages", ours, theirs)
	tree, _, _ = strings.Cut(out, "\n")
	return tree, ok
}

// mergeApart merges two commits that changed the content of different files; false if they did
// anything else.
func (s *store) mergeApart(ours, theirs string) (tree string, ok bool) {
	base, _ := s.commit(s.mergeBase(ours, theirs))
	a, _ := s.commit(ours)
	b, _ := s.commit(theirs)
	if base.id == "" {
		return "", false
	}
	mine, yours := s.diff(base.tree, a.tree, ""), s.diff(base.tree, b.tree, "")
	taken := map[string]bool{}
	for _, d := range mine {
		if !d.isEdit() {
			return "", false
		}
		taken[d.path] = true
	}
	tree = a.tree
	for _, d := range yours {
		if !d.isEdit() || taken[d.path] {
			return "", false
		}
		tree = s.put(tree, d.path, d.is.mode, d.is.id)
	}
	return tree, true
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
