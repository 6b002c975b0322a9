package threeway_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/threeway"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// deployment returns a Deployment of some 1,000 values, with the rules of its specification.
func deployment(b *testing.B, image string) (object, rules.Rules) {
	b.Helper()
	dir := shared.Path(b, "data", "specs")
	set := openapi.NewSet(func(name string, _ int64) ([]byte, error) {
		return os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	}, openapi.Limits{})
	d, err := set.Document("kubernetes-openapi-v3/apis__apps__v1_openapi.json")
	if err != nil {
		b.Fatal(err)
	}
	found, err := resources.NewIndex([]*openapi.Document{d}).Find("apps/v1/deployments")
	if err != nil || len(found) == 0 {
		b.Fatalf("%v, %v", found, err)
	}
	c, err := classes.New(found[0])
	if err != nil {
		b.Fatal(err)
	}
	containers := []any{}
	for i := range 20 {
		env := []any{}
		for j := range 20 {
			env = append(env, object{"name": fmt.Sprint("V", j), "value": fmt.Sprint(j)})
		}
		containers = append(containers, object{
			"name": fmt.Sprint("c", i), "image": image, "env": env, "ports": []any{object{"containerPort": numberOf("80")}},
			"resources": object{"limits": object{"cpu": "100m", "memory": "1Gi"}},
		})
	}
	return object{"spec": object{"template": object{"spec": object{"containers": containers}}}}, rules.Of(c, nil)
}

// The second of two plans of a type: its rules are known.
func BenchmarkMake(b *testing.B) {
	x, r := deployment(b, "app:1")
	y, _ := deployment(b, "app:2")
	for name, desired := range map[string]any{"nothing": x, "an image each": y} {
		b.Run(name, func(b *testing.B) {
			in := threeway.Input{Applied: x, Desired: desired, Live: x, WasApplied: true, IsThere: true, Rules: r, Key: key}
			want := threeway.None
			if name != "nothing" {
				want = threeway.Update
			}
			threeway.Make(in)
			b.ReportAllocs()
			for b.Loop() {
				if p := threeway.Make(in); p.Action != want {
					b.Fatal(p)
				}
			}
		})
	}
}

// Finding the rules of the first plan of a type.
func BenchmarkRules(b *testing.B) {
	x, _ := deployment(b, "app:1")
	in := threeway.Input{Applied: x, Desired: x, Live: x, WasApplied: true, IsThere: true}
	for b.Loop() {
		b.StopTimer()
		_, in.Rules = deployment(b, "app:1")
		b.StartTimer()
		threeway.Make(in)
	}
}
