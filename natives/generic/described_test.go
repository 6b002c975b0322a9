package generic

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/generic/cloudtest"
)

// canary is a value that the service answers, and that base says nobody may see.
const canary = "canary-of-the-service"

// newKeepingScene returns a scene with a thing whose connection is a secret by the specification, with what was made of
// it, and the service answers the canary there.
func newKeepingScene(t *testing.T) *givingScene {
	t.Helper()
	schema := thingSchema()
	schema["properties"].(object)["connection"] = object{"type": "string", "x-ms-secret": true}
	schema["properties"].(object)["route"] = object{"type": "string"}
	schema["properties"].(object)["users"] = object{"type": "array", "x-ms-identifiers": []any{"name"},
		"items": object{"type": "object", "properties": object{"name": object{"type": "string"},
			"code": object{"type": "string", "x-ms-secret": true}}}}
	s := newGivingScene(t, schema)
	s.thing("a", object{"body": object{"size": "1"}})
	s.gives["a"] = object{"connection": canary, "users": []any{object{"name": "jane", "code": canary}}}
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
	return s
}

// respec edits the specification of head as a text.
func (s *givingScene) respec(old, instead string) {
	s.t.Helper()
	text := s.Resources[cloudtest.Spec]
	if !strings.Contains(text, old) {
		s.t.Fatalf("the specification has no %s", old)
	}
	s.Resources[cloudtest.Spec] = strings.ReplaceAll(text, old, instead)
}

// ownAPI gives head an API of its own at the endpoint of base, with a specification.
func (s *givingScene) ownAPI(spec string) object {
	api := copyOf(s.Data[cloudtest.API]).(object)
	api["name"], api["specifications"] = "mine", []any{"/specs/mine.json"}
	s.Data["/cloud/mine.yml"], s.Resources["/specs/mine.json"] = api, spec
	return object{"$ref": "/cloud/mine.yml"}
}

// says returns all that a dry run of a change says.
func (s *givingScene) says(base *cloudtest.World) string {
	s.t.Helper()
	err := s.native.DryRun(s.t.Context(), s.environment(base))
	all, errOfJSON := json.Marshal(s.findings)
	if errOfJSON != nil {
		s.t.Fatal(errOfJSON)
	}
	return fmt.Sprintf("%v\n%s\n%s", err, s.log.String(), all)
}

const isSecret, isNoSecret = `"type":"string","x-ms-secret":true`, `"type":"string"`

// What base says is a secret of the service is none that a change can make public, whatever it says of it itself.
func TestChangeShowsNoSecretOfBase(t *testing.T) {
	fresh := object{"adopt": "if-exists", "body": object{"size": "1", "connection": "guess"}}
	for name, edit := range map[string]func(s *givingScene){
		"a guess": func(s *givingScene) { s.thing("a", fresh) },
		"its own specification": func(s *givingScene) {
			s.respec(isSecret, isNoSecret)
			s.thing("a", fresh)
		},
		"another type of the property": func(s *givingScene) {
			s.respec(isSecret, `"type":"integer"`)
			s.thing("a", object{"body": object{"size": "1", "connection": 7}})
		},
		"an API of its own": func(s *givingScene) {
			mine := s.ownAPI(strings.ReplaceAll(s.Resources[cloudtest.Spec], isSecret, isNoSecret))
			s.thing("a", fresh)
			s.Data["/cloud/a.yml"]["api"] = mine
		},
		"another name of the type": func(s *givingScene) {
			s.respec(isSecret, isNoSecret)
			s.respec("/things/{name}", "/things/{thing}")
			s.thing("a", fresh)
		},
		"overrides": func(s *givingScene) {
			s.Data[cloudtest.API]["overrides"] = "/specs/overrides.json"
			s.Resources["/specs/overrides.json"] = `{"overrides": [{"type": "Acme.Out/things", "property": "/connection",` +
				` "secret": false}]}`
			s.thing("a", fresh)
		},
		"a key of a list": func(s *givingScene) {
			s.respec(isSecret, isNoSecret)
			s.respec(`"x-ms-identifiers":["name"]`, `"x-ms-identifiers":["code"]`)
			s.thing("a", object{"exclusive": []any{"/users"}, "body": object{"size": "1", "users": []any{object{"code": "x"}}}})
		},
		"a value for another resource": func(s *givingScene) {
			s.respec(isSecret, isNoSecret)
			s.thing("b", object{"body": object{"size": output("a", "/connection")}})
			s.things["b"] = object{"size": "0"}
		},
		"a value for a type of its own": func(s *givingScene) {
			mine := s.ownAPI(strings.ReplaceAll(s.Resources[cloudtest.Spec], isSecret, isNoSecret))
			s.thing("b", object{"adopt": "if-exists", "body": object{"size": output("a", "/connection")}})
			s.Data["/cloud/b.yml"]["api"] = mine
			s.thing("a", object{"body": object{"size": "1"}})
			s.Data["/cloud/a.yml"]["api"] = mine
			s.things["b"] = object{"size": "0"}
		},
	} {
		s := newKeepingScene(t)
		base := s.Clone()
		edit(s)
		if got := s.says(base); strings.Contains(got, canary) {
			t.Errorf("%s: it shows the secret:\n%s", name, got)
		}
	}
}

