package simulation

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/ci"
	"github.com/app-sre/prcheck/doubles/gitlabtest"
	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/kube"
	"github.com/app-sre/prcheck/natives/kube/writer"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/deploy"
	"github.com/app-sre/prcheck/natives/saas/pipelines"
	"github.com/app-sre/prcheck/natives/saas/promotions"
	"github.com/app-sre/prcheck/natives/saas/saastest"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
)

// A whole world has no model: the three natives themselves, a cluster whose Jobs run saas-deploy in
// this process, a repository of code, and GitLab with the data.
type whole struct {
	t        *testing.T
	data     *saastest.World
	cluster  *kubetest.Server
	repo     *gitlabtest.Repository
	code     []string          // commits of the code, newest first
	template map[string]string // by commit
	bucket   bucket
	state    state.Store
	now      time.Time
	log      bytes.Buffer
	held     []string            // why cells and targets wait in the last loop
	wrong    []string            // findings that fail a run
	jobs     map[string][]string // cell and end of each, by path
}

const (
	wholePath = "data" + saastest.File
	wholeText = `# the shop
name: shop
resourceTemplates:
- name: shop
  targets:
  - namespace: {$ref: ` + saastest.Stage + `}
    ref: main
    promotion: {publish: [shop-stage]}
  - namespace: {$ref: ` + saastest.Production + `}
    ref: ` + saastest.Sha + ` # prod
    promotion: {auto: true, subscribe: [shop-stage]}
`
	wholeTemplate = `{"kind": "Template", "apiVersion": "template.openshift.io/v1", "parameters": [{"name": "IMAGE_TAG"}], "objects": [
{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "shop"}, "spec": {"selector": {"tag": "t${IMAGE_TAG}"}, "ports": [{"port": 80}]}}]}`
)

func newWhole(t *testing.T) *whole {
	dir, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &whole{t: t, data: saastest.New(), cluster: kubetest.New(t),
		repo:     gitlabtest.NewRepository(t, map[string]string{wholePath: wholeText}),
		template: map[string]string{}, bucket: bucket{}, state: dir, now: begin.Add(9 * time.Hour),
		jobs: map[string][]string{}}
	w.cluster.Working = true
	for _, name := range []string{"shop-stage", "shop-production"} {
		w.cluster.Edit(t, "kubectl", "/api/v1/namespaces/"+name, func(map[string]any) {})
	}
	w.push(saastest.Sha, wholeTemplate)
	return w
}

// push commits to the code.
func (w *whole) push(commit, template string) {
	w.code = append([]string{commit}, w.code...)
	w.template[commit] = template
}

func (w *whole) Heads(context.Context, services.Repository, []string) (map[string]string, error) {
	return map[string]string{"main": w.code[0]}, nil
}

func (w *whole) Log(_ context.Context, _ services.Repository, commit string, limit int) ([]string, error) {
	from := w.code[slices.Index(w.code, commit):]
	return from[:min(len(from), limit)], nil
}

func (w *whole) Files(_ context.Context, _ services.Repository, commit, _ string, _ bool) (map[string][]byte, error) {
	return map[string][]byte{"": []byte(w.template[commit])}, nil
}

var production = regexp.MustCompile(`ref: ([0-9a-f]{40}) # prod`)

// query answers over the data of main.
func (w *whole) query() integration.QueryFunc {
	text, _ := w.repo.File(gitlabtest.DefaultBranch, wholePath)
	now := w.data.Clone()
	now.Target(saastest.File, 0, 1)["ref"] = production.FindStringSubmatch(text)[1]
	return now.Query(w.t)
}

// env returns the environment of a native.
func (w *whole) env(name, own, shard string) integration.Environment {
	rules, err := settings.Read("prcheck.yaml", []byte("version: 1\nintegrations:\n  "+name+":\n    settings: "+own+"\n"))
	if err != nil {
		w.t.Fatal(err)
	}
	return integration.Environment{
		Integration: name, Settings: rules.For(name), Query: w.query(), Shard: shard, State: state.ReadOnly(w.below(name)),
		Log: &w.log, Workers: 2,
		Now:    func() time.Time { return w.now },
		Secret: func(context.Context, integration.SecretRef) (string, error) { return "token", nil },
		Bucket: func(context.Context, string) (integration.BucketReader, error) { return w.bucket, nil },
		Cluster: func(_ context.Context, ref integration.ClusterRef) (integration.ClusterReader, error) {
			return kube.Open(w.access(name, ref))
		},
		Report: func(f integration.Remark) {
			if f.Fails() {
				w.wrong = append(w.wrong, f.Message)
			}
		},
		Stand: func(s integration.Standing) {
			if s.Hold != "" {
				w.held = append(w.held, s.Key+": "+s.Hold)
			}
		},
	}
}

