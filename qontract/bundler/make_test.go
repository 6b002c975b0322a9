package bundler_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/qontract/bundler"
)

// openFolder returns a folder as a section.
func openFolder(t testing.TB, name string) bundler.TreePart {
	t.Helper()
	return bundler.TreePart{Tree: bundler.Folder(name), Dir: ".", Shown: "."}
}

// makeBundle makes a bundle and returns its bytes.
func makeBundle(t testing.TB, in bundler.Input, opts bundler.Options) []byte {
	t.Helper()
	b, found, err := bundler.Make(t.Context(), in, opts)
	if err != nil || found != nil {
		t.Fatal(found, err)
	}
	defer b.Close()
	var out bytes.Buffer
	if _, err := b.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestCheckout compares bundles with those of the public bundler by their sha256, with
// sorted backrefs.
func TestCheckout(t *testing.T) {
	for _, c := range []struct{ side, commit, timestamp, sum string }{
		{"base", "48e3c64221f2169df6f507de9e1538c4c7e442c9", "1649408887",
			"8d3ea0ad615bbdc80ab4f4e9d3cb3f1c8b565c86f9b06ac61ef6fc7218d0f9ef"},
		{"head", "583d7e1844cb35a3bb2b8e2e613b3ec12069aaa7", "1660928264",
			"d3a4dbae3e5df42cd3f607bbbe00ec78f2841ceb134c7164cb6cbdfaa557afdf"},
	} {
		t.Run(c.side, func(t *testing.T) {
			graphql := openFolder(t, shared.Path(t, "data", "checkout", "graphql-schemas"))
			graphql.Dir = "schema.yml"
			out := makeBundle(t, bundler.Input{
				Data:      openFolder(t, shared.Path(t, "data", "checkout", c.side, "data")),
				Resources: openFolder(t, shared.Path(t, "data", "checkout", c.side, "resources")),
				Schemas:   openFolder(t, shared.Path(t, "data", "checkout", "schemas")),
				GraphQL:   graphql,
				Commit:    c.commit, Timestamp: c.timestamp,
			}, bundler.Options{})
			sum := sha256.Sum256(out)
			if got := hex.EncodeToString(sum[:]); got != c.sum {
				t.Errorf("sha256 of the bundle: got %s, want %s", got, c.sum)
			}
		})
	}
}
