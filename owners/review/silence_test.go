package review

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/owners/coverage"
	"github.com/app-sre/prcheck/owners/rules"
)

// silent lets bob be a member of a group whose source was heard last at a time.
func silent(files []*coverage.File, knownAt time.Time) []*coverage.File {
	for _, f := range files {
		for _, c := range f.Contexts {
			if c.Has("bob") {
				c.People = nil
				c.Join([]rules.Person{{Name: "bob", KnownAt: knownAt}}, []string{"lamps"})
			}
		}
	}
	return files
}

// runSilent runs while the source of members is silent since a time.
func (s *server) runSilent(t testing.TB, knownAt time.Time) (*Outcome, error) {
	t.Helper()
	in := s.input(t)
	in.Files, in.Silent = silent(in.Files, knownAt), []string{"the members of lamps are not known"}
	return Run(t.Context(), in)
}

// While a source of members is silent, what its members said before that keeps a change let through; what they say
// since approves nothing, and what keeps the change back counts. Nothing is let through that was not before, and no
// other label is touched.
func TestSilentSource(t *testing.T) {
	says := func(by, body string) func(*server) {
		return func(s *server) { s.say(by, body, time.Minute) }
	}
	nothing := func(*server) {}
	for _, c := range []struct {
		name          string
		before, since func(*server)
		labels        string
		isApproved    bool
	}{
		{"nothing changes", says("bob", "/lgtm"), nothing, "bot/approved: medium,self-serviceable", true},
		{"a push elsewhere", says("bob", "/lgtm"), func(s *server) { s.push(values{"1", "1"}) },
			"bot/approved: medium,self-serviceable", true},
		{"a push to the place", says("bob", "/lgtm"), func(s *server) { s.push(values{"1", "2"}) },
			"self-serviceable", false},
		{"a new word of a member", says("bob", "fine"), says("bob", "/lgtm"), "self-serviceable", false},
		{"a new word about what was approved", says("bob", "/lgtm"), says("bob", "/lgtm"),
			"bot/approved: medium,self-serviceable", true},
		{"a new word about what was pushed since", says("bob", "/lgtm"),
			func(s *server) { s.push(values{"1", "2"}); s.say("bob", "/lgtm", time.Minute) }, "self-serviceable", false},
		{"a hold that comes and goes", says("bob", "/lgtm"),
			func(s *server) { s.say("bob", "/hold", time.Minute); s.say("bob", "/hold cancel", time.Minute) },
			"self-serviceable", false},
		{"a hold of a member", says("bob", "/lgtm"), says("bob", "/hold"), "self-serviceable", false},
		{"taken back by a member", says("bob", "/lgtm"), says("bob", "/lgtm cancel"), "self-serviceable", false},
		{"a hold that a member ends",
			func(s *server) { s.say("bob", "/lgtm", time.Minute); s.say("bob", "/hold", time.Minute) },
			says("bob", "/hold cancel"), "bot/hold,self-serviceable", false},
		{"a new word of somebody whom base names", says("bob", "/lgtm"), says("ann", "/lgtm"),
			"bot/approved: medium,self-serviceable", true},
		{"a hold of the author that a member ends",
			func(s *server) { s.say("bob", "/lgtm", time.Minute); s.say("zoe", "/hold", time.Minute) },
			says("bob", "/hold cancel"), "bot/hold,self-serviceable", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer()
			s.say("ann", "/lgtm", time.Minute)
			c.before(s)
			if _, err := s.run(t); err != nil {
				t.Fatal(err)
			}
			knownAt := s.now
			c.since(s)
			labels := slices.Clone(s.r.Labels)
			out, err := s.runSilent(t, knownAt)
			slices.Sort(s.r.Labels)
			if got := strings.Join(s.r.Labels, ","); err != nil || got != c.labels ||
				s.status[s.r.Head].IsApproved != c.isApproved {
				t.Fatalf("labels %s of %q, status %+v, %v, want %s", got, labels, s.status[s.r.Head], err, c.labels)
			}
			if !strings.Contains(s.r.Note, "the members of lamps are not known") || len(out.Silent) != 1 {
				t.Errorf("the note does not tell it:\n%s", s.r.Note)
			}
			writes := s.writes
			if _, err := s.runSilent(t, knownAt); err != nil || s.writes != writes {
				t.Errorf("a second run wrote %d times: %v", s.writes-writes, err)
			}
		})
	}
}

// What is approved by words of before is not let through for the first time while a source is silent.
func TestSilentFromTheBeginning(t *testing.T) {
	s := newServer()
	s.say("ann", "/lgtm", time.Minute)
	s.say("bob", "/lgtm", time.Minute)
	out, err := s.runSilent(t, s.now)
	if err != nil || len(s.r.Labels) > 0 || s.status[s.r.Head].IsApproved || !out.IsApproved {
		t.Fatalf("labels %q, status %+v, %v", s.r.Labels, s.status, err)
	}
	if want := (Status{Text: "a source of members does not answer"}); s.status[s.r.Head] != want {
		t.Errorf("status %+v", s.status[s.r.Head])
	}
	if _, err := s.run(t); err != nil || !s.hasApproval() {
		t.Errorf("when it answers again: labels %q, %v", s.r.Labels, err)
	}
}

// A member whose source is silent for too long approves nothing, and what lets the change through goes.
func TestSilentForTooLong(t *testing.T) {
	s := newServer()
	s.say("ann", "/lgtm", time.Minute)
	s.say("bob", "/lgtm", time.Minute)
	if _, err := s.run(t); err != nil || !s.hasApproval() {
		t.Fatalf("labels %q, %v", s.r.Labels, err)
	}
	in := s.input(t)
	in.Silent = []string{"the members of lamps are not known"}
	for _, c := range in.Files[0].Contexts {
		if c.Has("bob") {
			c.People = nil
			c.Join(nil, []string{"lamps"})
		}
	}
	if _, err := Run(t.Context(), in); err != nil || len(s.r.Labels) > 0 || s.status[s.r.Head].IsApproved {
		t.Errorf("labels %q, status %+v, %v", s.r.Labels, s.status, err)
	}
}
