package sharding_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/sharding"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/settings"
)

// types are the GraphQL types that decide about shards, with the names of app-interface.
const types = `[
	{"name":"DisableClusterAutomations_v1","fields":[{"name":"integrations","type":"string","isList":true}]},
	{"name":"AWSAccount_v1","datafile":"/aws/account-1.yml","fields":[{"name":"path","type":"string","isRequired":true},{"name":"name","type":"string","isRequired":true},{"name":"disable","type":"DisableClusterAutomations_v1"}]},
	{"name":"Cluster_v1","datafile":"/openshift/cluster-1.yml","fields":[{"name":"path","type":"string","isRequired":true},{"name":"name","type":"string","isRequired":true},{"name":"disable","type":"DisableClusterAutomations_v1"}]},
	{"name":"OpenShiftClusterManager_v1","datafile":"/openshift/openshift-cluster-manager-1.yml","fields":[{"name":"path","type":"string","isRequired":true},{"name":"name","type":"string","isRequired":true},{"name":"orgId","type":"string","isRequired":true}]},
	{"name":"SubSharding_v1","isInterface":true,"interfaceResolve":{"strategy":"fieldMap","field":"strategy","fieldMap":{"static":"StaticSubSharding_v1"}},"fields":[{"name":"strategy","type":"string","isRequired":true}]},
	{"name":"StaticSubSharding_v1","interface":"SubSharding_v1","fields":[{"name":"strategy","type":"string","isRequired":true},{"name":"shards","type":"int","isRequired":true}]},
	{"name":"AWSAccountShardSpecOverride_v1","fields":[{"name":"shard","type":"AWSAccount_v1","isRequired":true},{"name":"imageRef","type":"string"},{"name":"disabled","type":"boolean"}]},
	{"name":"OCMOrganizationShardSpecOverride_v1","fields":[{"name":"shard","type":"OpenShiftClusterManager_v1","isRequired":true},{"name":"imageRef","type":"string"},{"name":"disabled","type":"boolean"}]},
	{"name":"OpenshiftClusterShardSpecOverride_v1","fields":[{"name":"shard","type":"Cluster_v1","isRequired":true},{"name":"imageRef","type":"string"},{"name":"disabled","type":"boolean"},{"name":"subSharding","type":"SubSharding_v1","isInterface":true}]},
	{"name":"IntegrationSharding_v1","isInterface":true,"interfaceResolve":{"strategy":"fieldMap","field":"strategy","fieldMap":{"static":"StaticSharding_v1","per-aws-account":"AWSAccountSharding_v1","per-openshift-cluster":"OpenshiftClusterSharding_v1","per-ocm-organization":"OCMOrganizationSharding_v1"}},"fields":[{"name":"strategy","type":"string","isRequired":true}]},
	{"name":"StaticSharding_v1","interface":"IntegrationSharding_v1","fields":[{"name":"strategy","type":"string","isRequired":true},{"name":"shards","type":"int","isRequired":true}]},
	{"name":"AWSAccountSharding_v1","interface":"IntegrationSharding_v1","fields":[{"name":"strategy","type":"string","isRequired":true},{"name":"shardSpecOverrides","type":"AWSAccountShardSpecOverride_v1","isList":true}]},
	{"name":"OCMOrganizationSharding_v1","interface":"IntegrationSharding_v1","fields":[{"name":"strategy","type":"string","isRequired":true},{"name":"shardSpecOverrides","type":"OCMOrganizationShardSpecOverride_v1","isList":true}]},
	{"name":"OpenshiftClusterSharding_v1","interface":"IntegrationSharding_v1","fields":[{"name":"strategy","type":"string","isRequired":true},{"name":"shardSpecOverrides","type":"OpenshiftClusterShardSpecOverride_v1","isList":true}]},
	{"name":"IntegrationSpec_v1","fields":[{"name":"extraArgs","type":"string"}]},
	{"name":"IntegrationManaged_v1","fields":[{"name":"spec","type":"IntegrationSpec_v1","isRequired":true},{"name":"sharding","type":"IntegrationSharding_v1","isInterface":true}]},
	{"name":"Integration_v1","datafile":"/app-sre/integration-1.yml","fields":[{"name":"path","type":"string","isRequired":true},{"name":"name","type":"string","isRequired":true},{"name":"managed","type":"IntegrationManaged_v1","isList":true}]},
	{"name":"Query","fields":[
		{"name":"integrations_v1","type":"Integration_v1","isList":true,"datafileSchema":"/app-sre/integration-1.yml"},
		{"name":"awsaccounts_v1","type":"AWSAccount_v1","isList":true,"datafileSchema":"/aws/account-1.yml"},
		{"name":"clusters_v1","type":"Cluster_v1","isList":true,"datafileSchema":"/openshift/cluster-1.yml"},
		{"name":"ocm_instances_v1","type":"OpenShiftClusterManager_v1","isList":true,"datafileSchema":"/openshift/openshift-cluster-manager-1.yml"}]}]`

