package manager

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/kube/writer"
	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// A rolloutCase is a scene of an integration that changes.
type rolloutCase struct {
	Input struct {
		Kind     string
		Change   string // what changes: image
		Settings map[string]any
		Shards   []string
		Canary   string
		From, To json.RawMessage // a number of static shards, or the keys of shards
		Strategy string
		fates    map[string]string // of shards
	}
	Expected struct {
		Ready         *bool
		Strategy      json.RawMessage `json:"spec.strategy"`
		Written, Kept []string
		Restarted     []string
		Error         bool
		Order         []string
		MostPods      *int `json:"max_pods_at_once"`
	}
}

// readRollout reads a case of the area "rollout". The names of shards are words of their own.
func readRollout(t *testing.T, input, expected json.RawMessage) (c rolloutCase) {
	t.Helper()
	var words map[string]json.RawMessage
	if json.Unmarshal(expected, &words) != nil || words["ready"] != nil {
		t.Skip("about readiness")
	}
	shared.Words(t, expected, &c.Expected)
	words = nil
	var of struct{ Shards []string }
	if err := errors.Join(json.Unmarshal(input, &words), json.Unmarshal(input, &of)); err != nil {
		t.Fatal(err)
	}
	fates := map[string]string{}
	for _, name := range of.Shards {
		if fate, ok := words[name]; ok {
			fates[name] = strings.Trim(string(fate), `"`)
			delete(words, name)
		}
	}
	input, err := json.Marshal(words)
	if err != nil {
		t.Fatal(err)
	}
	shared.Words(t, input, &c.Input)
	c.Input.fates = fates
	return c
}

// These are the cases about the order of writes, and about what is rendered. Those about
// readiness are in natives/manifests.
func TestRollout(t *testing.T) {
	shared.Each(t, "rollout", func(t *testing.T, raw struct{ Input, Expected json.RawMessage }) {
		c := readRollout(t, raw.Input, raw.Expected)
		in := c.Input
		var from, to int
		var before, after []string
		switch {
		case in.Canary != "":
			testCanary(t, c)
		case json.Unmarshal(in.From, &from) == nil && json.Unmarshal(in.To, &to) == nil && in.Strategy == "static":
			testDivision(t, from, to)
		case json.Unmarshal(in.From, &before) == nil && json.Unmarshal(in.To, &after) == nil && in.Strategy == "":
			testKeys(t, c, before, after)
		case in.Change == "image":
			testChangedImage(t, c)
		case in.Kind == "Deployment" && in.Settings != nil:
			s := newScene(t)
			s.own = "mode: parity"
			s.mustRun(t)
			spec := item(t, s.desired(t, s.own),
				exampleItems+"Deployment/"+terraform("production")).Body.(body).Object["spec"].(object)
			if _, isSet := spec["strategy"]; isSet != (string(c.Expected.Strategy) != "null") {
				t.Errorf("got the strategy %v", spec["strategy"])
			}
		default:
			t.Fatalf("no scene for %s", raw.Input)
		}
	})
}

// setAccounts lets the data have accounts of these names alone, each of which is a shard.
func (s *scene) setAccounts(t *testing.T, names ...string) {
	for file := range s.Data {
		if strings.HasPrefix(file, "/accounts/") {
			delete(s.Data, file)
		}
	}
	for _, name := range names {
		s.Data["/accounts/"+name+".yml"] = example(t).Data["/accounts/production.yml"]
		s.Data["/accounts/"+name+".yml"]["name"] = name
	}
}

// podsOf returns the uids of the pods of shards.
func (s *scene) podsOf(keys []string) map[string]string {
	out := map[string]string{}
	for _, key := range keys {
		for _, pod := range s.cluster.Pods(path("Deployment", terraform(key))) {
			out[key] += fmt.Sprint(s.cluster.Object(pod)["metadata"].(object)["uid"], " ")
		}
	}
	return out
}

// testKeys divides an integration by other keys.
func testKeys(t *testing.T, c rolloutCase, from, to []string) {
	s := newScene(t)
	s.setAccounts(t, from...)
	s.mustRun(t)
	s.cluster.Settle()
	before := s.podsOf(from)
	s.setAccounts(t, to...)
	var written, restarted []string
	for _, w := range s.mustRun(t) {
		written = append(written, strings.TrimPrefix(w, "patch "+terraform("")))
	}
	s.cluster.Settle()
	for key, pods := range s.podsOf(to) {
		if slices.Contains(from, key) && pods != before[key] {
			restarted = append(restarted, key)
		}
	}
	slices.Sort(restarted)
	if !slices.Equal(written, c.Expected.Written) || !slices.Equal(restarted, c.Expected.Restarted) {
		t.Errorf("wrote %q and started %q anew, want %q and %q", written, restarted, c.Expected.Written, c.Expected.Restarted)
	}
}

