package sharding_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration/sharding"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

const world = `{"data":{
	"/a/b.yml":{"$schema":"/aws/account-1.yml","name":"blue"},
	"/a/a.yml":{"$schema":"/aws/account-1.yml","name":"amber","disable":{"integrations":["terraform-users"]}},
	"/a/c.yml":{"$schema":"/aws/account-1.yml","name":"blue","disable":{"integrations":null}},
	"/c/x.yml":{"$schema":"/openshift/cluster-1.yml","name":"c1","disable":{"e2eTests":[]}},
	"/o/p.yml":{"$schema":"/openshift/openshift-cluster-manager-1.yml","name":"prod","orgId":"1abC"}}}`

// keys returns the keys of the shards that a strategy finds in a bundle.
func keys(name string, s settings.Strategy, b *bundle.Bundle) ([]string, error) {
	parts, err := sharding.ListParts(name, s, nil, sharding.InBundle(b))
	var out []string
	for _, p := range parts {
		out = append(out, p.Key)
	}
	return out, err
}

func TestKeys(t *testing.T) {
	b, err := bundle.Parse([]byte(world), nil)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		strategy settings.Strategy
		name     string
		want     []string
		option   string
	}{
		{settings.PerAWSAccount, "terraform-users", []string{"blue"}, "--account-name"},
		{settings.PerAWSAccount, "terraform-resources", []string{"amber", "blue"}, "--account-name"},
		{settings.PerOpenShiftCluster, "terraform-users", []string{"c1"}, "--cluster-name"},
		{settings.PerOCMOrganization, "ocm-groups", []string{"1abC"}, "--org-id"},
	}
	for _, tt := range tests {
		got, err := keys(tt.name, tt.strategy, b)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s of %s: got %q, %v, want %q", tt.strategy, tt.name, got, err, tt.want)
		}
		if got := sharding.KeyOption(tt.strategy); got != tt.option {
			t.Errorf("%s: got option %q, want %q", tt.strategy, got, tt.option)
		}
	}
	if got, err := keys("x", settings.StrategyStatic, b); err == nil {
		t.Errorf("no static shards: got %q", got)
	}
}

// An object without a usable key is an error, because its shard would be missing.
func TestKeysWithHoles(t *testing.T) {
	for name, want := range map[string]string{
		`7`:              "/a.yml has no name to be a shard by",
		`null`:           "/a.yml has no name to be a shard by",
		`""`:             "/a.yml has an empty key",
		`"--no-dry-run"`: "/a.yml has a key that begins with a dash",
		`"{config}"`:     "/a.yml has a key with braces",
	} {
		b, err := bundle.Parse([]byte(`{"data":{"/a.yml":{"$schema":"/aws/account-1.yml","name":`+name+`}}}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		if keys, err := keys("x", settings.PerAWSAccount, b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("name %s: got %q, %v, want %q", name, keys, err, want)
		}
	}
}
