package promotions

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration/services"
)

// window gives the target of production in all files of a scene a schedule.
func (s *scene) window(schedule string) {
	s.world.Target("/services/shop/saas.yml", 0, 1)["promotion"].(map[string]any)["schedule"] = schedule
}

// at lets the next loop be at a time of a day.
func (s *scene) at(day int, clock time.Duration) {
	s.now = time.Date(begin.Year(), begin.Month(), begin.Day()+day, 0, 0, 0, 0, time.UTC).Add(clock - 5*time.Minute)
}

// TestOpeningsOutlivePatience holds that a window counts though the merge request that is open then
// is left alone, unless the service misses an objective when its turn comes.
func TestOpeningsOutlivePatience(t *testing.T) {
	for _, value := range []float64{1, 0.5} {
		s := newScene(t, 1, 2)
		s.own = ", hosts: [prometheus.c-1.example.com]"
		s.world.Target("/services/shop/saas.yml", 0, 1)["slos"] = []any{map[string]any{"$ref": "/services/shop/slo.yml"}}
		s.window("0,30 9 * * 1")
		s.code = []string{sha(2), sha(1)}
		s.deploy(0, 0, sha(2), true)
		s.at(0, 9*time.Hour)
		s.mustLoop("commit", "open")
		s.deployAll(sha(2))
		s.forge.requests[0].Approved = true
		s.at(0, 9*time.Hour+30*time.Minute)
		s.mustLoop()
		s.at(0, 9*time.Hour+50*time.Minute)
		s.forge.merge(s.forge.requests[0])
		if s.value = value; value < 0.95 {
			s.mustLoop()
			s.value = 1
			s.mustLoop() // it begins anew in the next window
			continue
		}
		s.mustLoop("commit", "open")
		s.settle()
		if got := s.refs("main", 0); !slices.Equal(got, []string{sha(2), sha(2)}) {
			t.Errorf("got %q", got)
		}
	}
}

// TestOpeningsOutliveFailedChecks holds that a window counts though the checks of what began in it
// failed, and something else was tried meanwhile.
func TestOpeningsOutliveFailedChecks(t *testing.T) {
	s := newScene(t, 1, 4)
	s.window("0 9 * * 1")
	s.code = []string{sha(2), sha(1)}
	s.deployAll(sha(2))
	s.at(0, 9*time.Hour)
	s.mustLoop("commit", "open")
	s.forge.requests[0].Checks = services.ChecksFailed
	s.at(0, 10*time.Hour)
	s.mustLoop("commit", "open", "commit", "open", "note", "close", "delete branch") // halves, long after the window
	if got := s.refs(s.forge.requests[1].Branch, 0); !slices.Equal(got, []string{sha(2), sha(2), sha(1), sha(1)}) {
		t.Fatalf("got %q", got)
	}
	s.mustLoop()
	if st := s.standing["saas-0/t3 c-1/shop-production"]; st.State != stateOpen || !st.Opens.IsZero() {
		t.Errorf("got %+v", st)
	}
	s.settle()
	if got := s.refs("main", 0); !slices.Equal(got, slices.Repeat([]string{sha(2)}, 4)) {
		t.Errorf("got %q", got)
	}
	entries, err := readDocument[memory](t.Context(), s.state, componentsKey)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range entries {
		if len(m.Begun) > 0 {
			t.Errorf("%v is done", m.Begun)
		}
	}
	s.code = append([]string{sha(3)}, s.code...)
	s.deployAll(sha(3))
	s.mustLoop() // what is newer waits for the next window
	if st := s.standing["saas-0/t3 c-1/shop-production"]; st.State != stateHeld || !strings.Contains(st.Hold, "schedule") {
		t.Errorf("got %+v", st)
	}
}

// TestWhatBeganEnds holds that a promotion which began in a window does not go on if a person
// closed it, if the data have something newer, or if a publisher failed to run it again.
func TestWhatBeganEnds(t *testing.T) {
	for name, end := range map[string]func(s *scene){
		"closed": func(s *scene) {
			m := s.forge.requests[0]
			m.State = services.MergeClosed
			delete(s.forge.heads, m.Branch)
		},
		"newer in the data": func(s *scene) {
			text := s.forge.commits[s.forge.heads["main"]].files[s.file(0)]
			s.code = append([]string{sha(3)}, s.code...)
			s.forge.edit("main", s.file(0), strings.ReplaceAll(text, sha(1), sha(3)))
		},
		"the last run failed": func(s *scene) { s.deploy(0, 0, sha(2), false); s.deploy(0, 1, sha(2), false) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, 1, 2)
			s.window("0 9 * * 1")
			s.code = []string{sha(2), sha(1)}
			s.deployAll(sha(2))
			s.at(0, 9*time.Hour)
			s.mustLoop("commit", "open")
			s.at(0, 11*time.Hour)
			end(s)
			if _, err := s.loop(); err != nil {
				t.Fatal(err)
			}
			for branch := range s.forge.heads {
				if branch != "main" {
					t.Errorf("%s goes on", branch)
				}
			}
			s.mustLoop()
		})
	}
}
