package promotions

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
)

func TestPromotion(t *testing.T) {
	s := newScene(t, 2, 2)
	s.mustLoop() // nothing is newer
	s.code = append([]string{sha(2)}, s.code...)
	s.mustLoop() // nobody ran it
	s.deploy(0, 0, sha(2), true)
	s.deploy(0, 1, sha(2), true)
	s.deploy(1, 0, sha(2), false)
	s.mustLoop("commit", "open")
	s.mustLoop()
	m := s.forge.requests[0]
	if m.Title != "Promote 2 targets in data/services/shop/saas-0.yml" || !strings.Contains(m.Description, sha(2)) {
		t.Errorf("got %+v", m)
	}
	if !s.forge.merge(m) {
		t.Fatal("it cannot be merged")
	}
	s.mustLoop()
	if st := s.standing[m.Branch]; st.State != stateMerged || st.Took <= 0 {
		t.Errorf("got %+v", s.standing)
	}
	if got := s.refs("main", 0); !slices.Equal(got, []string{sha(2), sha(2)}) {
		t.Errorf("got %q", got)
	}
	if got := s.refs("main", 1); !slices.Equal(got, []string{sha(1), sha(1)}) {
		t.Errorf("got %q", got)
	}
	if !strings.Contains(s.log.String(), "failed to run") {
		t.Errorf("the table does not say why: %s", s.log.String())
	}
}

func TestOpenMergeRequestsArePatient(t *testing.T) {
	s := newScene(t, 1, 2)
	s.code = []string{sha(2), sha(1)}
	s.deploy(0, 0, sha(2), true)
	s.mustLoop("commit", "open")
	s.code = []string{sha(3), sha(2), sha(1)}
	s.deployAll(sha(3))
	s.forge.requests[0].Approved = true
	s.mustLoop() // people approved it, so it is left alone
	s.forge.requests[0].Approved = false
	s.mustLoop("commit", "describe") // the other target of the stage is due
	s.now = s.now.Add(defaultPatience)
	s.forge.requests[0].Checks = services.ChecksPassed
	s.mustLoop() // it waits for people alone
	s.forge.requests[0].Checks = services.ChecksRunning
	s.mustLoop("commit", "describe")
	s.code = append([]string{sha(4)}, s.code...)
	s.deployAll(sha(4))
	s.mustLoop()
	s.forge.requests[0].Checks = services.ChecksFailed
	s.mustLoop("commit", "describe") // something newer may be good
	s.settle()
	if got := s.refs("main", 0); !slices.Equal(got, []string{sha(4), sha(4)}) {
		t.Errorf("got %q", got)
	}
}

func TestWindowOutlivedByItsMergeRequest(t *testing.T) {
	s := newScene(t, 1, 1)
	s.world.Target("/services/shop/saas.yml", 0, 1)["promotion"].(map[string]any)["schedule"] = "0 9 * * 1"
	s.code = []string{sha(2), sha(1)}
	s.deployAll(sha(2))
	s.mustLoop()
	if st := s.standing["saas-0/t0 c-1/shop-production"]; st.State != stateHeld || !st.Opens.Equal(begin.Add(time.Hour)) {
		t.Errorf("got %+v", s.standing)
	}
	s.now = begin.Add(56 * time.Minute) // the loop is at 9:01
	s.forge.fail["file"] = errors.New("no answer")
	if _, err := s.loop(); err == nil {
		t.Error("the forge did not answer, and nobody said so")
	}
	s.forge.fail["file"] = nil
	s.now = s.now.Add(6 * time.Minute) // the window is still open for the component that did not get through
	s.mustLoop("commit", "open")
	s.now = s.now.Add(time.Hour)
	s.mustLoop() // it outlives the window
	if !s.forge.merge(s.forge.requests[0]) {
		t.Fatal("it cannot be merged")
	}
	s.code = append([]string{sha(3)}, s.code...)
	s.deployAll(sha(3))
	s.mustLoop()
	s.now = time.Date(2026, 11, 30, 8, 58, 0, 0, time.UTC)
	s.mustLoop("commit", "open")
}

func TestGoingBackByHandIsAPin(t *testing.T) {
	s := newScene(t, 1, 1)
	s.code = []string{sha(2), sha(1)}
	s.deployAll(sha(2))
	s.settle()
	s.settle()
	text := s.forge.commits[s.forge.heads["main"]].files[s.file(0)]
	s.forge.edit("main", s.file(0), strings.ReplaceAll(text, sha(2), sha(1)))
	s.mustLoop()
	s.mustLoop()
	if st := s.standing["saas-0/t0 c-1/shop-production"]; st.State != stateHeld ||
		!strings.Contains(st.Hold, "pinned below") {
		t.Errorf("got %+v", st)
	}
	s.code = append([]string{sha(3)}, s.code...)
	s.deployAll(sha(3))
	s.settle()
	if got := s.refs("main", 0); !slices.Equal(got, []string{sha(3)}) {
		t.Errorf("got %q", got)
	}
}

