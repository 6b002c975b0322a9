package generic

import (
	"strings"
	"testing"
)

// A run creates, changes and deletes, and writes nothing when nothing differs.
func TestRun(t *testing.T) {
	s := newScene(t)
	s.must()
	if got, want := s.did(), "create office done, create sessions done"; got != want {
		t.Errorf("got %s, want %s\n%s", got, want, &s.log)
	}
	is := s.service.Object(cacheID)
	if is == nil || is["tags"].(map[string]any)["qontract-integration"] != "generic" ||
		is["properties"].(map[string]any)["adminPassword"] != "canary-of-the-cache" {
		t.Errorf("the cache is %v", is)
	}
	for range 2 {
		s.must()
		if got := len(s.service.Requests()); s.writes() != "" || got != 2 {
			t.Errorf("nothing changed: %d requests, writes %s\n%s", got, s.writes(), &s.log)
		}
	}
	s.body(cache)["properties"].(object)["sku"] = object{"name": "Standard", "capacity": 2}
	delete(s.body(cache)["tags"].(object), "team")
	s.must()
	is = s.service.Object(cacheID)
	if got := s.did(); got != "update sessions done" || is["tags"].(map[string]any)["team"] != nil {
		t.Errorf("got %s, %v\n%s", got, is, &s.log)
	}
	s.Data[cache]["delete"], s.Data[rule]["delete"] = true, true
	s.must()
	if got := s.did(); got != "delete office done, delete sessions done" || len(s.service.IDs()) > 0 {
		t.Errorf("got %s, left %v\n%s", got, s.service.IDs(), &s.log)
	}
	if strings.Contains(s.log.String(), "canary") {
		t.Error("the log has the secret")
	}
}
