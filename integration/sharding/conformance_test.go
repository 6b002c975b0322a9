package sharding_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration/sharding"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// An object that disables an integration is no shard of it.
func TestFilter(t *testing.T) {
	type filterCase struct {
		Name  string
		Input struct {
			Integration string
			Accounts    []map[string]any `json:"aws_accounts"`
		}
		Expected []string
	}
	shared.Each(t, "sharding_filter", func(t *testing.T, c filterCase) {
		data := map[string]any{}
		for i, a := range c.Input.Accounts {
			a["$schema"] = "/aws/account-1.yml"
			data["/"+strconv.Itoa(i)+".yml"] = a
		}
		b := parsed(t, data)
		got, err := keys(c.Input.Integration, settings.PerAWSAccount, b)
		if err != nil || !slices.Equal(got, c.Expected) {
			t.Errorf("got %q, %v, want %q", got, err, c.Expected)
		}
	})
}

// Specs returns the processes that recorded cases list. The cases have objects as queries
// return them, and settings with the names of Python.
func TestStrategy(t *testing.T) {
	type strategyCase struct {
		Name  string
		Input struct {
			Integration struct {
				Name string
				Args []string
			}
			Spec struct {
				Extra string `json:"extra_args"`
			}
			Sharding map[string]any
			Objects  map[string][]map[string]any
		}
		Expected json.RawMessage
	}
	type spec struct {
		Shards    string `json:"shards"`
		ID        string `json:"shard_id"`
		Key       string `json:"shard_key"`
		Suffix    string `json:"shard_name_suffix"`
		ExtraArgs string `json:"extra_args"`
		Overrides any    `json:"shard_spec_overrides"`
	}
	schemas := map[string]string{
		"aws_accounts": "/aws/account-1.yml", "clusters": "/openshift/cluster-1.yml",
		"ocm_organizations": "/openshift/openshift-cluster-manager-1.yml",
	}
	shared.Each(t, "sharding_strategy", func(t *testing.T, c strategyCase) {
		paths := map[any]string{}
		data := map[string]any{}
		for kind, objects := range c.Input.Objects {
			for i, o := range objects {
				if o["$schema"] = schemas[kind]; schemas[kind] == "" {
					t.Fatalf("the word %q is not known", kind)
				}
				paths[o["name"]] = "/" + strconv.Itoa(i) + ".yml"
				data[paths[o["name"]]] = o
			}
		}
		overrides := refer(c.Input.Sharding, paths)
		data["/it.yml"] = map[string]any{
			"$schema": "/app-sre/integration-1.yml",
			"managed": map[string]any{"spec": map[string]any{"extraArgs": c.Input.Spec.Extra}, "sharding": c.Input.Sharding},
		}
		b := parsed(t, data)
		f, _ := b.Datafile("/it.yml")
		managed, _ := f.Object().Get("managed")
		got, err := sharding.Specs(c.Input.Integration.Name, c.Input.Integration.Args, managed.(*bundle.Object),
			sharding.InBundle(b))
		var fails struct{ Mentions string }
		if json.Unmarshal(c.Expected, &fails) == nil {
			if err == nil || fails.Mentions == "" || !strings.Contains(err.Error(), fails.Mentions) {
				t.Errorf("got %+v, %v, want an error with %q", got, err, fails.Mentions)
			}
			return
		}
		var want []spec
		if err := json.Unmarshal(c.Expected, &want); err != nil {
			t.Fatal(err)
		}
		var ours []spec
		for _, s := range got {
			made := spec{s.Shards, s.ID, s.Key, s.Suffix, s.ExtraArgs, nil}
			if s.Override != nil {
				of := maps.Clone(overrides[s.OverrideAt].(map[string]any))
				if s.Shards != "" {
					of["subSharding"] = nil // it is divided already
				}
				made.Overrides = of
				if is, _ := of["disabled"].(bool); is != s.Disabled {
					t.Errorf("%s: disabled is %t, want %t", s.Key, s.Disabled, is)
				}
			}
			ours = append(ours, made)
		}
		if err != nil || !reflect.DeepEqual(ours, want) {
			t.Errorf("got %+v, %v\nwant %+v", ours, err, want)
		}
	})
}

// refer makes the overrides of a rule refer to the datafiles of objects, which the cases name. It returns the
// overrides as the cases have them.
func refer(rule map[string]any, paths map[any]string) []any {
	overrides, _ := rule["shardSpecOverrides"].([]any)
	made := make([]any, len(overrides))
	for i, o := range overrides {
		of := maps.Clone(o.(map[string]any))
		of["shard"] = map[string]any{"$ref": paths[of["shard"]]}
		maps.DeleteFunc(of, func(_ string, v any) bool { return v == nil })
		made[i] = of
	}
	if overrides != nil {
		rule["shardSpecOverrides"] = made
	}
	return overrides
}

// parsed returns a bundle with the given datafiles.
func parsed(t *testing.T, data map[string]any) *bundle.Bundle {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"data": data})
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Parse(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Index divides values as the recorded cases do.
func TestIndex(t *testing.T) {
	type indexCase struct {
		Name  string
		Input struct {
			Value  string
			Shards []int
		}
		Expected map[string]int
	}
	shared.Each(t, "shard_index", func(t *testing.T, c indexCase) {
		for _, n := range c.Input.Shards {
			if got, want := sharding.Index(c.Input.Value, n), c.Expected[strconv.Itoa(n)]; got != want {
				t.Errorf("%q of %d: got %d, want %d", c.Input.Value, n, got, want)
			}
		}
	})
	type inCase struct {
		Name  string
		Input struct {
			Value  string
			Shards int
			ID     int `json:"shard_id"`
		}
		Expected bool
	}
	shared.Each(t, "is_in_shard", func(t *testing.T, c inCase) {
		if got := sharding.Index(c.Input.Value, c.Input.Shards) == c.Input.ID; got != c.Expected {
			t.Errorf("got %v, want %v", got, c.Expected)
		}
	})
}
