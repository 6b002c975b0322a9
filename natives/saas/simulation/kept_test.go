package simulation

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/app-sre/prcheck/ci"
	"github.com/app-sre/prcheck/doubles/gitlabtest"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/pipelines/decide"
	"github.com/app-sre/prcheck/natives/saas/promotions"
	"github.com/app-sre/prcheck/plan"
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
	client, err := ci.NewForge(ci.Options{API: "https://gitlab.test/api/v4", Token: ci.Token{Value: "token"},
		Transport: wire{server}}, gitlabtest.ProjectPath)
	if err != nil {
		w.t.Fatal(err)
	}
	k.forge = &simulatedForge{Forge: client, repo: w.Repository}
	if w.size.files < quarter.files {
		k.forge.holds = w.hold
	}
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

// changed implements system. What nobody ran yet makes no difference for a promotion.
func (k *keeping) changed(f *file, kinds ...decide.Kind) {
	k.kept[f].due = k.kept[f].due || slices.Contains(kinds, decide.Config)
	k.system.changed(f, kinds...)
}

func (k *keeping) ended(r *run) {
	k.kept[r.cell.file].due = k.kept[r.cell.file].due || r.cell.env == "stage"
	k.system.ended(r)
}

func (k *keeping) believes(t *target) (done bool, why string) { return k.system.believes(t) }

// promote is one loop.
func (k *keeping) promote() {
	k.SetTime(k.now)
	for _, f := range k.files {
		of := k.kept[f]
		checks := k.checksOf(of)
		if of.due || of.slo != f.slo || checks != of.checks || !of.again.IsZero() && !k.now.Before(of.again) {
			of.due, of.slo = false, f.slo
			k.keep(f, of)
			of.checks = k.checksOf(of) // what it pushed itself is no news
		}
	}
}

// checksOf returns how the checks of what is on the branch of a file stand.
func (k *keeping) checksOf(of *kept) string {
	head := k.Head(of.branch)
	if of.branch == "" || head == "" {
		return ""
	}
	return head + k.PipelineOf(head)
}

// keep lets the product keep the merge request of a file.
func (k *keeping) keep(f *file, of *kept) {
	c := promotions.Component{Branch: gitlabtest.DefaultBranch, Files: []string{f.path()}, AutoMerge: true,
		Patience: patience, RetryAfter: 24 * time.Hour, Now: k.now,
		MainHead: k.Head(gitlabtest.DefaultBranch), Memory: of.memory}
	of.again = time.Time{}
	wanted := false
	for _, t := range f.cells[1].targets {
		d := k.observe(t)
		if d.Opens.After(k.now) && (of.again.IsZero() || d.Opens.Before(of.again)) {
			of.again = d.Opens
		}
		wanted = wanted || d.Ref != t.ref
		c.Targets = append(c.Targets, promotions.Candidate{Target: f.target(t), Question: k.question(t)})
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
	// What is wanted and not shown waits for checks that are tried again, or for another merge request.
	wanted = wanted || bytes.Contains(memory, []byte(`"begun"`)) || k.Head(of.branch) != ""
	if wanted && (of.again.IsZero() || of.again.After(k.now.Add(patience))) {
		of.again = k.now.Add(patience)
	}
}

// target returns a target as the model of saas files has it.
func (f *file) target(t *target) *saas.Target {
	of := &saas.Template{File: &saas.File{Name: f.name, Path: f.path()}, Name: "t-" + strconv.Itoa(t.template),
		URL: f.repo.url}
	return &saas.Target{Template: of, Ref: t.ref,
		Place: plan.Place{File: f.path(), Pointer: "/resourceTemplates/" + strconv.Itoa(t.template) + "/targets/1"},
		Namespace: saas.Namespace{Path: "/services/" + f.name + "/namespaces/" + t.cell.env + ".yml", Name: t.cell.env,
			Cluster: &saas.Cluster{Name: "c"}}}
}