// testChangedImage changes the image of a shard, and counts the pods that it has at one time.
func testChangedImage(t *testing.T, c rolloutCase) {
	s := newScene(t)
	s.own = map[string]string{"Recreate": "", "RollingUpdate": "mode: parity", "": ""}[c.Input.Strategy]
	if c.Input.Kind == "StatefulSet" {
		s.entry(terraformFile, 0)["spec"].(object)["cache"] = true
	}
	s.mustRun(t)
	s.cluster.Settle()
	s.entry(terraformFile, 0)["spec"].(object)["imageRef"] = "new"
	s.mustRun(t)
	s.cluster.Settle()
	at := path(c.Input.Kind, terraform("staging"))
	raw, _ := json.Marshal(s.podsOf([]string{"staging"}))
	if o := s.cluster.Object(at); o == nil || c.Expected.MostPods == nil ||
		s.cluster.MostPods(at) != *c.Expected.MostPods {
		t.Errorf("%s had %d pods at once, and has %s", at, s.cluster.MostPods(at), raw)
	}
}

// terraform returns the name of a shard of the example.
func terraform(key string) string { return namePrefix + "terraform-resources-" + key }

// play lets the cluster work, and looks at it after each step, until the returned function is
// called.
func (s *scene) play(look func()) (stop func()) {
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			s.cluster.Step()
			look()
			select {
			case <-ended:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	return func() { close(ended); <-done }
}

// testCanary changes the image of all shards. The canary comes first; if it fails, the others
// keep what they have, in the next run as well.
func testCanary(t *testing.T, c rolloutCase) {
	s := newScene(t)
	s.setAccounts(t, c.Input.Shards...)
	s.own = fmt.Sprintf("canary: {terraform-resources: [%s]}\nwait: 2s", c.Input.Canary)
	s.cluster.Fate = func(pod map[string]any) kubetest.Fate {
		raw, _ := json.Marshal(pod["spec"])
		if c.Input.fates[c.Input.Canary] == "fails" && strings.Contains(string(raw), ":new") {
			return kubetest.Crashing
		}
		return kubetest.Ready
	}
	stop := s.play(func() {})
	defer stop()
	s.mustRun(t)
	s.entry(terraformFile, 0)["spec"].(object)["imageRef"] = "new"
	for range 2 {
		_, err := s.run(t)
		if want := c.Expected.Error; s.fails(err) != want {
			t.Errorf("got %v %q, want an error: %t", err, s.said, want)
		}
		for _, key := range c.Input.Shards {
			raw, _ := json.Marshal(s.cluster.Object(path("Deployment", terraform(key))))
			isNew := strings.Contains(string(raw), ":new")
			if isNew != slices.Contains(c.Expected.Written, key) || isNew == slices.Contains(c.Expected.Kept, key) {
				t.Errorf("%s is new: %t", key, isNew)
			}
		}
	}
}

// testDivision divides an integration into another number of shards. No old process may be left
// when the first new one is written.
func testDivision(t *testing.T, from, to int) {
	s := newScene(t)
	entry := s.entry(terraformFile, 0)
	entry["sharding"] = object{"strategy": "static", "shards": from}
	stop := s.play(func() { s.checkDivision(t) })
	defer stop()
	s.mustRun(t)
	entry["sharding"] = object{"strategy": "static", "shards": to}
	s.mustRun(t)
	for i := range max(from, to) {
		p := path("Deployment", terraform(fmt.Sprint(i)))
		if most := s.cluster.MostPods(p); most > 1 {
			t.Errorf("%s had %d pods at once", p, most)
		}
		o := s.cluster.Object(p)
		if share, ok := shareOf(kindOf(o), o); i < to && (!ok || !runs(o) || share.shards != fmt.Sprint(to)) ||
			i >= to && o != nil {
			t.Errorf("%s has the share %+v", p, share)
		}
	}
	if w := s.mustRun(t); len(w) > 0 {
		t.Errorf("the next run wrote %q", w)
	}
}

// checkDivision checks that no two pods do the same work.
func (s *scene) checkDivision(t *testing.T) {
	shares := map[string]share{}
	for _, p := range s.cluster.Paths() {
		if !strings.Contains(p, "/pods/"+namePrefix+"terraform") {
			continue
		}
		pod := s.cluster.Object(p)
		if pod == nil {
			continue // it ended in between
		}
		of, _ := shareOf(manifests.Deployment, object{"spec": object{"template": object{"spec": pod["spec"]}}})
		for other, share := range shares {
			if of.overlaps(share) {
				t.Errorf("%s and %s do the same work: %+v and %+v", p, other, of, share)
			}
		}
		shares[p] = of
	}
}

// If the gate holds back the deletion of old processes, no new one is started that does their
// work, and nothing is stopped.
func TestHeldDivision(t *testing.T) {
	s := newScene(t)
	entry := s.entry(terraformFile, 0)
	entry["sharding"] = object{"strategy": "static", "shards": 20}
	s.cluster.Settle()
	s.mustRun(t)
	s.cluster.Settle()
	entry["sharding"] = object{"strategy": "static", "shards": 2}
	writes, err := s.run(t)
	if !s.fails(err) || len(writes) > 0 || !strings.Contains(fmt.Sprint(err), "does the same work and stays") {
		t.Errorf("wrote %q: %v %q", writes, err, s.said)
	}
}

// A process that does not end keeps the new ones from starting.
func TestLingeringDivision(t *testing.T) {
	s := newScene(t)
	entry := s.entry(terraformFile, 0)
	entry["sharding"] = object{"strategy": "static", "shards": 2}
	s.own = "wait: 1s"
	s.cluster.Fate = func(map[string]any) kubetest.Fate { return kubetest.Lingering }
	stop := s.play(func() { s.checkDivision(t) })
	defer stop()
	s.mustRun(t)
	entry["sharding"] = object{"strategy": "static", "shards": 3}
	for range 2 {
		if _, err := s.run(t); err == nil || !strings.Contains(err.Error(), "waiting until") {
			t.Errorf("got %v", err)
		}
		if s.cluster.Object(path("Deployment", terraform("2"))) != nil {
			t.Error("a new shard was written while old ones run")
		}
	}
}

// Pods of an installation's own template have variables of any names. Old ones end first as well.
func TestOwnPodDivision(t *testing.T) {
	s := newScene(t)
	s.Resources["/manager/pod.yaml"] = object{"path": "/manager/pod.yaml", "sha256sum": "x", "$schema": nil, "content": `
spec:
  containers:
  - name: int
    image: ${IMAGE_REFERENCE}
    env:
    - {name: WHAT, value: "${INTEGRATION_NAME}"}
    - {name: TOTAL, value: "total ${SHARDS}"}
    - {name: NUMBER, value: "${SHARD_ID}"}
`}
	s.own = "template: /manager/pod.yaml"
	entry := s.entry(terraformFile, 0)
	entry["sharding"] = object{"strategy": "static", "shards": 2}
	stop := s.play(func() {
		totals := map[string]bool{}
		for _, p := range s.cluster.Paths() {
			raw, _ := json.Marshal(s.cluster.Object(p))
			for _, total := range []string{"total 2", "total 3"} {
				if strings.Contains(p, "/pods/"+namePrefix+"terraform") && strings.Contains(string(raw), total) {
					totals[total] = true
				}
			}
		}
		if len(totals) > 1 {
			t.Error("old and new processes run at once")
		}
	})
	defer stop()
	s.mustRun(t)
	entry["sharding"] = object{"strategy": "static", "shards": 3}
	// Two are stopped, taken and applied, and one is made. What the cluster was faster than is
	// written again.
	if w := s.mustRun(t); len(w) < 7 || len(slices.Compact(slices.Sorted(slices.Values(w)))) != 3 ||
		!strings.HasSuffix(w[len(w)-1], "-2") {
		t.Errorf("wrote %q", w)
	}
}

// What became the process of somebody else in between is not stopped.
func TestAgain(t *testing.T) {
	s := newScene(t)
	s.mustRun(t)
	a, err := s.access(integration.ClusterRef{Name: "reconcile-01"})
	if err != nil {
		t.Fatal(err)
	}
	w, err := writer.Open(a)
	if err != nil {
		t.Fatal(err)
	}
	d := manifests.Applier{Writer: w, Options: manifests.Options{Manager: "prcheck-" + Name}}
	for name, change := range map[string]func(at string){
		"another caller": func(at string) {
			s.cluster.Edit(t, "kubectl", at, func(o map[string]any) {
				o["metadata"].(object)["annotations"].(object)["qontract.caller_name"] = "other"
			})
		},
		"made anew": func(at string) {
			was := s.cluster.Object(at)
			s.cluster.Remove(at)
			anew, err := json.Marshal(object{"apiVersion": "apps/v1", "kind": "Deployment", "spec": was["spec"],
				"metadata": object{"name": was["metadata"].(object)["name"],
					"annotations": was["metadata"].(object)["annotations"]}})
			if err != nil {
				t.Fatal(err)
			}
			s.cluster.Send(t, "PATCH", at+"?fieldManager=prcheck-"+Name, "application/apply-patch+yaml", string(anew))
		},
	} {
		shard := terraform(map[string]string{"another caller": "staging", "made anew": "production"}[name])
		l, err := d.Read(t.Context(), manifests.Deployment, "reconcile-prod", shard)
		if err != nil || l == nil {
			t.Fatal(err)
		}
		tries := 0
		err = again(t.Context(), d, l, func(*manifests.Live) error {
			tries++
			change(path("Deployment", shard))
			return reconcile.ErrConflict
		})
		if tries != 1 || err == nil || !strings.Contains(err.Error(), "not ours to stop") {
			t.Errorf("%s: tried %d times, %v", name, tries, err)
		}
	}
}