// queryOf answers queries over a bundle. An answer with errors is an error.
func queryOf(t *testing.T, b *bundle.Bundle) integration.QueryFunc {
	t.Helper()
	schema, err := gql.NewSchema(b.GraphQL())
	if err != nil {
		t.Fatal(err)
	}
	engine := gql.New(b, schema)
	return func(ctx context.Context, query string, _ map[string]any) ([]byte, error) {
		res := engine.Answer(ctx, gql.Request{Query: query})
		if len(res.Errors) > 0 {
			return nil, errors.New(res.Errors[0].Message)
		}
		return res.DataJSON(), nil
	}
}

var strategies = []settings.Strategy{settings.PerAWSAccount, settings.PerOpenShiftCluster, settings.PerOCMOrganization,
	settings.StrategyStatic}

// found is how an integration is divided, and its processes.
type found struct {
	Parts map[settings.Strategy][]sharding.Part
	Specs [][]sharding.Spec
	Errs  []string
}

// divide returns how an integration is divided among objects.
func divide(name string, managed []*bundle.Object, from sharding.Source) found {
	out := found{Parts: map[settings.Strategy][]sharding.Part{}}
	note := func(err error) {
		out.Errs = append(out.Errs, fmt.Sprint(err))
	}
	for _, s := range strategies {
		parts, err := sharding.ListParts(name, s, managed, from)
		out.Parts[s] = parts
		note(err)
	}
	for _, m := range managed {
		specs, err := sharding.Specs(name, []string{"--account-name", "--cluster-name", "--org-id"}, m, from)
		for i := range specs { // of an override, not all is asked
			if o := specs[i].Override; o != nil {
				specs[i].ExtraArgs += " image " + o.String("imageRef")
			}
			specs[i].Override = nil
		}
		out.Specs = append(out.Specs, specs)
		note(err)
	}
	declared, err := sharding.DeclaredStrategy(managed)
	note(fmt.Errorf("%s, %v", declared, err))
	return out
}

// sameShards holds that a bundle and the answers over it give the same shards of all
// integrations. It returns how many of them were compared, and how many parts they have.
func sameShards(t *testing.T, b *bundle.Bundle) (compared, parts int) {
	t.Helper()
	all, err := integration.List(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	query := queryOf(t, b)
	answers, err := sharding.Ask(t.Context(), query, strategies...)
	if err != nil {
		return 0, 0 // the data do not fit their types
	}
	for _, d := range all {
		managed, err := sharding.AskManaged(t.Context(), query, d.Name)
		if err != nil {
			continue
		}
		got, want := divide(d.Name, managed, answers), divide(d.Name, d.Managed(), sharding.InBundle(b))
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: by queries\n%+v\nby the bundle\n%+v", d.Name, got, want)
		}
		compared++
		for _, p := range want.Parts {
			parts += len(p)
		}
		if s, err := sharding.DeclaredStrategy(d.Managed()); err == nil {
			gotParts, gotErr := sharding.AskParts(t.Context(), query, d.Name)
			wantParts, wantErr := sharding.ListParts(d.Name, s, d.Managed(), sharding.InBundle(b))
			if !reflect.DeepEqual(gotParts, wantParts) || fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
				t.Errorf("%s: got %+v, %v, want %+v, %v", d.Name, gotParts, gotErr, wantParts, wantErr)
			}
		}
	}
	return compared, parts
}

