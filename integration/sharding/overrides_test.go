package sharding_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/integration/sharding"
	"github.com/app-sre/prcheck/qontract/bundle"
)

// An override that has no effect, or not the one that it asks for, is a mistake.
func TestCheckOverrides(t *testing.T) {
	b, err := bundle.Parse([]byte(`{"data":{
		"/c/one.yml":{"$schema":"/openshift/cluster-1.yml","name":"one"},
		"/c/off.yml":{"$schema":"/openshift/cluster-1.yml","name":"off","disable":{"integrations":["it"]}},
		"/a/one.yml":{"$schema":"/aws/account-1.yml","name":"acc"},
		"/o/p.yml":{"$schema":"/openshift/openshift-cluster-manager-1.yml","name":"prod","orgId":"1abC"}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		rule string
		want []string
	}{
		"none": {`{"strategy":"per-openshift-cluster"}`, nil},
		"used": {`{"strategy":"per-openshift-cluster","shardSpecOverrides":[{"shard":{"$ref":"/c/one.yml"},"subSharding":{"strategy":"static","shards":2}}]}`, nil},
		"does not exist": {
			`{"strategy":"per-openshift-cluster","shardSpecOverrides":[{"shard":{"$ref":"/c/none.yml"}}]}`,
			[]string{`0: it overrides an object that does not exist`}},
		"object of another": {
			`{"strategy":"per-openshift-cluster","shardSpecOverrides":[{"shard":{"$ref":"/a/one.yml"}}]}`,
			[]string{`0: it overrides "acc", which does not exist`}},
		"disables it":         {`{"strategy":"per-openshift-cluster","shardSpecOverrides":[{"shard":{"$ref":"/c/one.yml"}},{"shard":{"$ref":"/c/off.yml"}}]}`, []string{`1: it overrides "off", which disables it and is no shard`}},
		"twice":               {`{"strategy":"per-openshift-cluster","shardSpecOverrides":[{"shard":{"$ref":"/c/one.yml"}},{"shard":{"$ref":"/c/one.yml"}}]}`, []string{`1: it overrides "one", and so does override 0`}},
		"cannot be divided":   {`{"strategy":"per-ocm-organization","shardSpecOverrides":[{"shard":{"$ref":"/o/p.yml"},"subSharding":{"strategy":"static","shards":2}}]}`, []string{`0: it divides "prod", but shards of the strategy per-ocm-organization cannot be divided`}},
		"an unknown strategy": {`{"strategy":"per-moon","shardSpecOverrides":[{}]}`, nil},
		"without overrides":   {`{"strategy":"static","shards":2}`, nil},
		"of no sharding":      {`null`, nil},
		"an override is null": {`{"strategy":"per-openshift-cluster","shardSpecOverrides":[null]}`,
			[]string{`0: it overrides an object that does not exist`}},
		"several at one place": {
			`{"strategy":"per-aws-account","shardSpecOverrides":[{"shard":{"$ref":"/x"}},{"shard":{"$ref":"/y"}}]}`,
			[]string{`0: it overrides an object that does not exist`, `1: it overrides an object that does not exist`}},
	} {
		managed, err := sharding.ReadManaged([]byte(`{"sharding":` + c.rule + `}`))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range sharding.CheckOverrides("it", managed, sharding.InBundle(b)) {
			got = append(got, fmt.Sprintf("%d: %s", m.At, m.Message))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestReadManagedRefuses(t *testing.T) {
	for _, raw := range []string{``, `null`, `[]`, `"x"`, `{`} {
		if o, err := sharding.ReadManaged([]byte(raw)); err == nil {
			t.Errorf("%q: got %v", raw, o)
		}
	}
}
