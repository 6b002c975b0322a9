package manager

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration/manifests"
	"github.com/app-sre/prcheck/internal/kubetest"
	"github.com/app-sre/prcheck/internal/shared"
)

// A rolloutCase is a scene of an integration that changes.
type rolloutCase struct {
	Input struct {
		Kind     string
		Settings map[string]any
		Shards   []string
		Canary   string
		A        string
		From, To int
		Strategy string
	}
	Expected map[string]json.RawMessage
}

// These are the cases about the order of writes, and about what is rendered. Those about
// readiness are in integration/manifests.
func TestRollout(t *testing.T) {
	shared.Each(t, "rollout", func(t *testing.T, c rolloutCase) {
		in := c.Input
		switch {
		case c.Expected["ready"] != nil:
			t.Skip("about readiness")
		case in.Canary != "":
			testCanary(t, c)
		case in.From > 0 && in.Strategy == "static":
			testDivision(t, in.From, in.To)
		case in.Kind == "Deployment":
			s := newScene(t)
			s.own = "mode: parity"
			s.mustRun(t)
			spec := item(t, s.desired(t, s.own), exampleItems+"Deployment/"+terraform("production")).Body.(body).Object["spec"].(object)
			if _, isSet := spec["strategy"]; isSet != (string(c.Expected["spec.strategy"]) != "null") {
				t.Errorf("got the strategy %v", spec["strategy"])
			}
		default:
			t.Fatalf("no scene for %+v", in)
		}
	})
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
	delete(s.Data, "/accounts/production.yml")
	delete(s.Data, "/accounts/staging.yml")
	s.copyOf("/accounts/production.yml", "/accounts/x.yml", nil)
	s.Data["/accounts/x.yml"] = example(t).Data["/accounts/production.yml"]
	for _, key := range c.Input.Shards {
		s.copyOf("/accounts/x.yml", "/accounts/"+key+".yml", object{"name": key})
	}
	delete(s.Data, "/accounts/x.yml")
	s.own = fmt.Sprintf("canary: {terraform-resources: [%s]}\nwait: 2s", c.Input.Canary)
	s.cluster.Fate = func(pod map[string]any) kubetest.Fate {
		raw, _ := json.Marshal(pod["spec"])
		if c.Input.A == "fails" && strings.Contains(string(raw), ":new") {
			return kubetest.Crashing
		}
		return kubetest.Ready
	}
	stop := s.play(func() {})
	defer stop()
	s.mustRun(t)
	s.entry(terraformFile, 0)["spec"].(object)["imageRef"] = "new"
	var written, kept []string
	if err := json.Unmarshal(c.Expected["written"], &written); err != nil {
		t.Fatal(err)
	}
	_ = json.Unmarshal(c.Expected["kept"], &kept) // none is none
	for range 2 {
		_, err := s.run(t)
		if want := string(c.Expected["error"]) == "true"; s.fails(err) != want {
			t.Errorf("got %v %q, want an error: %t", err, s.said, want)
		}
		for _, key := range c.Input.Shards {
			raw, _ := json.Marshal(s.cluster.Object(path("Deployment", terraform(key))))
			isNew := strings.Contains(string(raw), ":new")
			if isNew != slices.Contains(written, key) || isNew == slices.Contains(kept, key) {
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
		if share, ok := shareOf(kindOf(o), o); i < to && (!ok || !runs(o) || share.shards != fmt.Sprint(to)) || i >= to && o != nil {
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
	if w := s.mustRun(t); len(w) < 7 || len(slices.Compact(slices.Sorted(slices.Values(w)))) != 3 || !strings.HasSuffix(w[len(w)-1], "-2") {
		t.Errorf("wrote %q", w)
	}
}
