package live_test

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/live"
)

// world returns a bundle with everything that is hard to read from a server: back
// references (one of them without files), an interface, files without a root field,
// resources with GraphQL objects, errors in answers, and references to missing files.
func world(t *testing.T) *bundle.Bundle {
	t.Helper()
	raw, err := os.ReadFile("testdata/world.json")
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Parse(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The error for a bundle that the server does not have names the bundles that it has.
func TestUnknownBundle(t *testing.T) {
	base := world(t)
	from, to := serve(t, base, base)
	to.SHA256 = strings.Repeat("f", 64)
	_, err := live.Open(t.Context(), from, to, live.Connection{})
	var unknown *live.UnknownBundleError
	if !errors.As(err, &unknown) || unknown.SHA256 != to.SHA256 ||
		!slices.Equal(unknown.Known, []string{strings.Repeat("0", 64)}) {
		t.Errorf("got %v", err)
	}
	if side := live.NewSide(to,
		live.Connection{}); side.Answer(t.Context(), gqlRequest("{ users { name } }")).Status != 502 ||
		!errors.As(side.Err(), &unknown) {
		t.Errorf("got %v", side.Err())
	}
	to.Server = "http://elsewhere.example"
	if _, err := live.Open(t.Context(), from, to, live.Connection{}); err == nil ||
		!strings.Contains(err.Error(), "one server must have both bundles") {
		t.Errorf("got %v", err)
	}
}

// Bundles from a server equal the bundle files, except for the JSON schemas and the contents
// of resources that did not change.
func TestBundles(t *testing.T) {
	base := world(t)
	from, to := serve(t, base, base)
	b, err := live.Open(t.Context(), from, to, live.Connection{})
	if err != nil {
		t.Fatal(err)
	}
	if b.Base.Commit() != "abc" || b.Base.Timestamp() != "1700000000" || b.Base.SHA256() != base.SHA256() {
		t.Errorf("got %q, %q, %q", b.Base.Commit(), b.Base.Timestamp(), b.Base.SHA256())
	}
	for _, f := range base.Datafiles() {
		got, ok := b.Head.Datafile(f.Path)
		if !ok || !bundle.Equal(got.Object(), f.Object()) || bytes.Contains(got.Raw(), []byte(`"path":"`+f.Path)) {
			t.Errorf("%s: got %v", f.Path, ok)
		}
	}
	if len(b.Limitations()) == 0 {
		t.Error("got no limitations")
	}
}
