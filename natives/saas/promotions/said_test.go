package promotions

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/saas/promotion"
)

// A listening forge tells what people wrote.
type listening struct {
	services.ForgeWriter
	said []services.Said
}

func (l *listening) Said(context.Context, int) ([]services.Said, error) { return l.said, nil }

// A comment on the merge request of a promotion is a command, if it begins with the word of commands, if nobody edited
// it, and if base lets its author speak.
func TestComments(t *testing.T) {
	s := newScene(t, 1, 1)
	s.own = ", may: {production: [jane]}"
	s.code = []string{sha(2), sha(1)}
	s.deployAll(sha(2))
	s.mustLoop("commit", "open")
	forge := &listening{ForgeWriter: s.forge}
	s.client = forge
	say := func(id int, by, body string, edited bool) {
		forge.said = append(forge.said, services.Said{ID: id, By: by, Body: body, At: s.now, Edited: edited})
	}
	target := "saas-0/t0/production"
	say(1, "jane", "reject it", false)
	say(2, "joe", "/saas reject "+target+" "+sha(2), false)
	say(3, "jane", "/saas reject "+target+" "+sha(2), true)
	say(4, "jane", "/saas reject "+target+" c0ffee", false)
	say(5, "jane", "/saas reject nobody "+sha(2), false)
	say(6, "jane", "/saas like "+target, false)
	s.mustLoop()
	for _, want := range []string{"joe may not speak for this target", "no full sha", "no target is called",
		"no command"} {
		if !strings.Contains(s.log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, s.log.String())
		}
	}
	say(7, "jane", "/saas reject "+target+" "+sha(2)+"\n", false)
	s.mustLoop("note", "close", "delete branch")
	if held := fmt.Sprintf("HELD rejected %.12s: saas-0/t0 c-1/shop-production: jane rejected", sha(2)); !strings.Contains(
		s.log.String(), held) {
		t.Errorf("the log does not say %q:\n%s", held, s.log.String())
	}
	if last := s.forge.notes[len(s.forge.notes)-1]; !strings.Contains(last, "jane rejected") {
		t.Errorf("the merge request says %q", last)
	}
	s.now = s.now.Add(48 * time.Hour)
	s.mustLoop()
}

// A merge request that an earlier version named by its files alone, and that a person closed, is heard once: its commit
// stays rejected, and the branch is forgotten.
func TestEarlierBranchesAreHeard(t *testing.T) {
	s := newScene(t, 1, 1)
	s.code = []string{sha(2), sha(1)}
	s.deployAll(sha(2))
	s.mustLoop("commit", "open")
	m := s.forge.requests[0]
	old := promotion.Branch([]string{s.file(0)})
	s.forge.heads[old] = s.forge.heads[m.Branch]
	delete(s.forge.heads, m.Branch)
	err := updateDocument(t.Context(), s.state, componentsKey, func(of map[string]memory) {
		of[old] = of[m.Branch]
		delete(of, m.Branch)
	})
	if err != nil {
		t.Fatal(err)
	}
	m.Branch, m.State, m.ClosedBy, m.Closed = old, services.MergeClosed, "jane", s.now
	delete(s.forge.heads, old)
	s.mustLoop()
	s.mustLoop()
	if !strings.Contains(s.log.String(), "HELD rejected") || !strings.Contains(s.log.String(), "jane rejected") {
		t.Errorf("got %s", s.log.String())
	}
	if of, err := readDocument[memory](t.Context(), s.state, componentsKey); err != nil || of[old].Number != 0 {
		t.Errorf("got %+v, %v", of, err)
	}
}
