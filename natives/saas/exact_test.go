package saas_test

import (
	"flag"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives"
	"github.com/app-sre/prcheck/natives/saas/saastest"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

var targets = flag.Int("targets", 300, "the number of targets of the exact plan, a multiple of ten")

// defined returns a large world with the definitions of the natives that plan by shards.
func defined() *saastest.World {
	w := saastest.Large(*targets/10, *targets)
	for _, name := range []string{"saas-deploy", "saas-pipelines"} {
		w.Data["/integrations/"+name+".yml"] = map[string]any{"$schema": "/app-sre/integration-1.yml", "name": name,
			"schemas": []any{"/app-sre/saas-file-2.yml", "/app-sre/app-1.yml", "/app-sre/environment-1.yml",
				"/openshift/namespace-1.yml", "/openshift/cluster-1.yml"},
			"pr_check": map[string]any{"cmd": name}}
	}
	return w
}

// A merge request that changes one of many targets plans exactly its cell. One that changes
// nothing that is read plans nothing.
func TestOneTargetPlansItsCell(t *testing.T) {
	const file = "/services/app-007/saas.yml"
	before, err := bundle.Parse(defined().Bundle(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(w *saastest.World)
		want   []string
	}{
		"a parameter of one target": {func(w *saastest.World) {
			w.Target(file, 2, 1)["parameters"] = map[string]any{"REPLICAS": 4}
		},
			[]string{"saas-deploy app-007/production", "saas-pipelines app-007"}},
		"a pattern of images, which both read": {func(w *saastest.World) {
			w.Set(file, []any{"quay.io/acme/", "quay.io/acme/more/"}, "imagePatterns")
		},
			[]string{"saas-deploy app-007/production", "saas-deploy app-007/stage", "saas-pipelines app-007"}},
		"words for people": {func(w *saastest.World) { w.Set(file, "Another name", "displayName") }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := defined()
			c.change(w)
			after, err := bundle.Parse(w.Bundle(t), before)
			if err != nil {
				t.Fatal(err)
			}
			made, err := planner.Make(t.Context(), planner.Input{Base: before, Head: after, BaseRef: "base", HeadRef: "head",
				Settings: &settings.Settings{}, Natives: integration.DryRunners(natives.List(natives.Services{}))})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, task := range made.Tasks {
				got = append(got, task.Integration+" "+task.Shard)
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q: %+v", got, c.want, made.Integrations)
			}
		})
	}
}