func TestFailingTargetsAreFoundByHalves(t *testing.T) {
	s := newScene(t, 1, 5)
	s.code = []string{sha(2), sha(1)}
	s.deployAll(sha(2))
	const culprit = 3
	for range 30 {
		if _, err := s.loop(); err != nil {
			t.Fatal(err)
		}
		for _, m := range s.forge.requests {
			if m.State != services.MergeOpen {
				continue
			}
			if s.refs(m.Branch, 0)[culprit] == sha(2) {
				m.Checks = services.ChecksFailed
				continue
			}
			m.Checks = services.ChecksPassed
			s.forge.merge(m)
		}
	}
	want := slices.Repeat([]string{sha(2)}, 5)
	want[culprit] = sha(1)
	if got := s.refs("main", 0); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	s.mustLoop()
	if len(s.forge.requests) > 5 || !strings.Contains(s.standing["saas-0/t3 c-1/shop-production"].Hold, "checks") {
		t.Errorf("%d merge requests, %+v", len(s.forge.requests), s.standing)
	}
	digest := regexp.MustCompile(`[0-9a-f]{32}`).FindString(s.standing["saas-0/t3 c-1/shop-production"].Hold)
	s.own = ", retry: [\"" + digest + "\"]"
	s.mustLoop("commit")
	s.forge.requests[len(s.forge.requests)-1].Checks = services.ChecksFailed
	s.mustLoop() // the settings name it, and it was tried
	s.mustLoop()
	s.own = ""
	s.code = append([]string{sha(3)}, s.code...)
	s.deployAll(sha(3))
	s.settle()
	if got := s.refs("main", 0); !slices.Equal(got, slices.Repeat([]string{sha(3)}, 5)) {
		t.Errorf("got %q", got)
	}
}

func TestWhatIsNotKnownChangesNothing(t *testing.T) {
	s := newScene(t, 1, 2)
	s.code = []string{sha(2), sha(1)}
	s.deployAll(sha(2))
	s.mustLoop("commit", "open")
	s.noCode = errors.New("no answer")
	for range 2 { // the second time, nobody knows what the merge request is about
		if wrote, err := s.loop(); err == nil || len(wrote) > 0 || s.forge.requests[0].State != services.MergeOpen {
			t.Errorf("wrote %q, %v", wrote, err)
		}
		s.forge.requests[0].Description = "by hand"
	}
	s.noCode, s.noRecords = nil, errors.New("no answer")
	if wrote, err := s.loop(); err == nil || len(wrote) > 0 {
		t.Errorf("wrote %q, %v", wrote, err)
	}
	s.noRecords = nil
	s.mustLoop("describe")
	s.mustLoop()
	s.forge.fail["branches"] = errors.New("no answer")
	if _, err := s.loop(); !errors.Is(err, integration.ErrNothingDone) {
		t.Errorf("got %v", err)
	}
	s.forge.fail["branches"] = nil
	if err := s.state.Write(t.Context(), componentsKey, []byte(`{"version":2}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.loop(); !errors.Is(err, integration.ErrNothingDone) {
		t.Errorf("a newer document: got %v", err)
	}
}

func TestBreachedObjectivesHold(t *testing.T) {
	s := newScene(t, 1, 1)
	s.own = ", hosts: [prometheus.c-1.example.com]"
	s.world.Target("/services/shop/saas.yml", 0, 1)["slos"] = []any{map[string]any{"$ref": "/services/shop/slo.yml"}}
	s.code, s.value = []string{sha(2), sha(1)}, 0.5
	s.deployAll(sha(2))
	s.mustLoop()
	if st := s.standing["saas-0/t0 c-1/shop-production"]; st.State != stateHeld ||
		!strings.Contains(st.Hold, "availability") {
		t.Errorf("got %+v", st)
	}
	s.value = 0.99
	s.mustLoop("commit", "open")
}

func TestDryRunWritesNothing(t *testing.T) {
	s := newScene(t, 1, 1)
	s.code = []string{sha(2), sha(1)}
	s.deployAll(sha(2))
	s.forge.writes = nil
	if err := s.native().DryRun(t.Context(), s.env()); err != nil || len(s.forge.writes) > 0 ||
		!strings.Contains(s.log.String(), "promote") {
		t.Errorf("got %v, wrote %q\n%s", err, s.forge.writes, s.log.String())
	}
	env := s.env()
	env.Base, s.noCode = env.Query, errors.New("nobody may be asked")
	if err := s.native().DryRun(t.Context(), env); err != nil {
		t.Error(err)
	}
	if entries, err := s.state.List(t.Context(), ""); err != nil || len(entries) > 0 {
		t.Errorf("got %v, %v", entries, err)
	}
	first, err := s.native().(integration.Stater).DesiredState(t.Context(), env.Query, env.Settings)
	if err != nil || first == nil {
		t.Errorf("got %v", err)
	}
}

func TestMergeRequestOfSomebodyElse(t *testing.T) {
	s := newScene(t, 1, 1)
	s.code = []string{sha(2), sha(1)}
	s.deployAll(sha(2))
	s.mustLoop("commit", "open")
	s.client = strangers{s.forge} // the user of the token is another one by now
	s.mustLoop()
	if st := s.standing["saas-0/t0 c-1/shop-production"]; !strings.Contains(st.Hold, "somebody else opened") {
		t.Errorf("got %+v", st)
	}
}

// strangers is a forge where all merge requests are of others.
type strangers struct{ *fakeForge }

func (strangers) MergeRequests(context.Context, string) ([]services.MergeRequest, error) {
	return nil, nil
}
