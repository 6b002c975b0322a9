package plain_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/plain"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// read returns the habits of a type of a document, with the entries of a description.
func read(t *testing.T, file, name, entries string) (*plain.Habits, error) {
	t.Helper()
	set := openapi.NewSet(func(string, int64) ([]byte, error) {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, fs.ErrNotExist
		}
		return raw, nil
	}, openapi.Limits{})
	d, err := set.Document(filepath.Base(file))
	if err != nil {
		t.Fatal(err)
	}
	found, err := resources.NewIndex([]*openapi.Document{d}).Find(name)
	if err != nil {
		t.Fatal(err)
	}
	says, err := classes.ReadOverrides("habits.json", []byte(`{"overrides": [`+entries+`]}`))
	if err != nil {
		return nil, err
	}
	c, err := classes.New(found[0], says)
	if err != nil {
		return nil, err
	}
	one := found[0]
	if d, err := classes.Describe(one, says); err == nil && d.Create != "" {
		if one, err = one.CreatedAt(d.CreatePath()); err != nil {
			return nil, err
		}
	}
	return plain.Read(one, c, says)
}

const kanban = "testdata/kanban.json"

// entry writes an entry about boards.
func entry(words string) string {
	return `{"type": "v1/boards", "reason": "r", ` + words + `}`
}