// A value of a store of secrets stays one when the entry of head no longer says so.
func TestChangeShowsNoStoredSecret(t *testing.T) {
	s := newGivingScene(t, thingSchema())
	s.secrets["cloud/a/route"] = canary
	s.thing("a", object{"body": object{"peer": "x"}, "secrets": []any{object{"at": "/size",
		"secret": object{"path": "cloud/a", "field": "route", "version": 1}}}})
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
	if s.things["a"]["size"] != canary {
		t.Fatalf("the service has %v", s.things["a"])
	}
	base := s.Clone()
	for name, edit := range map[string]func(){
		"a guess": func() { s.thing("a", object{"body": object{"peer": "x", "size": "guess"}}) },
		"another name of the file": func() {
			delete(s.Data, "/cloud/a.yml")
			s.Add("/cloud/z.yml", object{"type": "Acme.Out/things", "name": "a", "parent": cloudtest.Group,
				"body": object{"peer": "x", "size": "guess"}})
		},
		"a value for another resource": func() {
			s.thing("a", object{"body": object{"peer": "x"}})
			s.thing("b", object{"adopt": "if-exists", "body": object{"peer": output("a", "/size")}})
			s.things["b"] = object{"peer": "0"}
		},
	} {
		s.World = base.Clone()
		edit()
		if got := s.says(base); strings.Contains(got, canary) {
			t.Errorf("%s: it shows the secret:\n%s", name, got)
		}
	}
}

// A plain resource whose id the service gives is found by its body or by its id, so another name of its entry makes no
// stored value public.
func TestChangeShowsNoStoredSecretOfPlain(t *testing.T) {
	s := newPlainScene(t, "kanban", kanban()...)
	s.Resources["/specs/habits.json"] = strings.Replace(s.Resources["/specs/habits.json"], `"overrides": [`,
		`"overrides": [{"type": "v1/boards", "family": "plain", "path": "", "key": ["name", "color"], "reason": "both"},`, 1)
	s.secrets["cloud/a/title"] = canary
	s.Add(board, object{"type": "v1/boards", "name": "plans", "body": object{"name": "plans", "color": "red"},
		"secrets": []any{object{"at": "/title", "secret": object{"path": "cloud/a", "field": "title", "version": 1}}}})
	s.done("POST /v1/boards")
	if s.api.Items("/v1/boards")[0]["title"] != canary {
		t.Fatalf("the service has %v", s.api.Items("/v1/boards"))
	}
	base := s.Clone()
	for name, entry := range map[string]object{
		"the same name": {"name": "plans"},
		"another name":  {"name": "other", "adopt": "if-exists"},
		"its id":        {"resourceId": "/v1/boards/1", "adopt": "if-exists"},
	} {
		s.World = base.Clone()
		entry["type"], entry["body"] = "v1/boards", object{"name": "plans", "color": "red", "title": "guess"}
		s.Add(board, entry)
		if got := s.says(base); strings.Contains(got, canary) {
			t.Errorf("%s: it shows the secret:\n%s", name, got)
		}
	}
}

