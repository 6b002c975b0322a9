package review

import (
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/owners/coverage"
)

// tagged lets people want to be mentioned.
func tagged(files []*coverage.File, names ...string) []*coverage.File {
	for _, f := range files {
		for _, c := range f.Contexts {
			for i, p := range c.People {
				c.People[i].IsTagged = strings.Contains(" "+strings.Join(names, " ")+" ", " "+p.Name+" ")
			}
		}
	}
	return files
}

// Who wants to be mentioned is mentioned while a place of theirs is open, and stays mentioned in the same note: GitLab
// tells nobody a second time then.
func TestPing(t *testing.T) {
	const once = "- Mentioned once, and not again: "
	s := newServer()
	run := func(names ...string) string {
		in := s.input(t)
		in.Files = tagged(in.Files, names...)
		if _, err := Run(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(s.r.Note, once)
		line, _, _ := strings.Cut(after, "\n")
		return line
	}
	if got := run(); got != "" || strings.Contains(s.r.Note, "@") {
		t.Errorf("nobody wants it, and the note has %q", s.r.Note)
	}
	if got := run("bob"); got != "@bob." {
		t.Errorf("bob wants it: %q", got)
	}
	s.say("bob", "/lgtm", time.Minute)
	if got := run("bob"); got != "@bob." {
		t.Errorf("bob approved: %q", got)
	}
	s.push(values{"1", "2"})
	if got := run("bob", "ann"); got != "@ann, @bob." {
		t.Errorf("both are to be asked: %q", got)
	}
	s.r.Author = "ann"
	s.r.Note = ""
	if got := run("bob", "ann"); got != "@bob." {
		t.Errorf("the author is asked: %q", got)
	}
}