// A description that contradicts its specification or itself, is ambiguous, or has no natural key is one clear error.
func TestWrongDescriptions(t *testing.T) {
	const about = `"path": "", `
	for name, c := range map[string]struct{ of, entries, want string }{
		"no natural key": {"v1/boards/cards", "", "NATURAL_KEY v1/boards/cards: the service gives the id"},
		"a key that is not read": {"v1/boards", entry(about + `"key": ["password"]`),
			`DESCRIPTION v1/boards: the key has the member "password"`},
		"a key that nobody sends": {"v1/boards", entry(about + `"key": ["created"]`), `the key has the member "created"`},
		"no such update":          {"v1/boards", entry(about + `"update": "PUT"`), "the specification has no PUT"},
		"an update that is none":  {"v1/boards", entry(about + `"update": "GET"`), `there is no update by "GET"`},
		"put without PUT":         {"v1/boards", entry(about + `"put": "merge"`), "the type is changed by"},
		"no such id":              {"v1/boards", entry(about + `"id": "uuid"`), `no answer has that member`},
		"no place for marks":      {"v1/boards", entry(about + `"marks": "/title"`), `the description says marks: "/title"`},
		"created nowhere":         {"v1/boards", entry(about + `"create": "POST /v1/nothing"`), "there is no POST at /v1/nothing"},
		"created by GET":          {"v1/boards", entry(about + `"create": "GET /v1/boards"`), "is no request"},
		"no such parameter": {"v1/boards", entry(about + `"next": "/next", "parameter": "after"`),
			`the list takes no such parameter`},
		"next is no pointer": {"v1/boards", entry(about + `"next": "next"`), "next is a JSON pointer"},
		"two keys": {"v1/boards", entry(about+`"key": ["name"]`) + "," + entry(about+`"key": ["title"]`),
			`another entry says key: ["name"], too`},
		"two updates": {"v1/boards", entry(about+`"update": "PATCH"`) + "," + entry(about+`"update": "PUT"`),
			`another entry says update: "PATCH"`},
		"no such action": {"v1/boards", entry(`"path": "size", "action": "POST /v1/boards/{id}/actions/grow"`),
			"there is no POST at /v1/boards/{id}/actions/grow"},
		"an action of another type": {"v1/boards", entry(`"path": "size", "action": "POST /v1/boards"`), "is not below"},
		"a value without a place": {"v1/boards",
			entry(`"path": "size", "action": "POST /v1/boards/{id}/actions/resize", "as": "big", "with": {"force": true}`),
			`takes no member "big": it takes force, size`},
		"a value that is missing": {"v1/boards", entry(`"path": "size", "action": "POST /v1/boards/{id}/actions/resize"`),
			`needs the member "force": give it in with`},
		"two actions": {"v1/boards", strings.TrimSuffix(strings.Repeat(
			entry(`"path": "size", "action": "POST /v1/boards/{id}/actions/resize"`)+",", 2), ","), "has an action"},
		"an action of everything": {"v1/boards", entry(about + `"action": "POST /v1/boards/{id}/actions/resize"`),
			"an action changes one property"},
		"a habit of a property": {"v1/boards", entry(`"path": "size", "key": ["name"]`), "the path is empty"},
		"with without an action": {"v1/boards", entry(`"path": "size", "class": "mutable", "with": {"a": 1}`),
			"belong to an action"},
	} {
		_, err := read(t, kanban, c.of, c.entries)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// The habits of types of real specifications.
func TestHabits(t *testing.T) {
	hetzner := shared.Path(t, "data", "specs", "hetzner-2026-02-20", "hcloud.json")
	ocean := shared.Path(t, "data", "specs", "digitalocean-2026-08-07", "digitalocean-part.json")
	for _, c := range []struct{ file, of, entries, want string }{
		{hetzner, "servers", `{"type": "servers", "path": "server_type", "reason": "r",
			"action": "POST /servers/{id}/actions/change_type", "with": {"upgrade_disk": false}}`,
			"server servers PUT id [name] labels gives deletes action"},
		{hetzner, "networks", "", "network networks PUT id [name] labels gives deletes"},
		{hetzner, "volumes", "", "volume volumes PUT id [name] labels gives deletes"},
		{hetzner, "ssh_keys", "", "ssh_key ssh_keys PUT id [name] labels gives deletes"},
		{hetzner, "firewalls", "", "firewall firewalls PUT id [name] labels gives deletes"},
		{ocean, "v2/droplets", "", "droplet droplets  id [name]  gives deletes"},
		{ocean, "v2/vpcs", "", "vpc vpcs PATCH id [name]  gives deletes"},
		{ocean, "v2/tags", "", "tag tags  name []  chosen deletes"},
		{ocean, "v2/certificates", "", "certificate certificates  id [name]  gives deletes"},
		{ocean, "v2/volumes", "", "volume volumes  id [name]  gives deletes"},
	} {
		h, err := read(t, c.file, c.of, c.entries)
		got := ""
		if err != nil {
			got = openapi.CodeOf(err)
			if !strings.HasPrefix(c.want, got) {
				t.Errorf("%s: %v", c.of, err)
			}
		} else {
			got = fmt.Sprint(h.Answer, " ", h.List, " ", h.Update, " ", h.ID, " ", h.Key, " ", h.Marks.Member)
			got += map[bool]string{true: " gives", false: " chosen"}[h.GivesID]
			if h.Deletes {
				got += " deletes"
			}
			if len(h.Actions) > 0 {
				got += " action"
			}
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.of, got, c.want)
		}
	}
}

// Most types of real specifications can be managed without a description. Each other one is told with its reason.
func TestTypesOfSpecifications(t *testing.T) {
	for _, c := range []struct {
		file  []string
		least int
		codes string
	}{
		{[]string{"hetzner-2026-02-20", "hcloud.json"}, 12, "NATURAL_KEY"},
		{[]string{"digitalocean-2026-08-07", "digitalocean-part.json"}, 6, "NATURAL_KEY DESCRIPTION"},
	} {
		file := shared.Path(t, append([]string{"data", "specs"}, c.file...)...)
		set := openapi.NewSet(func(string, int64) ([]byte, error) { return os.ReadFile(file) }, openapi.Limits{})
		d, err := set.Document("spec.json")
		if err != nil {
			t.Fatal(err)
		}
		good, all := 0, resources.NewIndex([]*openapi.Document{d}).Types()
		for _, one := range all {
			classifier, err := classes.New(one)
			if err != nil {
				t.Fatal(err)
			}
			_, err = plain.Read(one, classifier)
			if err == nil {
				good++
				continue
			}
			t.Logf("%s: %v", one.Path, err)
			if !strings.Contains(c.codes, openapi.CodeOf(err)) {
				t.Errorf("%s: %v", one.Path, err)
			}
		}
		if good < c.least {
			t.Errorf("%s: %d of %d types can be managed, want %d", c.file[0], good, len(all), c.least)
		}
		t.Logf("%s: %d of %d types can be managed without a description", c.file[0], good, len(all))
	}
}

// Pages are followed by what the answers say, and else read until one is empty. What cannot be followed is an error.
func TestPages(t *testing.T) {
	for name, c := range map[string]struct {
		says, answer, link string
		parameters         []string
		want               string
	}{
		"a link":             {"", `[{}]`, `<https://a.example/x?page=2>; rel="next"`, nil, "https://a.example/x?page=2"},
		"the last link":      {"", `[{}]`, `<https://a.example/x>; rel="prev"`, nil, ""},
		"a number":           {"", `{"d": [{}], "meta": {"pagination": {"next_page": 2}}}`, "", nil, "?page=2"},
		"no number":          {"", `{"d": [{}], "meta": {"pagination": {"next_page": null}}}`, "", []string{"page"}, ""},
		"an address":         {"", `{"d": [{}], "links": {"pages": {"next": "https://a.example/y"}}}`, "", nil, "https://a.example/y"},
		"a cursor":           {"", `{"d": [{}], "next_cursor": "abc"}`, "", []string{"cursor"}, "?cursor=abc"},
		"a lost cursor":      {"", `{"d": [{}], "next_cursor": "abc"}`, "", nil, "nothing says how it is read"},
		"more":               {"", `{"d": [{"id": 7}], "has_more": true}`, "", []string{"starting_after"}, "?starting_after=7"},
		"no more":            {"", `{"d": [{"id": 7}], "has_more": false}`, "", []string{"page"}, ""},
		"more, and no way":   {"", `{"d": [{"id": 7}], "has_more": true}`, "", nil, "nothing says how it is read"},
		"nothing is told":    {"", `{"d": [{}]}`, "", []string{"page"}, "?page=2"},
		"an offset":          {"", `{"d": [{}, {}]}`, "", []string{"offset"}, "?offset=2"},
		"an empty page":      {"", `{"d": []}`, "", []string{"page"}, ""},
		"too few":            {"", `{"d": [], "total": 3}`, "", nil, "counts 3 items, and has 0"},
		"described":          {"/a/b", `{"d": [{}], "a": {"b": "x y"}}`, "", []string{"t"}, "?t=x+y"},
		"described, the end": {"/a/b", `{"d": [{}], "a": {"b": null}, "has_more": true}`, "", []string{"t"}, ""},
		"no list":            {"", `{"d": 1}`, "", nil, "has 0 lists"},
		"two lists":          {"", `{"d": [], "e": []}`, "", nil, "has 2 lists"},
	} {
		h := &plain.Habits{ID: "id", Pages: plain.Pages{Parameters: c.parameters, Next: c.says}}
		if c.says != "" {
			h.Pages.Parameter = "t"
		}
		answer, err := body.Parse([]byte(c.answer))
		if err != nil {
			t.Fatal(err)
		}
		header := http.Header{}
		if c.link != "" {
			header.Set("Link", c.link)
		}
		l := &plain.Lister{Habits: h}
		next, err := l.Add(answer, header)
		got := ""
		switch {
		case err != nil:
			got = err.Error()
		case next != nil:
			got = next.String()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) || (c.want == "") != (got == "") {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// A service that does not know the parameter of a page answers the same page again: that is told, not read for ever.
func TestSamePage(t *testing.T) {
	l := &plain.Lister{Habits: &plain.Habits{ID: "id", Pages: plain.Pages{Parameters: []string{"page"}}}}
	answer := []any{map[string]any{"id": json.Number("1")}}
	if _, err := l.Add(answer, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Add(answer, nil); err == nil || !strings.Contains(err.Error(), "the same items") {
		t.Errorf("got %v", err)
	}
}

// A form has what stands inside in brackets, and what is cleared as nothing.
func TestForm(t *testing.T) {
	v, err := body.Parse([]byte(`{"a": {"b": "x y", "c": null}, "l": [1, {"m": true}], "e": {}, "n": 1e2}`))
	if err != nil {
		t.Fatal(err)
	}
	const want = "a%5Bb%5D=x+y&a%5Bc%5D=&e=&l%5B0%5D=1&l%5B1%5D%5Bm%5D=true&n=1e2"
	if got := string(plain.Form(v)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
