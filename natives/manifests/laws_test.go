package manifests_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// randomManifest returns a Deployment with random fields in all lists that have keys, in lists
// that have none, in maps and in scalars.
func randomManifest(t testing.TB, r *rand.Rand) manifests.Object {
	t.Helper()
	o := manifest(t, manifests.Deployment)
	maybe := func(do func()) {
		if r.IntN(2) == 0 {
			do()
		}
	}
	pod, c := podOf(o), container(o)
	some := func(n int, make func(i int) any) []any {
		var out []any
		for _, i := range r.Perm(n) {
			maybe(func() { out = append(out, make(i)) })
		}
		return out
	}
	c["env"] = some(4, func(i int) any {
		return map[string]any{"name": fmt.Sprintf("V%d", i), "value": []string{"", "a", "b"}[r.IntN(3)]}
	})
	c["args"] = some(3, func(i int) any { return fmt.Sprint(i) })
	c["ports"] = some(3, func(i int) any {
		return map[string]any{"name": fmt.Sprintf("p%d", i), "containerPort": 80 + i/2,
			"protocol": []string{"TCP", "UDP"}[i%2]}
	})
	c["resources"] = map[string]any{}
	maybe(func() {
		c["resources"] = map[string]any{"requests": map[string]any{"cpu": []string{"1", "1000m", "2"}[r.IntN(3)]}}
	})
	maybe(func() { c["imagePullPolicy"] = "Always" })
	maybe(func() { c["securityContext"] = map[string]any{"runAsNonRoot": r.IntN(2) == 0} })
	volumes := some(3, func(i int) any {
		return map[string]any{"name": fmt.Sprintf("v%d", i), "emptyDir": map[string]any{}}
	})
	mounts := []any{map[string]any{"name": "tmp", "mountPath": "/tmp"}}
	for i, v := range volumes {
		mounts = append(mounts, map[string]any{"name": v.(map[string]any)["name"], "mountPath": fmt.Sprintf("/m%d", i),
			"readOnly": r.IntN(2) == 0})
	}
	pod["volumes"], c["volumeMounts"] = append(volumes, map[string]any{"name": "tmp", "emptyDir": map[string]any{}}),
		mounts
	maybe(func() { pod["nodeSelector"] = map[string]any{fmt.Sprint("n", r.IntN(2)): "x"} })
	maybe(func() { pod["hostNetwork"] = r.IntN(2) == 0 })
	maybe(func() {
		pod["tolerations"] = some(2, func(i int) any { return map[string]any{"key": fmt.Sprint(i), "operator": "Exists"} })
	})
	maybe(func() {
		pod["imagePullSecrets"] = some(2, func(i int) any { return map[string]any{"name": fmt.Sprint(i)} })
	})
	maybe(func() {
		pod["containers"] = append(pod["containers"].([]any), map[string]any{"name": "log", "image": "quay.io/log:1"})
	})
	setAt(o, []string{"spec", "template", "metadata", "annotations", fmt.Sprint("a", r.IntN(3))}, fmt.Sprint(r.IntN(3)))
	setAt(o, []string{"metadata", "labels", fmt.Sprint("l", r.IntN(3))}, "")
	maybe(func() { specOf(o)["minReadySeconds"] = r.IntN(2) })
	maybe(func() { specOf(o)["strategy"] = map[string]any{"type": "Recreate"} })
	specOf(o)["replicas"] = r.IntN(3)
	return o
}

// sorted returns a value whose lists with keys are sorted, but for variables: the order of the
// others is that of their history.
func sorted(v any) any { return sortedIn("", v) }

func sortedIn(list string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = sortedIn(name, v[name])
		}
	case []any:
		for i := range v {
			v[i] = sortedIn("", v[i])
		}
		if list == "env" {
			return v
		}
		slices.SortStableFunc(v, func(a, b any) int {
			x, isObject := a.(map[string]any)
			y, _ := b.(map[string]any)
			if !isObject {
				return 0
			}
			key := func(m map[string]any) string {
				return fmt.Sprint(m["mountPath"], m["containerPort"], m["protocol"], m["name"])
			}
			return cmp.Compare(key(x), key(y))
		})
	}
	return v
}

