package gitlabtest

import (
	"fmt"
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
// unless the second side only changed lines, and it is clear what becomes of each file: a process
// of git for each of those would make long tests slow.
func (s *store) merge(ours, theirs string) (tree string, ok bool) {
	if tree, v := s.mergeLines(ours, theirs); v != unclear {
		return tree, v == clean
	}
	return s.mergeByGit(ours, theirs)
}

func (s *store) mergeByGit(ours, theirs string) (tree string, ok bool) {
	out, ok := s.ask("merge-tree", "--write-tree", "--allow-unrelated-histories", "--no-messages", ours, theirs)
	tree, _, _ = strings.Cut(out, "\n")
	return tree, ok
}

// canMerge reports whether git can merge two commits. Now and then git is asked though it is clear.
func (s *store) canMerge(ours, theirs string) bool {
	v := s.clarity(ours, theirs)
	s.asked++
	isSample := s.every > 0 && s.asked%s.every == 0
	if v != unclear && !isSample {
		return v == clean
	}
	_, ok := s.mergeByGit(ours, theirs)
	if v != unclear && ok != (v == clean) {
		panic(fmt.Sprintf("git merges %s and %s: %v, and the test server says otherwise", ours, theirs, ok))
	}
	return ok
}

// A verdict says whether two sides can be merged.
type verdict int

// The verdicts. Git is asked for what is unclear.
const (
	unclear verdict = iota
	clean
	clash
)

// mergeLines merges two commits if it is clear whether git can; the tree is "" if it cannot.
func (s *store) mergeLines(ours, theirs string) (tree string, v verdict) {
	if v = s.clarity(ours, theirs); v != clean {
		return "", v
	}
	c, _ := s.commit(ours)
	tree = c.tree
	for _, d := range s.editsOf(ours, theirs) {
		mine, _ := s.find(tree, d.path)
		tree = s.put(tree, d.path, d.is.mode, s.write("blob", []byte(s.mergeTexts(d.was.id, mine.id, d.is.id).merged)))
	}
	return tree, clean
}

// editsOf returns what the second commit changed since the histories parted.
func (s *store) editsOf(ours, theirs string) []difference {
	base, ok := s.commit(s.mergeBase(ours, theirs))
	if !ok {
		return nil
	}
	c, _ := s.commit(theirs)
	key := [2]string{base.tree, c.tree}
	edits, known := s.edits[key]
	if !known {
		edits = s.diff(base.tree, c.tree, "")
		s.edits[key] = edits
	}
	return edits
}

// clarity says whether two commits can be merged, as far as that is clear without git: the second
// one only changed the content of files that the first one has as well.
func (s *store) clarity(ours, theirs string) verdict {
	edits := s.editsOf(ours, theirs)
	if len(edits) == 0 {
		return unclear
	}
	a, _ := s.commit(ours)
	out := clean
	for _, d := range edits {
		is, _ := s.find(a.tree, d.path)
		if !d.isEdit() || is.mode != d.was.mode {
			return unclear
		}
		switch s.mergeTexts(d.was.id, is.id, d.is.id).verdict {
		case unclear:
			return unclear
		case clash:
			out = clash
		}
	}
	return out
}

// near is within how many lines two changes count as near each other. Git decides about those,
// except for changes of the same line and of lines that touch, which conflict.
const near = 4

// A text is two versions of a text in one.
type text struct {
	merged  string
	verdict verdict
}

// mergeTexts merges two versions of a text that have as many lines as the text before, if lines of
// the same number are the same lines for git, too.
func (s *store) mergeTexts(was, ours, theirs string) text {
	switch {
	case ours == was:
		o, _ := s.read(theirs)
		return text{string(o.data), clean}
	case theirs == was:
		o, _ := s.read(ours)
		return text{string(o.data), clean}
	}
	key := [3]string{was, ours, theirs}
	out, known := s.texts[key]
	if !known {
		var lines [3][]string
		for i, id := range key {
			o, _ := s.read(id)
			lines[i] = strings.SplitAfter(string(o.data), "\n")
		}
		out = mergeTexts(lines[0], lines[1], lines[2])
		s.texts[key] = out
	}
	return out
}

func mergeTexts(was, ours, theirs []string) text {
	out := slices.Clone(ours)
	if !inPlace(was, ours) || !inPlace(was, theirs) {
		return text{}
	}
	v := clean
	last := [2]int{-2 * near, -2 * near} // the last line that each side changed
	for i, line := range was {
		mine, yours := ours[i] != line, theirs[i] != line
		if mine && yours && ours[i] == theirs[i] {
			return text{}
		}
		if mine {
			last[0] = i
		}
		if yours {
			last[1], out[i] = i, theirs[i]
		}
		switch apart := max(last[0]-last[1], last[1]-last[0]); {
		case !mine && !yours:
		case apart <= 1:
			v = clash
		case apart <= near && v == clean:
			v = unclear
		}
	}
	if v != clean {
		return text{verdict: v}
	}
	return text{strings.Join(out, ""), clean}
}

// inPlace reports whether a version of a text has as many lines, and git takes lines of the same
// number for the same lines: few of them changed, and none to what stands beside it; or no line
// that changed stands anywhere else.
func inPlace(was, is []string) bool {
	if len(was) != len(is) {
		return false
	}
	changed, isClear := 0, true
	beside := func(lines []string, i int, line string) bool {
		return i > 0 && lines[i-1] == line || i+1 < len(lines) && lines[i+1] == line
	}
	for i := range was {
		if was[i] != is[i] {
			changed++
			isClear = isClear && !beside(was, i, is[i]) && !beside(is, i, was[i])
		}
	}
	if isClear && changed*8 <= len(was) {
		return true
	}
	old, young := map[string]bool{}, map[string]bool{}
	for i := range was {
		old[was[i]], young[is[i]] = true, true
	}
	for i := range was {
		if was[i] != is[i] && (old[is[i]] || young[was[i]]) {
			return false
		}
	}
	return true
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
