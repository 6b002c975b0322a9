package promotions

import (
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration/services"
)

// The half that is good is merged while the other one is divided, and what was remembered of parts goes with them.
func TestHalvesAreAlone(t *testing.T) {
	s := newScene(t, 1, 4)
	s.code = []string{sha(2), sha(1)}
	s.deployAll(sha(2))
	s.mustLoop("commit", "open")
	s.forge.requests[0].Checks = services.ChecksFailed
	s.mustLoop("commit", "open", "commit", "open", "note", "close", "delete branch")
	if text := s.forge.notes[0]; !strings.Contains(text, "each half") {
		t.Errorf("the note is %q", text)
	}
	s.forge.requests[2].Checks = services.ChecksFailed
	s.forge.merge(s.forge.requests[1])
	// The half that is left is divided on top of the file as it is now.
	s.mustLoop("commit", "open", "commit", "open", "note", "close", "delete branch")
	if got := s.refs("main", 0); !slices.Equal(got, []string{sha(2), sha(2), sha(1), sha(1)}) {
		t.Fatalf("got %q", got)
	}
	s.code = append([]string{sha(3)}, s.code...)
	s.deployAll(sha(3))
	s.mustLoop("commit", "open") // of the targets that are not in question any more
	if m := s.forge.requests[len(s.forge.requests)-1]; s.refs(m.Branch, 0)[0] != sha(3) ||
		s.refs(m.Branch, 0)[2] != sha(1) {
		t.Errorf("got %q", s.refs(m.Branch, 0))
	}
	s.settle()
	s.settle()
	if got := s.refs("main", 0); !slices.Equal(got, slices.Repeat([]string{sha(3)}, 4)) {
		t.Errorf("got %q", got)
	}
	all, err := readDocument[memory](t.Context(), s.state, componentsKey)
	if err != nil || len(all) != 1 {
		t.Fatalf("got %v, %v, want the memory of the whole alone", all, err)
	}
	for _, m := range all {
		if len(m.Parts) > 0 {
			t.Errorf("there are the parts %q", m.Parts)
		}
	}
}

// Halves are made though the whole has a target that failed alone before.
func TestHalvesBesideOneThatFailed(t *testing.T) {
	s := newScene(t, 1, 3)
	s.code = []string{sha(2), sha(1)}
	s.deploy(0, 0, sha(2), true)
	s.mustLoop("commit", "open")
	s.forge.requests[0].Checks = services.ChecksFailed
	s.mustLoop("note")
	s.deployAll(sha(2))
	s.mustLoop("commit", "describe") // the others, without it
	if got := s.refs(s.forge.requests[0].Branch, 0); !slices.Equal(got, []string{sha(1), sha(2), sha(2)}) {
		t.Fatalf("got %q", got)
	}
	s.forge.requests[0].Checks = services.ChecksRunning
	s.mustLoop()
	s.forge.requests[0].Checks = services.ChecksFailed
	s.mustLoop("commit", "open", "commit", "open", "note", "close", "delete branch")
	s.mustLoop()
}

// A part goes on after the process died between its steps: another loop ends what one began.
func TestHalvesAfterALostAnswer(t *testing.T) {
	for _, step := range []string{"branches", "file"} {
		s := newScene(t, 1, 4)
		s.code = []string{sha(2), sha(1)}
		s.deployAll(sha(2))
		s.mustLoop("commit", "open")
		s.forge.requests[0].Checks = services.ChecksFailed
		s.forge.fail[step] = errNoService
		if _, err := s.loop(); err == nil {
			t.Errorf("%s: nobody said that the forge does not answer", step)
		}
		s.forge.fail[step] = nil
		s.settle()
		s.settle()
		if got := s.refs("main", 0); !slices.Equal(got, slices.Repeat([]string{sha(2)}, 4)) || len(s.forge.heads) != 1 {
			t.Errorf("%s: got %q, branches %v", step, got, s.forge.heads)
		}
	}
}
