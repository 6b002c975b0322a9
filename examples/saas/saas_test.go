package saas_test

import (
	"bytes"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/saastest"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/bundler"
	"github.com/app-sre/prcheck/qontract/validator"
)

// open returns the bundle of the checkout in a folder.
func open(t *testing.T, folder string) []byte {
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
	return raw.Bytes()
}

// The checkout has no mistakes.
func TestCheckout(t *testing.T) {
	raw := open(t, ".")
	b, err := bundle.Parse(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	report, err := validator.Check(t.Context(), b, validator.Options{Scope: validator.All})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		t.Errorf("%+v", f)
	}
	if all, err := integration.List(b, nil); err != nil || len(all) != 3 {
		t.Errorf("got %v, %v, want three integrations", all, err)
	}
	m, err := saas.Read(t.Context(), saastest.QueryOf(t, raw), saas.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if got := saas.Validate(m); len(got) > 0 || len(m.Cells()) != 2 {
		t.Errorf("got %v and %d cells, want no findings and 2 cells", got, len(m.Cells()))
	}
}
