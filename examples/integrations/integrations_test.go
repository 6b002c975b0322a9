package integrations_test

import (
	"bytes"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/bundler"
	"github.com/app-sre/prcheck/qontract/validator"
)

// open returns the bundle of the checkout in a folder.
func open(t *testing.T, folder string) *bundle.Bundle {
	t.Helper()
	section := func(dir string) bundler.TreePart {
		return bundler.TreePart{Tree: bundler.Folder(folder), Dir: dir, Shown: dir, Optional: dir == "resources"}
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
	b, err := bundle.Parse(raw.Bytes(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The checkout has no mistakes.
func TestCheckout(t *testing.T) {
	b := open(t, ".")
	report, err := validator.Check(t.Context(), b, validator.Options{Scope: validator.All})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		t.Errorf("%+v", f)
	}
	if all, err := integration.List(b, nil); err != nil || len(all) != 2 {
		t.Errorf("got %v, %v, want two integrations", all, err)
	}
}