// Queries give the same shards as a bundle: in random bundles.
func TestAnswersLaw(t *testing.T) {
	compared, parts := 0, 0
	for seed := range uint64(400) {
		raw, err := json.Marshal(map[string]any{"data": randomData(rand.New(rand.NewPCG(seed, 5))),
			"graphql": json.RawMessage(types)})
		if err != nil {
			t.Fatal(err)
		}
		b, err := bundle.Parse(raw, nil)
		if err != nil {
			t.Fatal(err)
		}
		c, p := sameShards(t, b)
		compared, parts = compared+c, parts+p
		if t.Failed() {
			t.Fatalf("seed %d: %s", seed, raw)
		}
	}
	t.Logf("%d integrations with %d parts", compared, parts)
	if compared < 600 || parts < 3000 {
		t.Errorf("only %d integrations with %d parts were compared", compared, parts)
	}
}

// Queries give the same shards as a bundle: in recorded data with their own types.
func TestAnswersOnRecordedData(t *testing.T) {
	for name, want := range map[string]int{"app-interface-base": 6, "app-interface-head": 6, "generated-300-base": 7,
		"generated-300-head": 7, "random-1-base": 0, "random-1-head": 0} {
		raw, err := os.ReadFile(shared.Path(t, "data", "bundles", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		b, err := bundle.Parse(raw, nil)
		if err != nil {
			t.Fatal(err)
		}
		compared, parts := sameShards(t, b)
		t.Logf("%s: %d integrations with %d parts", name, compared, parts)
		if compared < want {
			t.Errorf("%s: only %d integrations were compared, want %d", name, compared, want)
		}
	}
}

type object = map[string]any

// randomData returns datafiles: accounts, clusters, organizations, and two integrations that are
// divided by them.
func randomData(r *rand.Rand) object {
	data := object{}
	of := func(n int) int { return r.IntN(n) }
	names := []string{"a", "A", "b", "b c", "é", "x/y", "one", "--no", "{x}"}
	schemas := []string{"/aws/account-1.yml", "/openshift/cluster-1.yml", "/openshift/openshift-cluster-manager-1.yml"}
	paths := [3][]string{}
	for kind, schema := range schemas {
		for i := range of(5) {
			o := object{"$schema": schema, "name": names[of(min(len(names), 6+of(2)+of(40)/38*2))]}
			if kind == 2 {
				o["orgId"] = fmt.Sprint("Org", i)
			}
			switch of(4) {
			case 0:
				o["disable"] = object{"integrations": []string{"it", "other"}[:1+of(2)]}
			case 1:
				o["disable"] = object{}
			}
			path := fmt.Sprintf("/%d/%d.yml", kind, i)
			data[path], paths[kind] = o, append(paths[kind], path)
		}
	}
	for _, name := range []string{"it", "other"} {
		managed := []any{}
		for range of(4) {
			managed = append(managed, randomManaged(of, paths))
		}
		it := object{"$schema": "/app-sre/integration-1.yml", "name": name}
		if of(8) > 0 {
			it["managed"] = managed
		}
		data["/"+name+".yml"] = it
	}
	return data
}

// randomManaged returns an element of managed.
func randomManaged(of func(int) int, paths [3][]string) object {
	m := object{"spec": object{}}
	if of(2) == 0 {
		m["spec"] = object{"extraArgs": "--x 'y'"}
	}
	kind := of(5)
	switch kind {
	case 3:
		m["sharding"] = object{"strategy": "static", "shards": of(4)}
		return m
	case 4:
		return m
	}
	rule := object{"strategy": []string{"per-aws-account", "per-openshift-cluster", "per-ocm-organization"}[kind]}
	var overrides []any
	for range of(4) {
		if len(paths[kind]) == 0 {
			continue
		}
		o := object{"shard": object{"$ref": paths[kind][of(len(paths[kind]))]}}
		if of(2) == 0 {
			o["imageRef"] = []string{"i1", "i2"}[of(2)]
		}
		if of(3) == 0 {
			o["disabled"] = of(2) == 0
		}
		if kind == 1 && of(2) == 0 {
			o["subSharding"] = object{"strategy": "static", "shards": 1 + of(3)}
		}
		overrides = append(overrides, o)
	}
	if overrides != nil {
		rule["shardSpecOverrides"] = overrides
	}
	m["sharding"] = rule
	return m
}

// An answer that lacks a list is an error, never "there are no shards".
func TestAnswersNotWhole(t *testing.T) {
	for name, c := range map[string]struct{ answer, want string }{
		"null":      {`null`, "data is null: the answer is not whole"},
		"nothing":   {`{}`, "data.awsaccounts_v1 is missing: the answer is not whole"},
		"null list": {`{"awsaccounts_v1":null}`, "data.awsaccounts_v1 is null: the answer is not whole"},
		"null item": {`{"awsaccounts_v1":[{"path":"/a.yml","name":"a"},null]}`,
			"data.awsaccounts_v1[1] is no object: the answer is not whole"},
		"a list of text": {`{"awsaccounts_v1":["a"]}`, "data.awsaccounts_v1[0] is no object: the answer is not whole"},
		"no list":        {`{"awsaccounts_v1":{}}`, "data.awsaccounts_v1 is an object, and must be a list"},
		"no JSON":        {`<html>`, "decoding the data of the answer: invalid character '<' looking for beginning of value"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := sharding.Ask(t.Context(), func(context.Context, string, map[string]any) ([]byte, error) {
				return []byte(c.answer), nil
			}, settings.PerAWSAccount)
			if want := "asking for the shards of the strategy per-aws-account: " + c.want; err == nil || err.Error() != want {
				t.Errorf("got %v, %v, want %s", got, err, want)
			}
			if strings.HasSuffix(c.want, "not whole") != errors.Is(err, integration.ErrNotWhole) {
				t.Errorf("%v: is it ErrNotWhole?", err)
			}
		})
	}
}

func TestAskMistakes(t *testing.T) {
	fault := errors.New("status 503")
	fails := func(context.Context, string, map[string]any) ([]byte, error) { return nil, fault }
	empty := func(context.Context, string, map[string]any) ([]byte, error) {
		return []byte(`{"integrations_v1":[{"name":"other","managed":null}]}`), nil
	}
	if _, err := sharding.Ask(t.Context(), fails, settings.PerOpenShiftCluster); !errors.Is(err, fault) {
		t.Errorf("got %v", err)
	}
	for name, c := range map[string]struct {
		query integration.QueryFunc
		of    string
		want  string
	}{
		"fault":             {fails, "it", `asking for the definition of "it": status 503`},
		"no definition":     {empty, "it", `no datafile defines an integration named "it"`},
		"it is not sharded": {empty, "other", "its definition names no sharding strategy"},
	} {
		if _, err := sharding.AskParts(t.Context(), c.query, c.of); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
	if _, err := (sharding.Answers{}).Objects(settings.PerAWSAccount); err == nil {
		t.Error("objects that nobody asked for are no error")
	}
	if got, err := sharding.Ask(t.Context(), fails, settings.StrategyStatic); err != nil || len(got) > 0 {
		t.Errorf("static shards: got %v, %v", got, err)
	}
}
