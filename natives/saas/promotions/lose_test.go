package promotions

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration/services"
)

// Somebody commits to our branch between our last look and our push, or our deletion: the commit
// stays, and the next loop leaves the branch alone.
func TestCommitJustBeforeAPushIsNotLost(t *testing.T) {
	for name, change := range map[string]func(s *scene){
		"push": func(s *scene) { s.forge.edit("main", s.file(0), "# a note\n"+s.text("main", s.file(0))) },
		"deletion": func(s *scene) {
			s.forge.edit("main", s.file(0), strings.ReplaceAll(s.text("main", s.file(0)), sha(1), sha(2)))
		},
	} {
		s := newScene(t, 1, 1)
		s.code = []string{sha(2), sha(1)}
		s.deployAll(sha(2))
		s.mustLoop("commit", "open")
		branch := s.forge.requests[0].Branch
		change(s)
		s.forge.race = func() {
			s.forge.race = nil
			s.forge.edit(branch, "by-hand", "mine")
		}
		if _, err := s.loop(); !errors.Is(err, services.ErrBranchMoved) {
			t.Errorf("%s: got %v", name, err)
		}
		if s.text(branch, "by-hand") != "mine" {
			t.Errorf("%s: the commit is lost", name)
		}
		wrote, err := s.loop()
		if err != nil || slices.Contains(wrote, "commit") || slices.Contains(wrote, "delete branch") ||
			s.text(branch, "by-hand") != "mine" {
			t.Errorf("%s: then it wrote %q, %v", name, wrote, err)
		}
	}
}

// A branch that a killed program left behind is deleted.
func TestUnfinishedBranchesAreDeleted(t *testing.T) {
	s := newScene(t, 1, 1)
	left := "saas-promotion/0123456789ab" + services.UnfinishedSuffix
	s.forge.commit(left, map[string]string{"a": "b"}, "left")
	s.forge.commit("saas-promotion/of-jane"+services.UnfinishedSuffix, map[string]string{"a": "b"}, "hers")
	s.mustLoop("delete branch")
	if s.forge.heads[left] != "" || len(s.forge.heads) != 2 {
		t.Errorf("the branches are %v", s.forge.heads)
	}
}
