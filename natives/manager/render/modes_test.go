package render

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/app-sre/prcheck/natives/manifests"
)

// Both modes differ in five points only.
func TestModesDifferInFivePoints(t *testing.T) {
	for seed := range uint64(200) {
		it := randomIntegration(rand.New(rand.NewPCG(seed, 1)))
		ours, _ := Objects(it, nil, Options{})
		theirs, mistakes := Objects(it, nil, Options{Parity: true})
		again, _ := Objects(it, nil, Options{})
		if !reflect.DeepEqual(ours, again) {
			t.Fatalf("%+v: two runs differ", it)
		}
		if len(theirs) == 0 || len(ours) != len(theirs) {
			t.Fatalf("%+v: got %d objects, and %d in parity mode, %v", it, len(ours), len(theirs), mistakes)
		}
		for i, object := range ours {
			diff(t, fmt.Sprintf("seed %d", seed), undoOurs(t, it, object), decoded(t, theirs[i]))
		}
	}
}

// undoOurs returns an object of the default mode without the five points.
func undoOurs(t *testing.T, it Integration, object manifests.Object) any {
	t.Helper()
	out := decoded(t, object).(map[string]any)
	spec := out["spec"].(map[string]any)
	if out["kind"] == "CronJob" {
		if it.Spec.ConcurrencyPolicy == "" {
			diff(t, "concurrencyPolicy", spec["concurrencyPolicy"], "Forbid")
			spec["concurrencyPolicy"] = "Allow"
		}
		if it.Spec.ImageRef != "" {
			workOf(out)["image"] = "quay.io/app-sre/qontract-reconcile:latest"
		}
		return out
	}
	name := out["metadata"].(map[string]any)["name"]
	labels := []any{out["metadata"].(map[string]any)["labels"], spec["selector"].(map[string]any)["matchLabels"],
		podTemplate(out)["metadata"].(map[string]any)["labels"]}
	for _, of := range labels {
		if of.(map[string]any)[manifests.InstanceLabel] != name {
			t.Errorf("got the label %v, want %v", of, name)
		}
		delete(of.(map[string]any), manifests.InstanceLabel)
	}
	if out["kind"] == "Deployment" {
		diff(t, "strategy", spec["strategy"], map[string]any{"type": "Recreate"})
		delete(spec, "strategy")
	}
	return out
}

// randomIntegration returns an integration whose spec says some of everything.
func randomIntegration(rng *rand.Rand) Integration {
	it := Integration{Name: []string{"integ", "integrations-manager", "shop-window"}[rng.IntN(3)]}
	spec := reflect.ValueOf(&it.Spec).Elem()
	for i := range spec.NumField() {
		if spec.Field(i).Kind() == reflect.Bool {
			spec.Field(i).SetBool(rng.IntN(2) == 0)
		}
	}
	logs := reflect.ValueOf(&it.Spec.Logs).Elem()
	for i := range logs.NumField() {
		logs.Field(i).SetBool(rng.IntN(2) == 0)
	}
	pick := func(texts ...string) string { return texts[rng.IntN(len(texts))] }
	it.Spec.Command, it.Spec.ImageRef, it.Spec.SleepDurationSecs = pick("", "one"), pick("", "abc"), pick("", "5")
	it.Spec.Storage, it.Spec.ExtraArgs, it.Spec.Cron = pick("", "5Gi"), pick("", "--all"), pick("", "", "0 * * * *")
	it.Spec.ConcurrencyPolicy, it.Spec.RestartPolicy = pick("", "Replace", "Allow"), pick("", "Never")
	resources := func() *Resources {
		r := &Resources{}
		r.Requests.CPU, r.Limits.Memory = pick("", "1"), pick("", "1Gi")
		return []*Resources{nil, r}[rng.IntN(2)]
	}
	it.Spec.Resources, it.Spec.FluentdResources = resources(), resources()
	it.Spec.ExtraEnv = []Variable{{Name: "A", Value: pick("", "${IMAGE}", "${NOPE}")},
		{Name: pick("B", "A", "DRY_RUN")}}[:rng.IntN(3)]
	for i := range 1 + rng.IntN(3) {
		s := Shard{Suffix: fmt.Sprint("-", i), ExtraArgs: it.Spec.ExtraArgs, ImageRef: pick("", "def"),
			Resources: resources(), Disabled: rng.IntN(4) == 0}
		s.ID, s.Key = pick("", "1"), pick("", "harbor")
		it.Shards = append(it.Shards, s)
	}
	return it
}
