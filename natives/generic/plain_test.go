package generic

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/doubles/plaintest"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic/cloudtest"
)

const board = "/cloud/board.yml"

// A plainScene is a scene with a plain API.
type plainScene struct {
	*scene
	api *plaintest.Server
	// before is asked before each request, and after it with its answer; an error takes the place of it.
	before, after func(r *http.Request) error
}

// kanban is how the service of the small document behaves, from its own description.
func kanban() []plaintest.Kind {
	return []plaintest.Kind{
		{Collection: "/v1/boards", Envelope: "board", List: "boards", Updates: []string{"PATCH"},
			Paging: plaintest.ByNumber, PageSize: 2, Creates: []string{"name", "labels", "title", "size", "color", "members"},
			Changes: []string{"name", "labels", "title", "members"},
			Actions: map[string]func(item, body plaintest.Item){
				"resize": func(item, body plaintest.Item) { item["size"] = body["size"] }},
			Shows: func(i plaintest.Item) plaintest.Item {
				out := plaintest.Item{"created": "today"}
				for name, v := range i {
					out[name] = v
				}
				if size, has := out["size"]; has {
					out["size"] = plaintest.Item{"id": 77, "name": size}
				}
				return out
			}},
		{Collection: "/v1/boards/*/cards", Envelope: "card", List: "cards", InEnvelope: true, Updates: []string{"PUT"},
			Replaces: true, Paging: plaintest.ByCursor, PageSize: 2,
			Shows: func(i plaintest.Item) plaintest.Item {
				out := plaintest.Item{}
				for name, v := range i {
					if name != "pin" { // it is never answered
						out[name] = v
					}
				}
				return out
			}},
		{Collection: "/v1/teams/red/robots", At: "/v1/robots", Updates: []string{"PATCH"}},
	}
}

