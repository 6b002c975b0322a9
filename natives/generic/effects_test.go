package generic

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic/cloudtest"
	"github.com/app-sre/prcheck/plan"
)

// effects returns the effects of the last check as the results have them.
func (s *scene) effects() string {
	var out []string
	for _, f := range s.findings {
		if f.Effect != nil {
			raw, err := json.Marshal(f.Effect)
			if err != nil {
				s.t.Fatal(err)
			}
			out = append(out, string(raw))
		}
	}
	return strings.Join(out, "\n")
}

// tell tells what the change does by the data alone.
func (s *scene) tell(base *cloudtest.World) error {
	of, ok := With(Options{AnyHost: true}).(integration.Teller)
	if !ok {
		s.t.Fatal("it tells nothing")
	}
	return of.Tell(s.t.Context(), s.environment(base))
}

// password returns the properties of the cache, among which its password may stand.
func password(w *cloudtest.World) object {
	return w.Data[cache]["body"].(object)["properties"].(object)
}

// No value of a secret stands in an effect, neither by the data nor by the service: not one of the store, whose
// version changes, not one that somebody wrote into the data, and not one that the data take away.
func TestNoSecretInEffects(t *testing.T) {
	const inline = "canary-in-the-data"
	for name, edit := range map[string]func(base, head *cloudtest.World){
		"another version": func(_, head *cloudtest.World) {
			head.Data[cache]["secrets"].([]any)[0].(object)["secret"].(object)["version"] = 2
		},
		"written into the data": func(_, head *cloudtest.World) {
			delete(head.Data[cache], "secrets")
			password(head)["adminPassword"] = inline
		},
		"taken out of the data": func(base, _ *cloudtest.World) {
			delete(base.Data[cache], "secrets")
			password(base)["adminPassword"] = inline
		},
		"changed in the data": func(base, head *cloudtest.World) {
			for i, w := range []*cloudtest.World{base, head} {
				delete(w.Data[cache], "secrets")
				password(w)["adminPassword"] = inline + strings.Repeat("x", i)
			}
		},
		"of a new entry": func(_, head *cloudtest.World) {
			head.Add("/cloud/new.yml", object{"type": "Example.Cache/caches", "name": "new", "parent": group,
				"body": object{"location": "westus", "properties": object{"adminPassword": inline,
					"sku": object{"name": "Standard", "capacity": 1}}}})
		},
	} {
		s := newScene(t)
		s.must()
		base, head := s.Clone(), s.Clone()
		for file, of := range s.Data {
			base.Data[file], head.Data[file] = copyOf(of).(object), copyOf(of).(object)
		}
		edit(base, head)
		s.World = head
		s.body(cache)["tags"] = object{"team": "another"} // something always changes
		told := ""
		_ = s.check(base)
		told += s.effects()
		_ = s.tell(base)
		told += "\n" + s.effects()
		if !strings.Contains(told, `"new":"another"`) && !strings.Contains(name, "data") {
			t.Errorf("%s: nothing is told: %s", name, told)
		}
		if strings.Contains(told, "canary") {
			t.Errorf("%s: a secret stands in %s", name, told)
		}
	}
}

// The data alone name the property, both values, the place in the datafile, and what means delete and create.
func TestEffectsByTheData(t *testing.T) {
	s := newScene(t)
	for _, file := range []string{cache, rule} {
		s.Data[file]["allowReplace"] = true
	}
	base := s.Clone()
	for file, of := range s.Data {
		base.Data[file] = copyOf(of).(object)
	}
	s.body(cache)["location"] = "eastus"
	s.body(rule)["properties"].(object)["endIP"] = "192.0.2.7"
	s.Data[cache]["secrets"].([]any)[0].(object)["secret"].(object)["version"] = 2
	if err := s.tell(base); err != nil {
		t.Fatal(err)
	}
	got := map[string]plan.Effect{}
	for _, f := range s.findings {
		if f.Effect != nil {
			got[f.Effect.Name] = *f.Effect
		}
	}
	raw, err := json.Marshal(got["office"])
	if err != nil {
		t.Fatal(err)
	}
	want := `{"kind":"change","subject":"` + strings.ToLower(ruleID) + `","type":"Example.Cache/caches/firewallRules",` +
		`"name":"office","target":"https://arm.example","part":"/subscriptions/s1 at https://arm.example",` +
		`"cause":[{"file":"/cloud/rule.yml","pointer":"/body/properties/endIP"}],` +
		`"changes":[{"path":"/properties/endIP","old":"192.0.2.9","new":"192.0.2.7","reason":"desired"}],` +
		`"since":"new","known":{"how":"data","why":"the data alone were compared"}}`
	if string(raw) != want {
		t.Errorf("got\n%s\nwant\n%s", raw, want)
	}
	sessions := got["sessions"]
	places := map[string]bool{}
	for _, c := range sessions.Cause {
		places[c.Pointer] = true
	}
	if sessions.Kind != plan.EffectDelete || sessions.Action != "replace" || !places["/body/location"] ||
		!places["/secrets/0"] {
		t.Errorf("got %+v", sessions)
	}
	if len(s.asked) > 0 || len(s.service.Requests()) > 0 {
		t.Errorf("secrets %v, requests %v", s.asked, s.service.Requests())
	}
}
