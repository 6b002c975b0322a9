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
	if young != "" && young == s.head(DefaultBranch) {
		s.grow(young)
		return s.onMain[old]
	}
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
	if from != "" && from == s.head(DefaultBranch) {
		s.follow(from)
		return s.changes[path]
	}
	return s.findLast(from, path)
}

func (s *store) findLast(from, path string) string {
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

// grow lets the set of the commits of main reach up to its head.
func (s *store) grow(head string) {
	if s.onMain[head] && s.grown == head {
		return
	}
	var found []string
	isOnTop := s.grown == ""
	seen := map[string]bool{}
	for open := []string{head}; len(open) > 0; {
		id := open[len(open)-1]
		open = open[:len(open)-1]
		isOnTop = isOnTop || id == s.grown
		if s.onMain[id] || seen[id] {
			continue
		}
		seen[id] = true
		found = append(found, id)
		c, _ := s.commit(id)
		open = append(open, c.parents...)
	}
	if !isOnTop { // somebody forced main
		s.onMain, s.grown = map[string]bool{}, ""
		s.grow(head)
		return
	}
	for _, id := range found {
		s.onMain[id] = true
	}
	s.grown = head
}

// follow brings the newest changes of all paths of main up to its head.
func (s *store) follow(head string) {
	var chain []commit
	id := head
	for id != s.followed {
		c, ok := s.commit(id)
		if !ok { // it is the begin, or somebody forced main
			s.changes = map[string]string{}
			break
		}
		chain, id = append(chain, c), ""
		if len(c.parents) > 0 {
			id = c.parents[0]
		}
	}
	slices.Reverse(chain)
	for _, c := range chain {
		was := ""
		if len(c.parents) > 0 {
			parent, _ := s.commit(c.parents[0])
			was = parent.tree
		}
		for _, d := range s.diff(was, c.tree, "") {
			s.changes[d.path] = s.changedBy(c, d)
		}
	}
	s.followed = head
}

// changedBy returns the commit that made a change which came to main with a commit.
func (s *store) changedBy(c commit, d difference) string {
	for _, p := range c.parents[min(1, len(c.parents)):] {
		parent, _ := s.commit(p)
		if at, had := s.find(parent.tree, d.path); had == (d.is.id != "") && (!had || at == d.is) {
			return s.findLast(p, d.path)
		}
	}
	return c.id
}
