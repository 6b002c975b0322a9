package bundle_test

import (
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
)

func TestParseUnchecked(t *testing.T) {
	raw := []byte(
		`{"data":{"/a.yml":{"path":"own","x":1},"/b.yml":{"$schema":"/s.yml"}},"schemas":{"/s.yml":{"type":"object"}}}`)
	if _, err := bundle.Parse(raw, nil); err == nil {
		t.Error("a datafile without $schema is taken")
	}
	b, err := bundle.ParseUnchecked(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := b.Datafile("/a.yml")
	if got, want := bundle.Canonical(a.Decode()), `{"path":"own","x":1}`; got != want {
		t.Errorf("decoded %s, want %s", got, want)
	}
	if got, want := a.Object().String("path"), "/a.yml"; got != want {
		t.Errorf("path %q, want %q", got, want)
	}
	if got := len(b.JSONSchemas()); got != 1 {
		t.Errorf("got %d schemas, want 1", got)
	}
	s, ok := b.JSONSchema("/s.yml")
	if !ok || s != b.JSONSchemas()[0] {
		t.Errorf("got %v, %t", s, ok)
	}
	if _, ok := b.JSONSchema("/t.yml"); ok {
		t.Error("there is a schema that is not there")
	}
}
