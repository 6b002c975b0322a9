package sharding_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration/sharding"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// specs returns the processes of a sharding, one per line.
func specs(t *testing.T, rule string) (string, error) {
	t.Helper()
	b, err := bundle.Parse([]byte(`{"data":{
		"/it.yml":{"$schema":"/app-sre/integration-1.yml","managed":{"spec":{"extraArgs":"--x"},"sharding":`+rule+`}},
		"/c/one.yml":{"$schema":"/openshift/cluster-1.yml","name":"one"},
		"/c/two.yml":{"$schema":"/openshift/cluster-1.yml","name":"two"},
		"/c/off.yml":{"$schema":"/openshift/cluster-1.yml","name":"off","disable":{"integrations":["it"]}},
		"/o/p.yml":{"$schema":"/openshift/openshift-cluster-manager-1.yml","name":"prod","orgId":"1abC"}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	f, _ := b.Datafile("/it.yml")
	managed, _ := f.Object().Get("managed")
	list, err := sharding.Specs("it", []string{"--cluster-name", "--org-id"}, managed.(*bundle.Object),
		sharding.InBundle(b))
	var lines []string
	for _, s := range list {
		lines = append(lines, fmt.Sprintf("%s/%s %q it%s %s override %v disabled %v", s.ID, s.Shards, s.Key, s.Suffix,
			s.ExtraArgs, s.Override != nil, s.Disabled))
	}
	return strings.Join(lines, "\n"), err
}

func TestSpecs(t *testing.T) {
	for name, c := range map[string]struct{ rule, want string }{
		"nothing": {"null", `0/1 "" it --x override false disabled false`},
		"clusters": {`{"strategy":"per-openshift-cluster"}`,
			`/ "one" it-one --x --cluster-name one override false disabled false
/ "two" it-two --x --cluster-name two override false disabled false`},
		"divided further, and disabled": {`{"strategy":"per-openshift-cluster","shardSpecOverrides":[
			{"shard":{"$ref":"/c/two.yml"},"subSharding":{"strategy":"static","shards":2}},
			{"shard":{"$ref":"/c/off.yml"}},{"shard":{"$ref":"/c/none.yml"}},{"shard":7},null,
			{"shard":{"$ref":"/c/one.yml"},"disabled":true}]}`, `/ "one" it-one --x --cluster-name one override true disabled true
0/2 "two" it-two-0 --x --cluster-name two override true disabled false
1/2 "two" it-two-1 --x --cluster-name two override true disabled false`},
		"one part": {`{"strategy":"per-openshift-cluster","shardSpecOverrides":[{"shard":{"$ref":"/c/one.yml"},"subSharding":{"strategy":"static","shards":1}}]}`,
			`0/1 "one" it-one-0 --x --cluster-name one override true disabled false
/ "two" it-two --x --cluster-name two override false disabled false`},
		"only clusters are divided": {`{"strategy":"per-ocm-organization","shardSpecOverrides":[{"shard":{"$ref":"/o/p.yml"},"subSharding":{"strategy":"static","shards":2}}]}`,
			`/ "1abC" it-1abc --x --org-id 1abC override true disabled false`},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := specs(t, c.rule); err != nil || got != c.want {
				t.Errorf("got %v\n%s\nwant\n%s", err, got, c.want)
			}
		})
	}
}

func TestSpecsMistakes(t *testing.T) {
	for rule, want := range map[string]string{
		`{"strategy":"per-moon"}`:                   `it: the sharding strategy "per-moon" is not known`,
		`{"strategy":"per-aws-account"}`:            "it has no option --account-name, which the sharding strategy per-aws-account needs",
		`{"strategy":"static"}`:                     "the number of shards must be from 1 to 1000",
		`{"strategy":"static","shards":0}`:          "the number of shards must be from 1 to 1000",
		`{"strategy":"static","shards":1000000000}`: "the number of shards must be from 1 to 1000",
		`{"strategy":"static","shards":2,"shardSpecOverrides":[{"subSharding":{"strategy":"static","shards":2}}]}`:                                 "it: static shards cannot be divided by subSharding; only shards by key can",
		`{"strategy":"per-openshift-cluster","shardSpecOverrides":[{"shard":{"$ref":"/c/one.yml"},"subSharding":{"strategy":"per-aws-account"}}]}`: `it: one: the strategy "per-aws-account" cannot divide a shard`,
	} {
		if got, err := specs(t, rule); err == nil || err.Error() != want {
			t.Errorf("%s: got %s, %v, want %s", rule, got, err, want)
		}
	}
}

// The strategy of older schemas counts if there is no sharding beside it.
func TestOldStrategy(t *testing.T) {
	for managed, want := range map[string]string{
		`{"spec":{"shardingStrategy":"per-openshift-cluster"}}`:                                             "one",
		`{"spec":{"shardingStrategy":"per-openshift-cluster"},"sharding":null}`:                             "one",
		`{"spec":{"shardingStrategy":"per-openshift-cluster"},"sharding":{"strategy":"static","shards":2}}`: ",",
		`{"spec":{"shardingStrategy":""},"sharding":{"strategy":"per-openshift-cluster"}}`:                  "one",
		`{"spec":{}}`: "",
	} {
		b, err := bundle.Parse([]byte(`{"data":{"/it.yml":{"$schema":"/app-sre/integration-1.yml","managed":`+managed+`},
			"/c/one.yml":{"$schema":"/openshift/cluster-1.yml","name":"one"}}}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		f, _ := b.Datafile("/it.yml")
		of, _ := f.Object().Get("managed")
		list, err := sharding.Specs("it", []string{"--cluster-name"}, of.(*bundle.Object), sharding.InBundle(b))
		var keys []string
		for _, s := range list {
			keys = append(keys, s.Key)
		}
		if got := strings.Join(keys, ","); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", managed, got, err, want)
		}
	}
}

// A broken source cannot list objects.
type broken struct{ sharding.Source }

func (broken) Objects(settings.Strategy) ([]sharding.ShardObject, error) {
	return nil, errors.New("half of the answer is missing")
}

// Objects that cannot be listed are not none.
func TestObjectsCannotBeListed(t *testing.T) {
	b, err := bundle.Parse([]byte(`{"data":{"/it.yml":{"$schema":"/app-sre/integration-1.yml","managed":{"sharding":{"strategy":"per-openshift-cluster"}}}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	f, _ := b.Datafile("/it.yml")
	of, _ := f.Object().Get("managed")
	list, err := sharding.Specs("it", []string{"--cluster-name"}, of.(*bundle.Object), broken{sharding.InBundle(b)})
	if list != nil || err == nil || err.Error() != "half of the answer is missing" {
		t.Errorf("got %v, %v", list, err)
	}
}
