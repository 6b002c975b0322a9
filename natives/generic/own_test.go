package generic

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/armtest"
	"github.com/app-sre/prcheck/natives/generic/rest"
)

// What exists is not touched until the data say that it may be adopted, and adopting removes
// nothing.
func TestAdopt(t *testing.T) {
	s := newScene(t)
	s.must()
	s.service.Edit(cacheID, func(b map[string]any) { b["tags"] = map[string]any{"by": "hand", "team": "shop"} })
	for adopt, want := range map[string]string{"": "NOT_ADOPTED", "if-exists": "", "required": ""} {
		other := newScene(t)
		other.service = s.service
		other.Data[cache]["adopt"] = adopt
		if adopt == "" {
			delete(other.Data[cache], "adopt")
		}
		delete(other.Data, rule)
		err := other.run()
		got := other.failures()
		if want == "" &&
			(err != nil || got != "" || !strings.Contains(other.did(), "adopt sessions done") &&
				!strings.Contains(other.did(), "update sessions done")) {
			t.Errorf("%s: %v, %s, %s", adopt, err, got, other.did())
		}
		if want != "" && (!strings.Contains(got, want) || !strings.Contains(got, "reconciler import generic "+cacheID) ||
			other.writes() != "") {
			t.Errorf("%s: %v, %s, writes %s", adopt, err, got, other.writes())
		}
		if tags := s.service.Object(cacheID)["tags"].(map[string]any); tags["by"] != "hand" {
			t.Errorf("%s: a tag of somebody else is gone: %v", adopt, tags)
		}
		s.service.Edit(cacheID, func(b map[string]any) { b["tags"] = map[string]any{"by": "hand", "team": "shop"} })
	}
	s = newScene(t)
	s.Data[cache]["adopt"] = "required"
	if err := s.run(); !strings.Contains(s.failures(), "NOT_THERE") || strings.Contains(s.writes(), "PUT sessions") {
		t.Errorf("what is not there: got %v, %s, writes %s", err, s.failures(), s.writes())
	}
}

// Policies and protection hold.
func TestPolicies(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(s *scene)
		want string // the write requests
	}{
		"observe": {func(s *scene) { s.Data[rule]["policy"] = "observe"; s.rule()["startIP"] = "192.0.2.2" }, ""},
		"detach":  {func(s *scene) { s.Data[rule]["policy"] = "detach-on-delete"; s.Data[rule]["delete"] = true }, ""},
		"protect": {func(s *scene) { s.Data[rule]["protected"] = true; s.Data[rule]["delete"] = true }, ""},
		"orphan":  {func(s *scene) { delete(s.Data, rule) }, ""},
		"changed": {func(s *scene) { s.rule()["startIP"] = "192.0.2.2" }, "PUT office"},
		"replaced": {func(s *scene) {
			delete(s.Data, rule)
			s.body(cache)["location"] = "eastus"
			s.Data[cache]["allowReplace"] = true
		}, "DELETE sessions, PUT sessions"},
		"children": {func(s *scene) { s.body(cache)["location"] = "eastus"; s.Data[cache]["allowReplace"] = true }, ""},
		"blocked":  {func(s *scene) { s.body(cache)["location"] = "eastus" }, ""},
	} {
		s := newScene(t)
		s.must()
		c.edit(s)
		if err := s.run(); s.writes() != c.want {
			t.Errorf("%s: got the writes %q, want %q; %v\n%s", name, s.writes(), c.want, err, &s.log)
		}
	}
}

func (s *scene) rule() object { return s.body(rule)["properties"].(object) }

