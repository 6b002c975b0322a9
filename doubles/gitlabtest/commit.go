package gitlabtest

import (
	"fmt"
	"strings"
	"time"
)

// A commit is a commit of git.
type commit struct {
	id, tree    string
	parents     []string
	name, email string // of the author
	when        time.Time
	message     string
}

// writeCommit adds a commit and returns its id. The committer is the author.
func (s *store) writeCommit(c commit) string {
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", c.tree)
	for _, p := range c.parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	who := fmt.Sprintf("%s <%s> %d +0000", c.name, c.email, c.when.Unix())
	fmt.Fprintf(&b, "author %s\ncommitter %s\n\n%s\n", who, who, strings.TrimRight(c.message, "\n"))
	return s.write("commit", []byte(b.String()))
}

// commit returns a commit; false if there is none of that id.
func (s *store) commit(id string) (commit, bool) {
	if c, ok := s.commits[id]; ok {
		return c, true
	}
	o, ok := s.read(id)
	if !ok || o.kind != "commit" {
		return commit{}, false
	}
	c := commit{id: id}
	head, message, _ := strings.Cut(string(o.data), "\n\n")
	c.message = message
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "tree":
			c.tree = value
		case "parent":
			c.parents = append(c.parents, value)
		case "author":
			name, rest, _ := strings.Cut(value, " <")
			email, when, _ := strings.Cut(rest, "> ")
			var seconds int64
			_, _ = fmt.Sscan(when, &seconds) // git wrote it
			c.name, c.email, c.when = name, email, time.Unix(seconds, 0).UTC()
		}
	}
	s.commits[id] = c
	return c, true
}