// newPlainScene returns a scene of a document in the folder of tests of package plain.
func newPlainScene(t *testing.T, name string, kinds ...plaintest.Kind) *plainScene {
	t.Helper()
	s := &plainScene{scene: newScene(t), api: plaintest.New(kinds...)}
	read := func(file string) string {
		raw, err := os.ReadFile("plain/testdata/" + file + ".json")
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	s.World = cloudtest.New("https://" + name + ".example")
	s.settings = "hosts: [" + name + ".example]"
	s.Resources["/specs/plain.json"], s.Resources["/specs/habits.json"] = read(name), read(name+"-habits")
	a := s.Data[cloudtest.API]
	a["name"], a["family"], a["specifications"], a["overrides"] = name, "plain", []any{"/specs/plain.json"},
		"/specs/habits.json"
	s.reach = func(context.Context, integration.EndpointRef) (http.RoundTripper, error) {
		return send(func(r *http.Request) (*http.Response, error) {
			if s.before != nil {
				if err := s.before(r); err != nil {
					return nil, err
				}
			}
			res, err := s.api.RoundTrip(r)
			if err == nil && s.after != nil {
				if err := s.after(r); err != nil {
					return nil, err
				}
			}
			return res, err
		}), nil
	}
	return s
}

// withBoard adds a board with a card and a robot.
func (s *plainScene) withBoard() {
	s.Add(board, object{"type": "v1/boards", "name": "plans",
		"body": object{"title": "Plans", "size": "small", "members": []any{"ana"}}})
	s.Add("/cloud/card.yml", object{"type": "v1/boards/cards", "name": "first", "parent": "plans",
		"body": object{"text": "begin", "points": 3},
		"secrets": []any{object{"at": "/pin",
			"secret": object{"path": "cloud/sessions", "field": "password", "version": 1}}}})
	s.Add("/cloud/robot.yml",
		object{"type": "v1/robots", "name": "r2", "parent": "/v1/teams/red", "body": object{"speed": 1}})
}

// done runs once, and wants these writes.
func (s *plainScene) done(want string) {
	s.t.Helper()
	s.api.Forget()
	if err := s.run(); err != nil || s.failures() != "" {
		s.t.Fatalf("%v\n%s\n%s", err, s.failures(), &s.log)
	}
	got := strings.Split(s.api.Writes(), ", ")
	slices.Sort(got)
	if text := strings.Join(got, ", "); text != want {
		s.t.Errorf("it writes %q, want %q\n%s", text, want, &s.log)
	}
}

// Resources of a plain API are made, found again, changed by update and action, and deleted, each with the habits of
// its type. The runs in between write nothing.
func TestPlain(t *testing.T) {
	s := newPlainScene(t, "kanban", kanban()...)
	s.withBoard()
	s.done("POST /v1/boards, POST /v1/boards/1/cards, POST /v1/teams/red/robots")
	if got := fmt.Sprint(s.api.Items("/v1/boards")[0]); got !=
		"map[id:1 labels:map[prcheck:default] members:[ana] name:plans size:small title:Plans]" {
		t.Errorf("got the board %s", got)
	}
	card := s.api.Items("/v1/boards/1/cards")[0]
	if fmt.Sprintf("%v %v %v", card["tags"], card["pin"], card["title"]) != "[prcheck:default] canary-of-the-cache first" {
		t.Errorf("got the card %v", card)
	}
	s.done("")

	s.body(board)["title"] = "All plans"
	s.body(board)["size"] = "large"
	s.done("PATCH /v1/boards/1, POST /v1/boards/1/actions/resize")
	if got := fmt.Sprint(s.api.Items("/v1/boards")[0]); !strings.Contains(got, "size:large title:All plans") {
		t.Errorf("got the board %s", got)
	}
	s.done("")

	s.body("/cloud/card.yml")["points"] = 5
	s.done("PUT /v1/boards/1/cards/1")
	if card := s.api.Items("/v1/boards/1/cards")[0]; card["pin"] != "canary-of-the-cache" || card["text"] != "begin" ||
		fmt.Sprint(card["tags"]) != "[prcheck:default]" {
		t.Errorf("a PUT for another reason leaves %v", card)
	}
	s.done("")

	s.Data["/cloud/card.yml"]["delete"] = true
	s.done("DELETE /v1/boards/1/cards/1")
	s.done("")
}

// A change of plain resources is checked by the data alone: a member that answers have as an object is a text in
// requests, an action makes its property mutable, and what no request changes means delete and create.
func TestPlainBeforeMerge(t *testing.T) {
	s := newPlainScene(t, "kanban", kanban()...)
	s.withBoard()
	s.body(board)["color"] = "red"
	for change, want := range map[string]string{
		"size large": "", "title other": "", "color blue": "CREATE_ONLY_INFERRED /cloud/board.yml/body/color",
		"created now": "RO_SET /cloud/board.yml/body/created", "titel x": "VAL_UNKNOWN /cloud/board.yml/body/titel",
		"name other": "IMMUTABLE_ID /cloud/board.yml/body/name",
	} {
		base := s.Clone()
		name, value, _ := strings.Cut(change, " ")
		changed := object{name: value}
		for k, v := range s.body(board) {
			if k != name {
				changed[k] = v
			}
		}
		whole := s.Data[board]
		s.Data[board] = object{"$schema": whole["$schema"], "api": whole["api"], "type": whole["type"], "name": whole["name"],
			"body": changed}
		s.api.Forget()
		_ = s.check(base) // what it finds is told
		if got := s.failures(); want == "" && got != "" || !strings.HasPrefix(got, want) || s.api.Writes() != "" {
			t.Errorf("%s: got %q, want %q, and it writes %q", change, got, want, s.api.Writes())
		}
		s.Data[board] = whole
	}
}

// What others added stays: labels, and tags in a list that the data do not name.
func TestPlainKeepsOthers(t *testing.T) {
	s := newPlainScene(t, "kanban", kanban()...)
	s.withBoard()
	s.done("POST /v1/boards, POST /v1/boards/1/cards, POST /v1/teams/red/robots")
	s.api.Items("/v1/boards")[0]["labels"].(map[string]any)["of"] = "ana"
	card := s.api.Items("/v1/boards/1/cards")[0]
	card["tags"] = append(card["tags"].([]any), "urgent")
	s.done("")
	s.body(board)["labels"] = object{"team": "shop"}
	s.body("/cloud/card.yml")["points"] = 8
	s.done("PATCH /v1/boards/1, PUT /v1/boards/1/cards/1")
	labels := s.api.Items("/v1/boards")[0]["labels"]
	tags := s.api.Items("/v1/boards/1/cards")[0]["tags"]
	if fmt.Sprint(labels) != "map[of:ana prcheck:default team:shop]" || !strings.Contains(fmt.Sprint(tags), "urgent") {
		t.Errorf("got %v and %v", labels, tags)
	}
	s.done("")
}

// Forms have brackets, are changed by POST on the item, and are listed until nothing more is told.
func TestPlainForms(t *testing.T) {
	s := newPlainScene(t, "billing", plaintest.Kind{Collection: "/v1/customers", List: "data", Form: true,
		Updates: []string{"POST"}, Paging: plaintest.ByMore, PageSize: 1,
		Creates: []string{"email", "description", "address", "metadata", "locales"}})
	customer := func(name, city string) object {
		return object{"type": "v1/customers", "name": name,
			"body": object{"address": object{"city": city, "line1": "1 Road"}, "locales": []any{"de", "en"}}}
	}
	s.Add("/cloud/a.yml", customer("a@example.com", "Bonn"))
	s.Add("/cloud/b.yml", customer("b@example.com", "Rome"))
	s.done("POST /v1/customers, POST /v1/customers")
	s.done("")
	s.forgetRecords()
	s.done("") // found by their natural keys, on two pages
	s.body("/cloud/b.yml")["address"] = object{"city": "Oslo", "line1": "1 Road"}
	id := 1
	if s.api.Items("/v1/customers")[1]["email"] == "b@example.com" {
		id = 2
	}
	s.done(fmt.Sprintf("POST /v1/customers/%d", id))
	for _, is := range s.api.Items("/v1/customers") {
		if is["email"] == "b@example.com" && fmt.Sprint(is["address"], is["locales"], is["metadata"]) !=
			"map[city:Oslo line1:1 Road] [de en] map[prcheck:default]" {
			t.Errorf("got %v", is)
		}
	}
	s.done("")
}

// What somebody made by hand is imported by its id, and the plan right after is empty: nothing is written, also with a
// member that requests take as one value.
func TestPlainImport(t *testing.T) {
	for name, labels := range map[string]plaintest.Item{"unmarked": {"team": "shop"}, "marked": {"prcheck": "default"}} {
		s := newPlainScene(t, "kanban", kanban()...)
		s.api.Set("/v1/boards", plaintest.Item{"id": 7, "name": "plans", "title": "Plans", "size": "small", "labels": labels})
		var got []Imported
		n := Importer(ImportOptions{ID: "/v1/boards/7", Folder: "cloud", Save: func(all []Imported) error {
			got = all
			return nil
		}})
		if err := n.Run(t.Context(), s.environment(nil), integration.Actors{State: s.state}); err != nil {
			t.Fatal(err)
		}
		entry := got[0].Entry
		is, _ := entry.Body.(map[string]any)
		if is["size"] != "small" || is["created"] != nil || strings.Contains(string(got[0].Text), "prcheck") {
			t.Errorf("%s: got %s", name, got[0].Text)
		}
		s.Add("/"+got[0].File, object{"type": entry.Type, "resourceId": entry.ResourceID, "body": entry.Body})
		s.done("")
		s.done("")
	}
}

// forgetRecords forgets all that the state knows.
func (s *plainScene) forgetRecords() {
	all, err := s.state.List(s.t.Context(), "")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range all {
		if err := s.state.Remove(s.t.Context(), e.Key); err != nil {
			s.t.Fatal(err)
		}
	}
}

type ctx = context.Context

// mortalReach returns what sends the requests of a process that ends one day.
func mortalReach(m *mortal, reach func(ctx, integration.EndpointRef) (http.RoundTripper, error)) func(ctx,
	integration.EndpointRef) (http.RoundTripper, error) {
	return func(c ctx, ref integration.EndpointRef) (http.RoundTripper, error) {
		transport, err := reach(c, ref)
		return send(func(r *http.Request) (res *http.Response, errOf error) {
			errOf = m.step(func() error {
				var err error
				res, err = transport.RoundTrip(r) //nolint:bodyclose // it is in memory
				return err
			})
			if errOf != nil {
				res = nil
			}
			return res, errOf
		}), err
	}
}
