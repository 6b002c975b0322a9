package simulation

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"time"

	"github.com/app-sre/prcheck/ci"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/integrations/saas"
	"github.com/app-sre/prcheck/integrations/saas/pipelines/decide"
	"github.com/app-sre/prcheck/integrations/saas/promotions"
	"github.com/app-sre/prcheck/internal/gitlabtest"
	"github.com/app-sre/prcheck/reconcile"
)

// A keeping is our promotions: the product's code decides and writes, over the product's client of
// GitLab. A loop is every five minutes, and looks at the files of which something may differ.
type keeping struct {
	*world
	system
	forge *simulatedForge
	kept  map[*file]*kept
}

// A kept file is what the loop knows of a saas file.
type kept struct {
	memory json.RawMessage
	due    bool
	again  time.Time // when time alone may change something; zero for never
	slo    bool
	branch string
	checks string // of the branch, as they were seen last
}

// loopEvery is how often the loop of promotions looks, and patience how long an open merge request
// is not changed for something newer.
const (
	loopEvery = 5 * time.Minute
	patience  = time.Hour
)

func newKeeping(w *world, of system) *keeping {
	k := &keeping{world: w, system: of, kept: map[*file]*kept{}}
	server := &gitlabtest.Server{Token: "token", Repository: w.Repository}
	client, err := ci.NewForge(ci.Options{API: "https://gitlab.test/api/v4", Token: ci.Token{Value: "token"}, Transport: wire{server}}, gitlabtest.ProjectPath)
	if err != nil {
		w.t.Fatal(err)
	}
	k.forge = &simulatedForge{Forge: client, repo: w.Repository}
	for _, f := range w.files {
		k.kept[f] = &kept{due: true}
	}
	k.next()
	return k
}

func (k *keeping) next() {
	k.in(loopEvery, func() {
		k.promote()
		k.next()
	})
}

func (k *keeping) wake() {}

// changed implements system: what may differ for a run may differ for a promotion.
func (k *keeping) changed(f *file, kinds ...decide.Kind) {
	k.kept[f].due = true
	k.system.changed(f, kinds...)
}

func (k *keeping) ended(r *run) {
	k.kept[r.cell.file].due = true
	k.system.ended(r)
}

func (k *keeping) believes(t *target) (done bool, why string) { return k.system.believes(t) }

// promote is one loop.
func (k *keeping) promote() {
	k.SetTime(k.now)
	for _, f := range k.files {
		of := k.kept[f]
		checks := ""
		if head := k.Head(of.branch); of.branch != "" && head != "" {
			checks = head + k.PipelineOf(head)
		}
		if of.due || of.slo != f.slo || checks != of.checks || !of.again.IsZero() && !k.now.Before(of.again) {
			of.due, of.slo, of.checks = false, f.slo, checks
			k.keep(f, of)
		}
	}
}

// keep lets the product keep the merge request of a file.
func (k *keeping) keep(f *file, of *kept) {
	c := promotions.Component{Branch: gitlabtest.DefaultBranch, Files: []string{f.path()}, AutoMerge: true, Patience: patience, RetryAfter: 24 * time.Hour, Now: k.now,
		MainHead: k.Head(gitlabtest.DefaultBranch), Memory: of.memory}
	of.again = time.Time{}
	for _, t := range f.cells[1].targets {
		d := k.observe(t)
		if d.Opens.After(k.now) && (of.again.IsZero() || d.Opens.Before(of.again)) {
			of.again = d.Opens
		}
		c.Targets = append(c.Targets, promotions.Target{Target: f.target(t), Question: k.question(t)})
	}
	did, memory, err := promotions.Keep(context.Background(), k.forge, c)
	if err != nil {
		k.t.Fatalf("%s: %v", f.name, err)
	}
	of.memory = memory
	of.branch = k.forge.last
	if slices.Contains(did, "commit") {
		k.pushes++
	}
	if head := k.Head(of.branch); head != "" && (of.again.IsZero() || of.again.After(k.now.Add(patience))) {
		of.again = k.now.Add(patience)
	}
}

// target returns a target as the model of saas files has it.
func (f *file) target(t *target) *saas.Target {
	of := &saas.Template{File: &saas.File{Name: f.name, Path: f.path()}, Name: "t-" + strconv.Itoa(t.template), URL: f.repo.url}
	return &saas.Target{Template: of, Ref: t.ref, Place: reconcile.Place{File: f.path(), Pointer: "/resourceTemplates/" + strconv.Itoa(t.template) + "/targets/1"},
		Namespace: saas.Namespace{Path: "/services/" + f.name + "/namespaces/" + t.cell.env + ".yml", Name: t.cell.env, Cluster: &saas.Cluster{Name: "c"}}}
}

// A simulatedForge is the product's client, which asks the server directly for what it asks often.
type simulatedForge struct {
	*ci.Forge
	repo *gitlabtest.Repository
	last string // branch that was asked for
}

func (s *simulatedForge) Branches(_ context.Context, prefix string) (map[string]string, error) {
	s.last = prefix
	out := map[string]string{}
	if head := s.repo.Head(prefix); head != "" {
		out[prefix] = head
	}
	return out, nil
}

func (s *simulatedForge) MergeRequests(_ context.Context, prefix string) ([]services.MergeRequest, error) {
	var out []services.MergeRequest
	for _, m := range s.repo.OpenMergeRequests() {
		if m.Source != prefix {
			continue
		}
		states := map[string]services.Checks{"success": services.ChecksPassed, "failed": services.ChecksFailed}
		out = append(out, services.MergeRequest{Number: m.IID, Branch: m.Source, Head: m.Head, State: services.MergeOpen, Title: m.Title, Description: m.Description,
			Labels: m.Labels, Conflicts: s.repo.Conflicts(m.IID), Checks: states[s.repo.PipelineOf(m.Head)], Armed: m.Armed, Opened: m.Opened})
	}
	return out, nil
}

// A wire is a transport that calls a server without a network.
type wire struct{ http.Handler }

func (w wire) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		raw, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(raw))
	}
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, req)
	return rec.Result(), nil
}