// From whatever manifest an object was made, one run makes it the same as if there had been no
// other manifest, and the next run sends nothing.
func TestHistoryDoesNotMatter(t *testing.T) {
	n := 40
	if testing.Short() {
		n = 10
	}
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		first, second := randomManifest(t, r), randomManifest(t, r)
		c, fresh := newCluster(t), newCluster(t)
		for _, step := range []struct {
			on   *cluster
			want manifests.Object
		}{{c, first}, {c, second}, {fresh, second}} {
			if err := step.on.run(t, step.want); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			step.on.sent = nil
			if err := step.on.run(t, step.want); err != nil || len(step.on.sent) > 0 {
				is, _ := step.on.doer().Read(t.Context(), manifests.Deployment, "n", "a")
				d, _ := manifests.Diff(step.want, is, options)
				t.Fatalf("seed %d: the second run sent %q, %v, want nothing:\n%s", seed, step.on.sent, err, describe(d))
			}
		}
		got, want := sorted(c.end(deploymentPath)), sorted(fresh.end(deploymentPath))
		if !reflect.DeepEqual(got, want) {
			x, _ := json.Marshal(got)
			y, _ := json.Marshal(want)
			t.Fatalf("seed %d: got\n%s\nwant\n%s", seed, x, y)
		}
	}
}

// interfere lets somebody else give an object some fields of another manifest.
func interfere(t testing.TB, c *cluster, r *rand.Rand, other manifests.Object) {
	t.Helper()
	c.Edit(t, "kubectl-edit", deploymentPath, func(o map[string]any) {
		other = clone(t, other)
		for _, name := range []string{"env", "args", "ports", "resources", "imagePullPolicy"} {
			if v, has := container(other)[name]; has && r.IntN(6) == 0 {
				container(o)[name] = v
			}
		}
		for _, name := range []string{"nodeSelector", "tolerations", "imagePullSecrets"} {
			if v, has := podOf(other)[name]; has && r.IntN(8) == 0 {
				podOf(o)[name] = v
			}
		}
		if env, _ := container(o)["env"].([]any); r.IntN(3) == 0 {
			r.Shuffle(len(env), func(i, j int) { env[i], env[j] = env[j], env[i] })
		}
		if r.IntN(6) == 0 {
			specOf(o)["replicas"] = json.Number(fmt.Sprint(r.IntN(3)))
		}
	})
}

// ours returns the fields that are ours by the last apply, a line for each.
func ours(t testing.TB, c *cluster) []string {
	t.Helper()
	is, err := c.doer().Read(t.Context(), manifests.Deployment, "n", "a")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	var add func(at string, v any)
	add = func(at string, v any) {
		below, _ := v.(map[string]any)
		for name, inner := range below {
			add(at+" "+name, inner)
		}
		if len(below) == 0 {
			out = append(out, at)
		}
	}
	for _, m := range is.Object["metadata"].(map[string]any)["managedFields"].([]any) {
		if entry := m.(map[string]any); entry["manager"] == options.Manager && entry["operation"] == "Apply" {
			add("", entry["fieldsV1"])
		}
	}
	return out
}

// What Diff says without a request is what the server does with an apply: it refuses exactly if
// there is a conflict, and changes nothing exactly if there is no difference. The order of most
// lists with keys, and who owns a field whose value is right, are left as they are. The server puts
// back what somebody removed; Diff says that this is a conflict as well.
func TestDiffAgreesWithServer(t *testing.T) {
	n := 120
	if testing.Short() {
		n = 25
	}
	outcomes := map[string]int{}
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		c, want := newCluster(t), randomManifest(t, r)
		if err := c.run(t, want); err != nil {
			t.Fatal(err)
		}
		was := ours(t, c)
		interfere(t, c, r, randomManifest(t, r))
		now := ours(t, c)
		isLost := slices.ContainsFunc(was, func(field string) bool { return !slices.Contains(now, field) })
		is, err := c.doer().Read(t.Context(), manifests.Deployment, "n", "a")
		if err != nil {
			t.Fatal(err)
		}
		d, err := manifests.Diff(want, is, options)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := manifests.Applied(is.Kind, want, is, "n", options, mark)
		if err != nil {
			t.Fatal(err)
		}
		said := map[bool]string{true: "nothing", false: "change"}[len(d.Changes) == 0]
		if d.Mistake != (reconcile.Mistake{}) {
			said = "conflict"
		}
		before := sorted(c.end(deploymentPath))
		_, err = c.ClusterWriter.Apply(t.Context(), is.Ref(), raw)
		did := map[bool]string{true: "nothing", false: "change"}[reflect.DeepEqual(sorted(c.end(deploymentPath)), before)]
		if conflict := (*integration.FieldConflict)(nil); errors.As(err, &conflict) {
			did = "conflict"
		} else if isLost && did == "change" {
			did = "conflict"
		} else if err != nil {
			did = err.Error()
		}
		outcomes[did]++
		if said != did {
			t.Errorf("seed %d: the server does %s, and Diff says %s:\n%s", seed, did, said, describe(d))
		}
	}
	t.Log(outcomes)
	if len(outcomes) < 3 {
		t.Errorf("only %v happened: the test shows too little", outcomes)
	}
}