// says returns all that a dry run of a change of plain resources says.
func (s *plainScene) says(base *cloudtest.World) string {
	return (&givingScene{scene: s.scene}).says(base)
}

// A change whose effect nobody may compare has the effect that the data tell, and what was not compared is told.
func TestWithheldIsUnknown(t *testing.T) {
	s := newGivingScene(t, thingSchema())
	s.secrets["cloud/a/route"] = canary
	s.thing("a", object{"body": object{"peer": "x"}, "secrets": []any{object{"at": "/tags/key",
		"secret": object{"path": "cloud/a", "field": "route", "version": 1}}}})
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
	base := s.Clone()
	s.thing("a", object{"body": object{"peer": "x", "tags": object{"key": "guess"}}})
	got := s.says(base)
	for _, want := range []string{`"kind":"change"`, `"how":"data"`, `"what":"drift"`, "base says that some of its places"} {
		if !strings.Contains(got, want) || strings.Contains(got, canary) {
			t.Errorf("it does not say %s, or shows the secret:\n%s", want, got)
		}
	}
}

// What base describes is compared and shown as before, also if the change edits the specification elsewhere.
func TestChangeShowsWhatBaseDescribes(t *testing.T) {
	for name, edit := range map[string]func(s *givingScene){
		"the data": func(*givingScene) {},
		"the specification elsewhere": func(s *givingScene) {
			s.respec(`"route":{"type":"string"}`, `"route":{"type":"string","description":"where it leads"}`)
		},
	} {
		s := newKeepingScene(t)
		base := s.Clone()
		edit(s)
		s.thing("a", object{"body": object{"size": "2"}})
		if got := s.says(base); !strings.Contains(got, `/size: "1" -> "2"`) || strings.Contains(got, canary) {
			t.Errorf("%s: it says\n%s", name, got)
		}
	}
}

// Nobody is asked about a type that base does not describe, and that is told.
func TestTypeOfHeadIsNotAsked(t *testing.T) {
	s := newKeepingScene(t)
	base := s.Clone()
	mine := s.ownAPI(strings.ReplaceAll(s.Resources[cloudtest.Spec], "/things/{name}", "/vaults/{name}"))
	for i := range manyNew + 1 {
		s.Add(fmt.Sprintf("/cloud/v%d.yml", i), object{"type": "Acme.Out/vaults", "name": fmt.Sprint("v", i),
			"parent": cloudtest.Group, "api": mine, "adopt": "if-exists", "body": object{"size": "1"}})
	}
	s.asked = nil
	got := s.says(base)
	for _, r := range s.asked {
		if strings.Contains(r, "vaults") {
			t.Errorf("it asks %s", r)
		}
	}
	if !strings.Contains(got, "base describes no such type") || !strings.Contains(got, `"what":"drift"`) {
		t.Errorf("it says\n%s", got)
	}
}

// After the merge as well a value that was applied as a secret is shown to nobody, though the data do not say so any more.
func TestRunShowsNoSecretOfBefore(t *testing.T) {
	for name, secret := range map[string]object{
		"with a version": {"path": "cloud/a", "field": "route", "version": 1},
		"without":        {"path": "cloud/a", "field": "route"},
	} {
		s := newGivingScene(t, thingSchema())
		s.secrets["cloud/a/route"] = canary
		s.thing("a", object{"body": object{"peer": "x"}, "secrets": []any{object{"at": "/size", "secret": secret}}})
		if err := s.run(); err != nil {
			t.Fatal(err)
		}
		s.thing("a", object{"body": object{"peer": "x", "size": "guess"}})
		if got := s.says(nil); strings.Contains(got, canary) || !strings.Contains(got, `/size: "(secret)" -> "(secret)"`) {
			t.Errorf("%s: it says\n%s", name, got)
		}
		if err := s.run(); err != nil || s.things["a"]["size"] != "guess" || strings.Contains(s.log.String(), canary) {
			t.Errorf("%s: %v, the service has %v\n%s", name, err, s.things["a"], &s.log)
		}
	}
}
