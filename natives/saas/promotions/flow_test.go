package promotions

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// passages returns how commits stand, a line for each commit.
func (s *scene) passages() string {
	var out []string
	for _, f := range s.flows {
		for _, c := range f.Commits {
			line := fmt.Sprintf("%.2s%s:", c.SHA, strings.TrimLeft(c.SHA[1:], "0"))
			for _, p := range c.Passes {
				word := string(p.State)
				if word == "" {
					word = "-"
				}
				if p.Code != "" {
					word += " " + p.Code
				}
				line += " " + word
			}
			out = append(out, line)
		}
	}
	return strings.Join(out, "; ")
}

// A loop tells where each commit is: at the publisher, on its way, proposed, rejected.
func TestFlows(t *testing.T) {
	s := newScene(t, 1, 1)
	s.deploy(0, 0, sha(1), true)
	see := func(step, want string) {
		t.Helper()
		if _, err := s.loop(); err != nil {
			t.Fatal(err)
		}
		if got := s.passages(); got != want {
			t.Errorf("%s: got %q, want %q", step, got, want)
		}
	}
	see("at first", "c01: live wanted")
	if n := len(s.flows); n != 1 || len(s.flows[0].Stages) != 2 || !strings.Contains(s.flows[0].Stages[0], "stage") {
		t.Fatalf("got %+v", s.flows)
	}
	s.now = s.now.Add(time.Hour)
	s.code = append([]string{sha(2)}, s.code...)
	s.deploy(0, 0, sha(2), true)
	see("a new commit ran at stage", "c02: live proposed; c01: ran wanted")
	see("its merge request is open", "c02: live proposed; c01: ran wanted")
	s.now = s.now.Add(time.Hour)
	s.forge.requests[0].State = "closed"
	see("a person closed it", "c02: live rejected; c01: ran wanted")
	s.now = s.now.Add(time.Hour)
	s.code = append([]string{sha(3)}, s.code...)
	s.deploy(0, 0, sha(3), false)
	see("the next one failed", "c03: bad failed waits bad; c02: ran rejected; c01: ran wanted")
}
