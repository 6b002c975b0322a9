package generic

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/armtest"
	"github.com/app-sre/prcheck/internal/shared"
)

// failing returns a scene whose cache was made, and whose service then fails each operation on it after it took the body.
func failing(t *testing.T, style armtest.Style) *scene {
	s := newScene(t)
	delete(s.Data, rule)
	s.service.Describe("Example.Cache/caches", func(b *armtest.Behaviour) {
		b.Style, b.Takes, b.FailedStays = style, time.Minute, true
	})
	s.must()
	s.service.FailOperations(cacheID, 1000)
	return s
}

// The service says that a resource failed: that is no success, whatever the body is.
func TestFailedCases(t *testing.T) {
	type failedCase struct {
		Input struct {
			ProvisioningState *string
			Differs           bool
			Sent              *int // minutes ago, unchanged
		}
		Expected struct {
			Action string
			Exit   int
			Ready  *bool
		}
	}
	shared.Each(t, "failed", func(t *testing.T, c failedCase) {
		style := armtest.AsyncOperation
		if c.Input.ProvisioningState == nil {
			style = armtest.Immediate
		}
		s := failing(t, style)
		if c.Input.Sent != nil {
			s.service.SetState(cacheID, *c.Input.ProvisioningState)
			_ = s.run() // it is sent unchanged, and fails
			s.now = s.now.Add(time.Duration(*c.Input.Sent)*time.Minute - time.Minute)
		}
		if c.Input.ProvisioningState != nil {
			s.service.SetState(cacheID, *c.Input.ProvisioningState)
		}
		if c.Input.Differs {
			s.body(cache)["tags"] = object{"team": "sales"}
		}
		err := s.run()
		action := "none"
		switch {
		case s.writes() != "" && c.Input.Differs:
			action = "update"
		case s.writes() != "":
			action = "resend"
		case s.failures() != "":
			action = "wait"
		}
		exit := 0
		if err != nil || s.failures() != "" {
			exit = 1
		}
		if action != c.Expected.Action || exit != c.Expected.Exit {
			t.Errorf("got %s and %d, want %+v: %v\n%s\n%s", action, exit, c.Expected, err, s.failures(), &s.log)
		}
		if isReady := strings.HasPrefix(s.status(), "Ready=True"); c.Expected.Ready != nil && isReady != *c.Expected.Ready {
			t.Errorf("ready: %s", s.status())
		}
	})
}

// A resource that failed is red in every run, is sent again after growing pauses with the service's own words in between,
// and is quiet once the service says that it succeeded. A change of the data is sent at once.
func TestFailedIsRed(t *testing.T) {
	for name, style := range map[string]armtest.Style{"status document": armtest.AsyncOperation,
		"location": armtest.Location, "state of the resource": armtest.ProvisioningState} {
		t.Run(name, func(t *testing.T) {
			s := failing(t, style)
			s.body(cache)["tags"] = object{"team": "sales"}
			if err := s.run(); err == nil || s.writes() == "" {
				t.Fatalf("the first run: %v, writes %q", err, s.writes())
			}
			var sent []time.Duration
			last := s.now
			for begin := s.now; s.now.Before(begin.Add(4 * time.Hour)); s.now = s.now.Add(5 * time.Minute) {
				err := s.run()
				if err == nil && s.failures() == "" {
					t.Fatalf("it is green after %s: %s", s.now.Sub(begin), &s.log)
				}
				if s.writes() == "" {
					if got := s.failures(); !strings.Contains(got, "FAILED") || !strings.Contains(got, "sent again after") {
						t.Fatalf("in between: %q, %v", got, err)
					}
					continue
				}
				sent, last = append(sent, s.now.Sub(last).Round(time.Minute)), s.now
			}
			if got, want := minutes(sent), "6 11 21 41 61"; !strings.HasPrefix(got, want) {
				t.Errorf("it is sent after %s minutes, one of which the operation takes, want %s", got, want)
			}
			s.body(cache)["tags"] = object{"team": "else"}
			if err := s.run(); s.writes() == "" {
				t.Errorf("a change of the data waits: %v, %s", err, s.failures())
			}
			s.service.FailOperations(cacheID, 0)
			s.now = s.now.Add(time.Hour + time.Minute)
			if err := s.run(); err != nil || s.failures() != "" || s.writes() == "" {
				t.Errorf("it succeeds: %v, %s, writes %q", err, s.failures(), s.writes())
			}
			if s.must(); s.writes() != "" {
				t.Errorf("the next run writes %s", s.writes())
			}
		})
	}
}

func minutes(all []time.Duration) string {
	var out []string
	for _, d := range all {
		raw, _ := json.Marshal(int(d.Minutes())) // a number always encodes
		out = append(out, string(raw))
	}
	return strings.Join(out, " ")
}

// An operation that somebody else began is waited for.
func TestOperationOfOthersIsWaitedFor(t *testing.T) {
	s := failing(t, armtest.AsyncOperation)
	s.service.FailOperations(cacheID, 0)
	s.service.SetState(cacheID, "Updating")
	begin, polls := s.now, 0
	s.service.Intervene(nil, func(armtest.Request) {
		if polls++; polls == 5 {
			s.service.SetState(cacheID, "Succeeded")
		}
	})
	if err := s.run(); err != nil || s.failures() != "" || s.writes() != "" || !s.now.After(begin) {
		t.Errorf("%v, %s, writes %q, after %s\n%s", err, s.failures(), s.writes(), s.now.Sub(begin), &s.log)
	}
}
