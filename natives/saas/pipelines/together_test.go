package pipelines

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/saas/saastest"
)

// Loops that work at once over one state make one run for each intent, and none is lost.
func TestLoopsAtOnce(t *testing.T) {
	s := newTestScene(t, saastest.Large(3, 12))
	publishAll(t, s)
	for round := range 6 {
		for i := range 3 {
			s.heads[fmt.Sprintf("https://github.com/acme/app-%03d main", i)] = saastest.Shas(round + 2)[round+1]
		}
		s.atOnce(4)
		checkRuns(t, s)
		s.end("True")
	}
	s.settle()
	for _, u := range s.units {
		if u.State != "same" {
			t.Errorf("in the end %+v", u)
		}
	}
}

// atOnce makes so many loops at once. Who is late finds that others wrote.
func (s *testScene) atOnce(n int) {
	act := integration.Actors{State: s.state,
		Cluster: func(context.Context, integration.ClusterRef) (integration.ClusterWriter, error) {
			return testCluster{testScene: s}, nil
		}}
	env := s.env()
	env.Log = nil
	var loops sync.WaitGroup
	for range n {
		loops.Go(func() { _ = New(s.services()).Run(s.t.Context(), env, act) })
	}
	loops.Wait()
}

// checkRuns holds that each intent has one run, and each cell at most one that is live.
func checkRuns(t *testing.T, s *testScene) {
	t.Helper()
	intents, live := map[string]string{}, map[string]string{}
	for key, raw := range s.objects {
		var run struct {
			Metadata struct{ Labels map[string]string }
		}
		if err := json.Unmarshal(raw, &run); err != nil {
			t.Fatal(err)
		}
		labels := run.Metadata.Labels
		if other := intents[labels["qontract.intent"]]; other != "" {
			t.Errorf("one intent has the runs %s and %s", key, other)
		}
		intents[labels["qontract.intent"]] = key
		cell := labels["qontract.saas_file_name"] + "/" + labels["qontract.env_name"]
		if strings.Contains(string(raw), `"conditions"`) {
			continue
		}
		if other := live[cell]; other != "" {
			t.Errorf("%s has the live runs %s and %s", cell, key, other)
		}
		live[cell] = key
	}
}
