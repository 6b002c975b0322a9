package cloud_test

import (
	"bytes"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundler"
)

// bundleOf returns the bundle of the checkout in a folder as JSON.
func bundleOf(t *testing.T, folder string) []byte {
	t.Helper()
	section := func(dir string) bundler.TreePart {
		return bundler.TreePart{Tree: bundler.Folder(folder), Dir: dir, Shown: dir}
	}
	made, problems, err := bundler.Make(t.Context(), bundler.Input{
		Data: section("data"), Resources: section("resources"), Schemas: section("schemas"),
		GraphQL: section("graphql-schemas/schema.yml"),
	}, bundler.Options{})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	defer made.Close()
	var raw bytes.Buffer
	if _, err := made.WriteTo(&raw); err != nil {
		t.Fatal(err)
	}
	return raw.Bytes()
}
