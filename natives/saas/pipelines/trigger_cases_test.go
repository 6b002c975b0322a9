package pipelines

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/pipelines/decide"
)

// A triggerCase is a case of the areas trigger_moving_commit, trigger_upstream and trigger_images.
type triggerCase struct {
	Input struct {
		File     string `json:"saas_file"`
		Template string `json:"rt"`
		URL      string
		Cluster  string
		Name     string `json:"namespace"`
		Env      string
		Ref      string
		Images   []string
		Upstream *struct{ Instance, ServerURL, Name string }
		Stored   json.RawMessage
		Head     string
		Builds   []struct {
			Number int
			Result *string
			Commit string `json:"commit_sha"`
		}
		HashLength         int      `json:"hash_length"`
		TemplateHashLength int      `json:"rt_hash_length"`
		Existing           any      `json:"existing_tags"`
		Trace              bool     `json:"trace"`
		Patterns           []string `json:"imagePatterns"`
		DryRun             bool     `json:"dry_run"`
	}
	Expected struct {
		Trigger  *bool
		Reason   *string
		StateKey string          `json:"state_key"`
		New      json.RawMessage `json:"new_state"`
		Written  *bool           `json:"state_written"`
		Ref      string          `json:"target_ref"`
		Build    int
	}
}

// target returns the target of a case.
func (c triggerCase) target() *saas.Target {
	in := c.Input
	file := &saas.File{Name: in.File, ImagePatterns: in.Patterns}
	t := &saas.Target{
		Template: &saas.Template{File: file, Name: in.Template, URL: in.URL, HashLength: in.TemplateHashLength}, Ref: in.Ref,
		Namespace: saas.Namespace{Name: in.Name, Environment: &saas.Environment{Name: in.Env},
			Cluster: &saas.Cluster{Name: in.Cluster}},
	}
	for _, i := range in.Images {
		parts := strings.SplitN(i, "/", 3)
		t.Images = append(t.Images, saas.Image{Registry: parts[0], Org: parts[1], Name: parts[2]})
	}
	if up := in.Upstream; up != nil {
		t.Upstream = &saas.Upstream{Instance: up.Instance, ServerURL: up.ServerURL, Job: up.Name}
	}
	return t
}

// asker returns an asker that was answered as the case says.
func (c triggerCase) asker(t *testing.T, of *saas.Target) *asker {
	s := &testScene{t: t, asked: map[string]int{}, images: map[string]bool{}}
	if list, ok := c.Input.Existing.([]any); ok {
		for _, i := range c.Input.Images {
			s.images[i+":"+c.Input.Head[:min(len(c.Input.Head), c.Input.HashLength)]] = false
		}
		for _, i := range list {
			s.images[i.(string)] = true
		}
	}
	a := newAsker(s.services(), integration.Environment{}.WithDefaults(), ownSettings{Trace: c.Input.Trace},
		&saas.Model{HashLength: c.Input.HashLength}, nil)
	a.heads[saas.Source{Address: c.Input.URL}] = &headsAnswer{heads: map[string]string{c.Input.Ref: c.Input.Head}}
	if up := of.Upstream; up != nil {
		answer := &buildsAnswer{builds: map[string][]services.Build{up.Job: {}}}
		for _, b := range c.Input.Builds {
			build := services.Build{Number: b.Number, Commit: b.Commit}
			if b.Result != nil {
				build.Result = *b.Result
			}
			answer.builds[up.Job] = append(answer.builds[up.Job], build)
		}
		a.builds[saas.Source{Address: up.ServerURL}] = answer
	}
	return a
}

// check runs a case: its target is applied as the old program remembers it.
func (c triggerCase) check(t *testing.T, kind decide.Kind, signal saas.Signal) {
	of := c.target()
	if want := c.Expected.StateKey; want != "" && of.StateKey(signal) != want {
		t.Errorf("state key %s, want %s", of.StateKey(signal), want)
	}
	applied := decide.Applied{Key: "t", Values: decide.Values{decide.Config: "same"}, TakenOver: true}
	if len(c.Input.Stored) > 0 && string(c.Input.Stored) != "null" {
		if err := remember(&applied, signal, c.Input.Stored); err != nil {
			t.Fatal(err)
		}
	}
	signals := append([]decide.Signal{{Kind: decide.Config, Value: "same"}},
		c.asker(t, of).look(t.Context(), of, applied.Values)...)
	cell := decide.Cell{Key: "c", Targets: []decide.WatchedTarget{{UID: "t", Key: "t", Label: "t", Signals: signals}},
		Gates: &decide.Gates{}}
	memory := decide.Memory{Targets: map[string]decide.Applied{"t": applied}}
	policy := decide.Policy{NewID: func(string, string) string {
		return "id"
	}, Name: func(string, string) string { return "run" }}
	d := decide.Decide(cell, memory, policy, time.Time{})
	c.compare(t, kind, applied, d)
}

