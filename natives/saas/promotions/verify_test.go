package promotions

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/saas/ledger"
)

// A working cluster has Jobs, whose end a test says.
type working struct {
	integration.ClusterWriter
	jobs map[string]map[string]any
}

func (c working) Get(_ context.Context, ref integration.ObjectRef) (json.RawMessage, error) {
	if c.jobs[ref.Name] == nil {
		return nil, integration.ErrNotThere
	}
	return json.Marshal(c.jobs[ref.Name])
}

func (c working) Create(_ context.Context, ref integration.ObjectRef, raw json.RawMessage) (json.RawMessage, error) {
	var job map[string]any
	if err := json.Unmarshal(raw, &job); err != nil {
		return nil, err
	}
	job["metadata"].(map[string]any)["uid"] = fmt.Sprintf("uid-%d", len(c.jobs))
	c.jobs[ref.Name] = job
	return json.Marshal(job)
}

// end lets all Jobs end in a way.
func (c working) end(how string) {
	for _, job := range c.jobs {
		job["status"] = map[string]any{"conditions": []any{map[string]any{"type": how, "status": "True"}}}
	}
}

// A run that a Job verifies counts when the Job succeeded; until then, and while nobody knows, nothing downstream sees
// it. A Job that fails makes the commit bad. Each run has one Job.
func TestVerificationByJobs(t *testing.T) {
	for _, c := range []struct {
		name, how, gate string
		result          ledger.Result
	}{
		{"it succeeds", "Complete", "open", ledger.Good}, {"it fails", "Failed", "closed bad", ledger.Failed},
		{"it runs", "Suspended", "closed verify", ledger.Ended},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newTimeline(t, timelineCase{Start: "2026-01-05T08:00Z", Targets: []timelineTarget{
				{Name: "stage", App: "shop", File: "shop", Follows: "main"},
				{Name: "production", App: "shop", File: "shop", After: []string{"stage"}, Ref: "A"}}})
			cluster := working{jobs: map[string]map[string]any{}}
			p.jobs, p.begun, p.now = map[string]string{"stage": "quay.io/acme/smoke:1"}, true, p.start
			loop := func() {
				t.Helper()
				p.now = p.now.Add(5 * time.Minute)
				p.forge.now = p.now
				act := p.actors()
				act.Cluster = func(context.Context, integration.ClusterRef) (integration.ClusterWriter, error) {
					return cluster, nil
				}
				if err := p.native().Run(t.Context(), p.env(), act); err != nil {
					t.Fatal(err)
				}
			}
			p.code["shop"] = []string{"B", "A"}
			p.run("stage", "B", "ok")
			if got := p.gate("production", "B"); got != "closed verify" {
				t.Errorf("before anybody looked the gate is %s", got)
			}
			loop()
			loop()
			if len(cluster.jobs) != 1 {
				t.Fatalf("%d Jobs run: %v", len(cluster.jobs), cluster.jobs)
			}
			for _, job := range cluster.jobs {
				raw, err := json.Marshal(job)
				if err != nil || !strings.Contains(string(raw), commitOfLetter("shop", "B")) ||
					!strings.Contains(string(raw), `"activeDeadlineSeconds":600`) {
					t.Errorf("the Job is %s", raw)
				}
			}
			cluster.end(c.how)
			loop()
			if got := p.gate("production", "B"); got != c.gate {
				t.Errorf("the gate is %s, want %s", got, c.gate)
			}
			runs := p.books()["stage"].Runs
			if last := runs[len(runs)-1]; last.Check == nil || last.Check.Result != c.result {
				t.Errorf("the run is %+v", last)
			}
		})
	}
}