// A secret with a version is sent again only when its version changes, and one without only when
// its value does. The state has neither.
func TestSecrets(t *testing.T) {
	for name, version := range map[string]any{"with a version": 1, "without a version": nil} {
		s := newScene(t)
		ref := s.Data[cache]["secrets"].([]any)[0].(object)["secret"].(object)
		if version == nil {
			delete(ref, "version")
		}
		s.must()
		s.must()
		if s.writes() != "" {
			t.Errorf("%s: nothing changed, and it writes %s\n%s", name, s.writes(), &s.log)
		}
		s.secrets["cloud/sessions/password"] = "another-canary"
		if version != nil {
			ref["version"] = 2
		}
		s.must()
		is := s.service.Object(cacheID)["properties"].(map[string]any)["adminPassword"]
		if s.writes() == "" || is != "another-canary" {
			t.Errorf("%s: got the writes %q and %v\n%s", name, s.writes(), is, &s.log)
		}
		s.must()
		if s.writes() != "" {
			t.Errorf("%s: it is sent again: %s\n%s", name, s.writes(), &s.log)
		}
		list, err := s.state.List(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			raw, err := s.state.Read(t.Context(), e.Key)
			if err == nil && strings.Contains(string(raw), "canary") {
				t.Errorf("%s: the state has the secret in %s", name, e.Key)
			}
		}
	}
}

// A run that ends while an operation goes on is resumed: nothing is started twice, and what was
// made is ours.
func TestResume(t *testing.T) {
	s := newScene(t)
	s.settings = "hosts: [arm.example], timeout: 30s"
	s.service.Slow(5*time.Minute, 10*time.Second)
	delete(s.Data, rule)
	if err := s.run(); !errors.Is(err, rest.ErrPending) || s.writes() != "PUT sessions" {
		t.Fatalf("got %v, writes %s\n%s", err, s.writes(), &s.log)
	}
	s.settings = "hosts: [arm.example]"
	s.must()
	if s.writes() != "" {
		t.Errorf("it is started again: %s\n%s", s.writes(), &s.log)
	}
	for range 2 {
		s.must()
		if s.writes() != "" || s.did() != "" {
			t.Errorf("then it does %s, %s\n%s", s.did(), s.writes(), &s.log)
		}
	}
}

// A killed process leaves nothing of unknown owner: also what cannot have a mark is known again.
func TestKilledWhileCreating(t *testing.T) {
	s := newScene(t)
	delete(s.Data[cache], "secrets")
	s.must()
	s.service.Remove(ruleID)
	s.Data["/cloud/second.yml"] = copyOf(s.Data[rule]).(object)
	s.Data["/cloud/second.yml"]["name"] = "second"
	s.service.Intervene(nil, func(r armtest.Request) {
		if r.Method == "PUT" {
			panic("killed")
		}
	})
	_ = s.run() // it is killed
	s.service.Intervene(nil, nil)
	for range 2 {
		if err := s.run(); err != nil || s.failures() != "" {
			t.Fatalf("%v %s\n%s", err, s.failures(), &s.log)
		}
	}
	if s.writes() != "" || len(s.service.IDs()) != 3 {
		t.Errorf("writes %s, there are %v\n%s", s.writes(), s.service.IDs(), &s.log)
	}
}

// A number that GraphQL cannot hand over is a mistake with its place. It clears nothing, neither in
// a run nor by the data alone.
func TestHugeNumberClearsNothing(t *testing.T) {
	s := newScene(t)
	s.must()
	base := s.Clone()
	before := s.service.Object(cacheID)
	s.body(cache)["properties"] = object{"sku": object{"name": "Standard",
		"capacity": json.Number("1" + strings.Repeat("0", 309))}}
	const want = "VAL_TYPE /cloud/cache.yml/body/properties/sku/capacity: "
	for name, run := range map[string]func() error{"a run": s.run, "a dry run": func() error { return s.check(base) }} {
		err := run()
		if got := s.failures(); s.writes() != "" || !strings.HasPrefix(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%s: %v, got %q, writes %s", name, err, got, s.writes())
		}
	}
	if after := s.service.Object(cacheID); !reflect.DeepEqual(after, before) {
		t.Errorf("got %v, want %v", after, before)
	}
}