func (w *whole) below(name string) state.Store { return state.ForNative(w.state, name) }

func (w *whole) access(name string, ref integration.ClusterRef) kube.Access {
	return kube.Access{Name: ref.Name, Server: w.cluster.URL, Token: w.cluster.Token, Integration: name}
}

// run runs a native.
func (w *whole) run(of integration.Native, own, shard string) error {
	return of.Run(w.t.Context(), w.env(of.Name(), own, shard), integration.Actors{State: w.below(of.Name()),
		Bucket: func(context.Context, string) (integration.BucketWriter, error) { return w.bucket, nil },
		Cluster: func(_ context.Context, ref integration.ClusterRef) (integration.ClusterWriter, error) {
			return writer.Open(w.access(of.Name(), ref))
		},
	})
}

// runJobs does what a cluster does with new Jobs: it runs their commands, and says how they ended.
func (w *whole) runJobs() {
	for _, path := range w.cluster.Paths() {
		job := w.cluster.Object(path)
		if !strings.Contains(path, "/jobs/") || w.jobs[path] != nil {
			continue
		}
		pod := job["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
		var args []string
		for _, a := range pod["containers"].([]any)[0].(map[string]any)["args"].([]any) {
			args = append(args, a.(string))
		}
		if len(args) != 5 || args[0] != "reconcile" || args[1] != deploy.Name || args[2] != "--shard" ||
			args[4] != "--no-dry-run" {
			w.t.Fatalf("the Job runs %q", args)
		}
		condition := "Complete"
		w.wrong = nil
		if err := w.run(deploy.New(deploy.Services{Repositories: w}), "{records: s3://records, wait: 1s}",
			args[3]); err != nil || len(w.wrong) > 0 {
			condition = "Failed" // runner ends with 1
		}
		w.jobs[path] = []string{args[3], condition}
		w.cluster.Edit(w.t, "job-controller", path, func(o map[string]any) {
			o["status"] = map[string]any{"conditions": []any{map[string]any{"type": condition, "status": "True"}}}
		})
	}
}

// forge returns the product's client of a GitLab.
func forgeOf(t *testing.T, of *gitlabtest.Repository) services.ForgeWriter {
	f, err := ci.NewForge(ci.Options{API: "https://gitlab.test/api/v4", Token: ci.Token{Value: "token"},
		Transport: wire{&gitlabtest.Server{Token: "token", Repository: of}}}, gitlabtest.ProjectPath)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// loop runs both loops once, and the Jobs between them.
func (w *whole) loop() {
	w.t.Helper()
	w.now, w.held = w.now.Add(5*time.Minute), nil
	w.log.Reset()
	if err := w.run(pipelines.New(pipelines.Services{Repositories: w}),
		"{records: s3://records, take_over: false, executor: native, native: {image: quay.io/acme/runner}}", ""); err != nil {
		w.t.Fatalf("%v\n%s", err, w.log.String())
	}
	w.runJobs()
	promoter := promotions.New(promotions.Services{Repositories: w,
		Forge: func(promotions.Project) (services.ForgeWriter, error) { return forgeOf(w.t, w.repo), nil }})
	if err := w.run(promoter,
		"{records: s3://records, folder: data, forge: {url: https://gitlab.test, project: group/project, token: {path: a, field: b}}}", ""); err != nil {
		w.t.Fatalf("%v\n%s", err, w.log.String())
	}
}

// runs returns how the Jobs of a cell ended, in any order.
func (w *whole) runs(cell string) string {
	var out []string
	for _, job := range w.jobs {
		if job[0] == cell {
			out = append(out, job[1])
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// tag returns what runs in a namespace.
func (w *whole) tag(namespace string) string {
	o := w.cluster.Object("/api/v1/namespaces/" + namespace + "/services/shop")
	if o == nil {
		return ""
	}
	return fmt.Sprint(o["spec"].(map[string]any)["selector"].(map[string]any)["tag"])
}

// model returns the model of the data of main.
func (w *whole) model() *saas.Model {
	m, err := saas.Read(w.t.Context(), w.query(), saas.Settings{})
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}
