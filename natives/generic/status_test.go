package generic

import (
	"net/http"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/doubles/armtest"
	"github.com/app-sre/prcheck/integration"
)

// status returns the conditions of the cache as one text, by the native.
func (s *scene) status() string {
	s.t.Helper()
	env := s.environment(nil)
	all, err := s.native.(integration.StatusReader).Status(s.t.Context(), env)
	for _, t := range all {
		for _, c := range t.Conditions {
			if c.Type == ready && (err == nil) != (c.Status == integration.True) {
				s.t.Errorf("Ready is %s, and the error is %v", c.Status, err)
			}
		}
		if strings.HasSuffix(t.Key, "/sessions") || strings.HasSuffix(t.Key, "/web") {
			var words []string
			for _, c := range t.Conditions {
				words = append(words, c.Type+"="+string(c.Status)+"/"+c.Reason)
			}
			if t.Observed != t.Desired {
				words = append(words, "new data")
			}
			return strings.Join(words, " ")
		}
	}
	return ""
}

// The status says what works, what differs and why, and asks by reads alone.
func TestStatus(t *testing.T) {
	s := newScene(t)
	delete(s.Data, rule)
	check := func(name, want string) {
		t.Helper()
		if got := s.status(); got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
	check("not there", "Ready=False/NotThere Synced=False/Differs Drifted=False/Same Blocked=False/Allowed new data")
	s.must()
	check("there", "Ready=True/Succeeded Synced=True/Same Drifted=False/Same Blocked=False/Allowed")
	s.service.Edit(cacheID, func(b map[string]any) { b["tags"].(map[string]any)["team"] = "x" })
	check("drifted", "Ready=True/Succeeded Synced=False/Differs Drifted=True/Changed Blocked=False/Allowed")
	s.body(cache)["location"] = "eastus"
	check("blocked", "Ready=True/Succeeded Synced=False/Blocked Drifted=True/Changed Blocked=True/CREATE_ONLY new data")
	if s.writes() != "" && s.writes() != "PUT sessions" {
		t.Errorf("it writes %s", s.writes())
	}
	list, err := s.state.List(t.Context(), "status")
	if err != nil || len(list) != 1 {
		t.Errorf("the state has %v, %v", list, err)
	}
}

// Of a resource that cannot be read nothing is known, and the status says so.
func TestUnreadStatus(t *testing.T) {
	s := newScene(t)
	delete(s.Data, rule)
	s.must()
	s.service.Fail(func(r armtest.Request) *armtest.Fault {
		return &armtest.Fault{Status: http.StatusBadRequest, Code: "Broken"}
	})
	all, err := s.native.(integration.StatusReader).Status(s.t.Context(), s.environment(nil))
	if err == nil || !strings.Contains(err.Error(), "could not be read") {
		t.Errorf("the error is %v", err)
	}
	var words []string
	for _, thing := range all {
		for _, c := range thing.Conditions {
			words = append(words, c.Type+"="+string(c.Status)+"/"+c.Reason)
		}
	}
	const want = "Ready=Unknown/NotRead Synced=Unknown/NotRead Drifted=Unknown/NotRead Blocked=True/INCOMPLETE"
	if got := strings.Join(words, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A part of the status that is read for itself is read when the resource was written or changed,
// until all is well, and when somebody asks for the status.
func TestJoinedStatus(t *testing.T) {
	s := newScene(t)
	delete(s.Data, rule)
	s.Add(cache, object{"type": "Example.Compute/scaleSets", "name": "web", "parent": group,
		"body": object{"location": "westus", "sku": object{"name": "S", "capacity": 1}, "properties": object{}}})
	joined := func() (n int) {
		for _, r := range s.service.Requests() {
			if strings.HasSuffix(r.Path, "/instanceView") {
				n++
			}
		}
		return n
	}
	isBroken := false
	s.service.Fail(func(r armtest.Request) *armtest.Fault {
		if isBroken && strings.HasSuffix(r.Path, "/instanceView") {
			return &armtest.Fault{Status: http.StatusBadRequest, Code: "Broken"}
		}
		return nil
	})
	edit := func() {
		s.service.Edit(group+"/providers/Example.Compute/scaleSets/web", func(b map[string]any) {
			b["tags"].(map[string]any)["seen"] = "x"
		})
	}
	for _, c := range []struct {
		name string
		do   func()
		want int
	}{
		{"created", func() {}, 1},
		{"nothing changed", func() {}, 0},
		{"changed by somebody", edit, 1},
		{"nothing changed since then", func() {}, 0},
		{"written, and the part cannot be read", func() {
			isBroken, s.body(cache)["sku"] = true, object{"name": "S", "capacity": 2}
		}, 1},
		{"it still cannot be read", func() {}, 1},
		{"it can be read again", func() { isBroken = false }, 1},
		{"all is well", func() {}, 0},
	} {
		c.do()
		s.must()
		if got := joined(); got != c.want {
			t.Errorf("%s: instanceView is read %d times, want %d", c.name, got, c.want)
		}
	}
	s.service.Forget()
	if got := s.status(); !strings.HasPrefix(got, "Ready=True/Succeeded ") || joined() != 1 {
		t.Errorf("asked for the status: %s, and instanceView is read %d times", got, joined())
	}
	isBroken = true
	if got := s.status(); !strings.HasPrefix(got, "Ready=True/Succeeded ") {
		t.Errorf("a part that cannot be read: %s", got)
	}
}
