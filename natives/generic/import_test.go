package generic

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic/cloudtest"
	"github.com/app-sre/prcheck/state"
)

// importAll imports a resource with its children into new data, and returns the files.
func (s *scene) importAll(id string) ([]Imported, error) {
	s.t.Helper()
	var got []Imported
	n := Importer(ImportOptions{ID: id, WithChildren: true, Folder: "cloud", Save: func(all []Imported) error {
		got = all
		return nil
	}})
	s.service.Forget()
	err := n.Run(s.t.Context(), s.environment(nil), integration.Actors{State: s.state})
	return got, err
}

// forget makes the data and the state as new.
func (s *scene) forget() {
	s.t.Helper()
	maps.DeleteFunc(s.Data, func(file string, _ cloudtest.Fields) bool { return file == cache || file == rule })
	var err error
	if s.state, err = state.Open(s.t.TempDir()); err != nil {
		s.t.Fatal(err)
	}
}

// The plan right after an import is empty: nothing is written.
func TestImport(t *testing.T) {
	s := newScene(t)
	s.must()
	s.forget()
	all, err := s.importAll(cacheID)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, one := range all {
		ids = append(ids, one.ID)
		text := string(one.Text)
		for _, bad := range []string{"canary", "qontract-", "provisioningState", "etag"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s has %s:\n%s", one.File, bad, text)
			}
		}
		s.Add("/"+one.File, object{"type": one.Entry.Type, "resourceId": one.Entry.ResourceID, "body": one.Entry.Body})
	}
	if want := []string{cacheID, ruleID}; !slices.Equal(ids, want) {
		t.Fatalf("got %q, want %q", ids, want)
	}
	if s.writes() != "" {
		t.Errorf("the import writes: %s", s.writes())
	}
	for range 2 {
		s.must()
		if s.did() != "" || s.writes() != "" {
			t.Errorf("after the import: %s, %s\n%s", s.did(), s.writes(), &s.log)
		}
	}
	// What was imported is ours from now on: a change of the data is made.
	s.Data["/"+all[0].File]["body"].(object)["tags"] = object{"team": "other"}
	s.must()
	if got := s.did(); got != "update sessions done" {
		t.Errorf("after a change: %s\n%s", got, &s.log)
	}
}

// unmark takes our mark off the cache, or gives it that of another caller.
func (s *scene) unmark(caller string) {
	s.service.Edit(cacheID, func(is map[string]any) {
		tags := is["tags"].(map[string]any)
		maps.DeleteFunc(tags, func(name string, _ any) bool { return strings.HasPrefix(name, "qontract-") })
		if caller != "" {
			tags["qontract-integration"], tags["qontract-caller"] = Name, caller
		}
	})
}

// importUnmarked imports the cache without a mark into new data and a new state, and returns its
// datafile.
func (s *scene) importUnmarked() string {
	s.t.Helper()
	s.must()
	s.unmark("")
	s.forget()
	all, err := s.importAll(cacheID)
	if err != nil {
		s.t.Fatal(err)
	}
	if !all[0].Unmarked || all[1].Unmarked { // the rule cannot have one
		s.t.Errorf("got %+v", all)
	}
	for _, one := range all {
		s.Add("/"+one.File, object{"type": one.Entry.Type, "resourceId": one.Entry.ResourceID, "body": one.Entry.Body})
	}
	return "/" + all[0].File
}

// What has no mark is ours after its import by the state alone: no step, no write, and the status
// says that it is as the data say. It gets its mark with the next change of the data.
func TestImportOfUnmarked(t *testing.T) {
	s := newScene(t)
	file := s.importUnmarked()
	for range 2 {
		s.must()
		if s.did() != "" || s.writes() != "" {
			t.Fatalf("after the import: %s, %s\n%s", s.did(), s.writes(), &s.log)
		}
	}
	if got, want := s.status(),
		"Ready=True/Succeeded Synced=True/Same Drifted=False/Same Blocked=False/Allowed"; got != want {
		t.Errorf("the status is %s, want %s", got, want)
	}
	s.body(file)["tags"] = object{"team": "other"}
	s.must()
	if s.did() != "update sessions done" ||
		s.service.Object(cacheID)["tags"].(map[string]any)["qontract-integration"] != Name {
		t.Errorf("after a change: %s, %v\n%s", s.did(), s.service.Object(cacheID)["tags"], &s.log)
	}
	s.unmark("")
	s.must()
	if got := s.did(); got != "mark sessions done" {
		t.Errorf("after it lost its mark: %s\n%s", got, &s.log)
	}
}

// An import without a mark is no way around owners: the mark of somebody else counts, and without
// the state that learned of the import nothing is ours.
func TestImportOfUnmarkedKeepsOwners(t *testing.T) {
	s := newScene(t)
	file := s.importUnmarked()
	s.body(file)["tags"] = object{"team": "other"}
	s.unmark("somebody")
	if err := s.run(); err != nil || s.writes() != "" || !strings.Contains(s.failures(), "OWNED_BY_OTHER "+file) {
		t.Errorf("with another mark: %v, %s, %s", err, s.failures(), s.writes())
	}
	s.unmark("")
	var err error
	if s.state, err = state.Open(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if err := s.run(); err != nil || s.writes() != "" || !strings.Contains(s.failures(), "NOT_ADOPTED "+file) {
		t.Errorf("with another state: %v, %s, %s", err, s.failures(), s.writes())
	}
}

func TestImportRefuses(t *testing.T) {
	s := newScene(t)
	s.must()
	for _, c := range []struct{ id, want string }{
		{cacheID + "/nothing/x", "no API of the data has a type with the address"},
		{cacheID + "x", "is not there"},
		{"/subscriptions/s/../x", "no API of the data has a type with the address"},
		{"", "no API of the data"},
	} {
		if all, err := s.importAll(c.id); err == nil || !strings.Contains(err.Error(), c.want) ||
			!errors.Is(err, integration.ErrNothingDone) || all != nil {
			t.Errorf("%s: got %v, %v, want %s", c.id, all, err, c.want)
		}
	}
	s.settings = "hosts: [other.example]"
	if _, err := s.importAll(cacheID); err == nil || !strings.Contains(err.Error(), "do not name the host arm.example") {
		t.Errorf("another host: %v", err)
	}
	s.settings = "hosts: [arm.example], instance: other"
	if _, err := s.importAll(cacheID); err == nil || !strings.Contains(err.Error(), "OWNED_BY_OTHER") {
		t.Errorf("of another instance: %v", err)
	}
}

// The mark has the name of the definition, which need not be that of the native.
func TestImportOfDefinition(t *testing.T) {
	s := newScene(t)
	s.must()
	s.name = "cloud-of-the-shop"
	if _, err := s.importAll(cacheID); err == nil ||
		!strings.Contains(err.Error(), `OWNED_BY_OTHER: it has the mark of "generic"`) {
		t.Errorf("of another definition: %v", err)
	}
	s.service.Edit(cacheID, func(is map[string]any) { is["tags"].(map[string]any)["qontract-integration"] = s.name })
	s.forget()
	all, err := s.importAll(cacheID)
	if err != nil || len(all) != 2 || all[0].Unmarked || all[1].Unmarked {
		t.Fatalf("got %+v, %v", all, err)
	}
	for _, one := range all {
		s.Add("/"+one.File, object{"type": one.Entry.Type, "resourceId": one.Entry.ResourceID, "body": one.Entry.Body})
	}
	if s.must(); s.did() != "" || s.writes() != "" {
		t.Errorf("after the import: %s, %s\n%s", s.did(), s.writes(), &s.log)
	}
}
