package gitlabtest

import "slices"

// resolve returns the commit that a branch, a reference or an id names; false if there is none.
func (s *store) resolve(rev string) (commit, bool) {
	if rev == "HEAD" {
		rev = DefaultBranch
	}
	if id := s.head(rev); id != "" {
		return s.commit(id)
	}
	if id := s.allRefs()[rev]; id != "" {
		return s.commit(id)
	}
	return s.commit(rev)
}

// isAncestor reports whether a commit is another one or comes before it.
func (s *store) isAncestor(old, young string) bool {
	bottom, seen, open := s.depth(old), map[string]bool{}, []string{young}
	for len(open) > 0 {
		id := open[len(open)-1]
		open = open[:len(open)-1]
		if id == old {
			return true
		}
		if seen[id] || s.depth(id) <= bottom {
			continue
		}
		seen[id] = true
		c, _ := s.commit(id)
		open = append(open, c.parents...)
	}
	return false
}

// depth returns how many commits the longest way from a commit to a first one has.
func (s *store) depth(id string) int {
	if d := s.depths[id]; d > 0 {
		return d
	}
	c, ok := s.commit(id)
	if !ok {
		return 0
	}
	d := 1
	for _, p := range c.parents {
		d = max(d, s.depth(p)+1)
	}
	s.depths[id] = d
	return d
}

// walk visits a commit and those before it once each, the newest time first, until visit
// answers false.
func (s *store) walk(from string, visit func(commit) bool) {
	seen := map[string]bool{}
	var open []commit
	add := func(id string) {
		if c, ok := s.commit(id); ok && !seen[id] {
			seen[id] = true
			at, _ := slices.BinarySearchFunc(open, c, func(a, b commit) int { return a.when.Compare(b.when) })
			open = slices.Insert(open, at, c)
		}
	}
	for add(from); len(open) > 0; {
		c := open[len(open)-1]
		open = open[:len(open)-1]
		if !visit(c) {
			return
		}
		for _, p := range c.parents {
			add(p)
		}
	}
}

// lastCommit returns the newest commit of a history that changed a path, as git log finds it: a
// merge that has the path as one of its parents has leaves the question to that parent.
func (s *store) lastCommit(from, path string) string {
	for {
		c, ok := s.commit(from)
		if !ok {
			return ""
		}
		mine, has := s.find(c.tree, path)
		next := ""
		for _, p := range c.parents {
			parent, _ := s.commit(p)
			if theirs, had := s.find(parent.tree, path); had == has && theirs == mine {
				next = p
				break
			}
		}
		switch {
		case next != "":
			from = next
		case !has && len(c.parents) == 0:
			return ""
		default:
			return c.id
		}
	}
}