// A Job that has the name and the labels of one, but that no loop made, says nothing; a loop that was cut off right
// after it made one knows it again.
func TestForgedJobs(t *testing.T) {
	remembered := func(p *timeline, change func(madeJob) madeJob) {
		err := updateDocument(t.Context(), p.state, jobsKey, func(all map[string]madeJob) {
			for id, of := range all {
				all[id] = change(of)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		edit func(p *timeline, meta map[string]any)
		gate string
	}{
		"the same":            {func(*timeline, map[string]any) {}, "open"},
		"made anew by others": {func(_ *timeline, meta map[string]any) { meta["uid"] = "other" }, "closed verify"},
		"made before": {func(p *timeline, meta map[string]any) {
			remembered(p, func(of madeJob) madeJob { return madeJob{At: of.At, Mark: "x"} })
		}, "closed verify"},
		"of nobody": {func(p *timeline, _ map[string]any) {
			if err := p.state.Remove(t.Context(), jobsKey); err != nil {
				t.Fatal(err)
			}
		}, "closed verify"},
		"cut off": {func(p *timeline, _ map[string]any) {
			remembered(p, func(of madeJob) madeJob { return madeJob{At: of.At, Mark: of.Mark} })
		}, "open"},
	} {
		p := newTimeline(t, timelineCase{Start: "2026-01-05T08:00Z", Targets: []timelineTarget{
			{Name: "stage", App: "shop", File: "shop", Follows: "main"},
			{Name: "production", App: "shop", File: "shop", After: []string{"stage"}, Ref: "A"}}})
		cluster := working{jobs: map[string]map[string]any{}}
		p.jobs, p.begun, p.now = map[string]string{"stage": "quay.io/acme/smoke:1"}, true, p.start
		loop := func() {
			p.now = p.now.Add(5 * time.Minute)
			p.forge.now = p.now
			act := p.actors()
			act.Cluster = func(context.Context, integration.ClusterRef) (integration.ClusterWriter, error) {
				return cluster, nil
			}
			if err := p.native().Run(t.Context(), p.env(), act); err != nil {
				t.Fatal(err)
			}
		}
		p.code["shop"] = []string{"B", "A"}
		p.run("stage", "B", "ok")
		loop()
		for _, job := range cluster.jobs {
			c.edit(p, job["metadata"].(map[string]any))
		}
		cluster.end("Complete")
		loop()
		if got := p.gate("production", "B"); len(cluster.jobs) != 1 || got != c.gate {
			t.Errorf("%s: the gate is %s, want %s", name, got, c.gate)
		}
	}
}

// A Job of somebody else says nothing, and neither does one that cannot be read.
func TestJobsOfOthers(t *testing.T) {
	for _, raw := range []string{`{`, `{}`, `{"status": {"conditions": [{"type": "Complete", "status": "True"}]}}`,
		`{"metadata": {"labels": {"prcheck.saas/verifies": "b"}},
		  "status": {"conditions": [{"type": "Complete", "status": "True"}]}}`} {
		if got, err := resultOf([]byte(raw), "a"); got != ledger.Unknown || err == nil {
			t.Errorf("%s: got %q, %v", raw, got, err)
		}
	}
}

// A real API server takes the Job.
func TestRealVerificationJob(t *testing.T) {
	real := kubetest.Start(t)
	p := newTimeline(t, timelineCase{Start: "2026-01-05T08:00Z", Targets: []timelineTarget{
		{Name: "stage", App: "shop", File: "shop", Follows: "main"}}})
	p.jobs = map[string]string{"stage": "quay.io/acme/smoke:1"}
	m, in := p.model()
	of, _ := in.VerificationOf(p.found(m, "stage"))
	ref := integration.ObjectRef{Resource: jobsResource, Namespace: "default", Name: "saas-verify-x"}
	raw, err := json.Marshal(verificationJob(ref, "x", p.found(m, "stage"), of, commitOfLetter("shop", "A")))
	if err != nil {
		t.Fatal(err)
	}
	const at = "/apis/batch/v1/namespaces/default/jobs"
	code, answer := real.Send(t, "admin", "POST", at, "application/json", string(raw))
	if code != 201 {
		t.Errorf("%d %s", code, answer)
	}
}