// compare compares a decision with what the case expects.
func (c triggerCase) compare(t *testing.T, kind decide.Kind, was decide.Applied, d decide.Decision) {
	want := c.Expected
	if want.Trigger != nil && (d.State == decide.Start) != *want.Trigger {
		t.Fatalf("%s %q, want trigger %v", d.State, d.Hold, *want.Trigger)
	}
	if is := d.Memory.Targets["t"].Values[kind] != was.Values[kind]; want.Written != nil && !c.Input.DryRun &&
		is != *want.Written {
		t.Errorf("remembered %v, want it written: %v", d.Memory.Targets["t"], *want.Written)
	}
	if d.State != decide.Start {
		return
	}
	if want.Reason != nil && d.Reasons[0].Text != *want.Reason {
		t.Errorf("reason %q, want %q", d.Reasons[0].Text, *want.Reason)
	}
	if want.Ref != "" && d.Reasons[0].Ref != want.Ref {
		t.Errorf("ref %q, want %q", d.Reasons[0].Ref, want.Ref)
	}
	value := d.Memory.Intent.Holds["t"][kind]
	if want.Build > 0 && value != fmt.Sprint(want.Build) {
		t.Errorf("build %s, want %d", value, want.Build)
	}
	if len(want.New) == 0 {
		return
	}
	next := decide.Applied{Values: decide.Values{}}
	signal := map[decide.Kind]saas.Signal{decide.Commit: saas.SignalCommit, decide.Upstream: saas.SignalUpstream,
		decide.Image: saas.SignalImages}[kind]
	if err := remember(&next, signal, want.New); err != nil || next.Values[kind] != value {
		t.Errorf("new state %q, want %s, %v", value, want.New, err)
	}
}

func TestMovingCommitCases(t *testing.T) {
	shared.Each(t, "trigger_moving_commit", func(t *testing.T, c triggerCase) {
		c.check(t, decide.Commit, saas.SignalCommit)
	})
}

func TestUpstreamCases(t *testing.T) {
	shared.Each(t, "trigger_upstream", func(t *testing.T, c triggerCase) {
		c.check(t, decide.Upstream, saas.SignalUpstream)
	})
}

func TestImagesCases(t *testing.T) {
	shared.Each(t, "trigger_images", func(t *testing.T, c triggerCase) { c.check(t, decide.Image, saas.SignalImages) })
}

// An sloCase is a case of the area trigger_config_slo.
type sloCase struct {
	Input struct {
		Spec     sloSpec
		Specs    []sloSpec
		Hotfix   []string `json:"hotfix_versions"`
		Breached []sloSpec
	}
	Expected struct{ Kept any }
}

type sloSpec struct {
	Doc       string `json:"slo_document"`
	Cluster   string
	Namespace string
	Ref       string `json:"target_ref"`
}

func TestConfigSLOCases(t *testing.T) {
	shared.Each(t, "trigger_config_slo", func(t *testing.T, c sloCase) {
		specs := c.Input.Specs
		if specs == nil {
			specs = []sloSpec{c.Input.Spec}
		}
		cell := decide.Cell{Key: "c", Gates: &decide.Gates{}}
		for i, spec := range specs {
			uid := fmt.Sprint(i)
			cell.Targets = append(cell.Targets, decide.WatchedTarget{UID: uid, Key: uid, Label: uid,
				Hotfix: slices.Contains(c.Input.Hotfix, spec.Ref), Signals: []decide.Signal{{Kind: decide.Config, Value: "new"}}})
			cell.Gates.Gates = append(cell.Gates.Gates, c.gates(t, spec)...)
		}
		d := decide.Decide(cell, decide.Memory{}, decide.Policy{NewID: func(string, string) string { return "id" },
			Name: func(string, string) string { return "run" }}, time.Time{})
		kept := 0
		if d.State == decide.Start {
			kept = len(specs)
		}
		want := 0
		switch n := c.Expected.Kept.(type) {
		case float64:
			want = int(n)
		case []any:
			want = len(n)
		}
		if kept != want {
			t.Errorf("%s %q: %d kept, want %d", d.State, d.Hold, kept, want)
		}
	})
}

// gates asks the objectives of a spec. Those of breached documents are measured below their target.
func (c sloCase) gates(t *testing.T, spec sloSpec) []decide.Gate {
	s := &testScene{t: t, asked: map[string]int{}, value: 1}
	at := func(b sloSpec) bool {
		return b.Doc == spec.Doc && b.Cluster == spec.Cluster && b.Namespace == spec.Namespace
	}
	if slices.ContainsFunc(c.Input.Breached, at) {
		s.value = 0
	}
	target := &saas.Target{Namespace: saas.Namespace{Name: spec.Namespace, Cluster: &saas.Cluster{Name: spec.Cluster}},
		SLOs: []*saas.SLODocument{{Name: spec.Doc,
			Namespaces: []saas.SLONamespace{{Cluster: spec.Cluster, Namespace: spec.Namespace}},
			SLOs:       []saas.SLO{{Name: "slo", Target: 0.5}}}}}
	return newAsker(s.services(), integration.Environment{}.WithDefaults(), ownSettings{}, &saas.Model{},
		nil).objectives(t.Context(), target)
}
