package cloud_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/saas/saastest"
)

// The data of the example are read without a mistake, and each resource has its address.
func TestModel(t *testing.T) {
	m, err := (&cloud.Reader{}).Read(t.Context(), saastest.QueryOf(t, bundleOf(t, ".")))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range m.Findings {
		t.Errorf("%+v", f)
	}
	var keys []string
	for _, r := range m.Resources {
		if !r.Mistake.IsZero() {
			t.Errorf("%s: %+v", r.File, r.Mistake)
		}
		keys = append(keys, string(r.Key))
	}
	const group = "/subscriptions/s1/resourcegroups/shop/providers/"
	want := []string{
		group + "example.cache/caches/sessions", group + "example.storage/accounts/shopfiles",
		group + "example.compute/scalesets/web", group + "example.network/networks/shop",
		group + "example.cache/caches/sessions/firewallrules/office", group + "example.network/networks/shop/subnets/data",
		group + "example.vault/vaults/shop-keys",
	}
	if !slices.Equal(keys, want) {
		t.Errorf("got %q, want %q", keys, want)
	}
}

// The schemas and GraphQL types of the example are those that the program hands out.
func TestSchemas(t *testing.T) {
	files := cloud.Files()
	for _, name := range []string{"schemas/cloud/api-1.yml", "schemas/cloud/resource-1.yml"} {
		want, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(name)
		if err != nil || string(got) != string(want) {
			t.Errorf("%s is not what the program hands out: %v", name, err)
		}
	}
	type graphType struct {
		Name   string
		Fields []map[string]any
	}
	raw, err := fs.ReadFile(files, "graphql-schemas/cloud.yml")
	if err != nil {
		t.Fatal(err)
	}
	var want []graphType
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	var b struct{ GraphQL struct{ Confs []graphType } }
	if err := json.Unmarshal(bundleOf(t, "."), &b); err != nil {
		t.Fatal(err)
	}
	for _, w := range want {
		i := slices.IndexFunc(b.GraphQL.Confs, func(g graphType) bool { return g.Name == w.Name })
		if i < 0 {
			t.Errorf("the type %s is missing", w.Name)
			continue
		}
		for _, f := range w.Fields {
			same := func(g map[string]any) bool { return toJSON(t, g) == toJSON(t, f) }
			if !slices.ContainsFunc(b.GraphQL.Confs[i].Fields, same) {
				t.Errorf("%s has no field %v", w.Name, f)
			}
		}
	}
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
