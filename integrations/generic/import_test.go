package generic

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integrations/generic/body"
	"github.com/app-sre/prcheck/integrations/generic/cloudtest"
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
	maps.DeleteFunc(s.Data, func(file string, _ cloudtest.Object) bool { return file == cache || file == rule })
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

// What is not marked gets its mark with the first run, and nothing else changes.
func TestImportOfUnmarked(t *testing.T) {
	s := newScene(t)
	s.must()
	s.service.Edit(cacheID, func(is map[string]any) {
		for name := range is["tags"].(map[string]any) {
			if strings.HasPrefix(name, "qontract-") {
				delete(is["tags"].(map[string]any), name)
			}
		}
	})
	s.forget()
	all, err := s.importAll(cacheID)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		s.Add("/"+one.File, object{"type": one.Entry.Type, "resourceId": one.Entry.ResourceID, "body": one.Entry.Body})
	}
	before := s.service.Object(cacheID)
	s.must()
	after := s.service.Object(cacheID)
	t.Log(s.did())
	delete(before, "tags")
	delete(after, "tags")
	delete(before, "etag")
	delete(after, "etag")
	if a, b := before["properties"], after["properties"]; !maps.EqualFunc(a.(map[string]any), b.(map[string]any), func(x, y any) bool { return body.Text(x) == body.Text(y) }) {
		t.Errorf("got %v, want %v", after, before)
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
		if all, err := s.importAll(c.id); err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, integration.ErrNothingDone) || all != nil {
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
