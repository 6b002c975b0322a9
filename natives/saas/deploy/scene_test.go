package deploy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/kube"
	"github.com/app-sre/prcheck/natives/kube/writer"
	"github.com/app-sre/prcheck/natives/saas/promotion"
	"github.com/app-sre/prcheck/natives/saas/render"
	"github.com/app-sre/prcheck/natives/saas/saastest"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
)

// Commits of the tests.
const (
	old  = saastest.Sha
	next = "fedcba9876543210fedcba9876543210fedcba98"
)

// shopTemplate deploys a Deployment and a Service.
const shopTemplate = `apiVersion: template.openshift.io/v1
kind: Template
parameters:
- {name: REPLICAS, value: "1"}
- {name: LOG_LEVEL}
- {name: IMAGE_TAG, required: true}
- {name: PASSWORD, value: none}
objects:
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: shop}
  spec:
    replicas: ${{REPLICAS}}
    selector: {matchLabels: {app: shop}}
    template:
      metadata: {labels: {app: shop}}
      spec:
        containers:
        - name: shop
          image: quay.io/acme/shop:${IMAGE_TAG}
          env: [{name: LOG_LEVEL, value: "${LOG_LEVEL}"}, {name: GREETING, value: "${PASSWORD}"}]
- apiVersion: v1
  kind: Service
  metadata: {name: shop}
  spec: {selector: {app: shop}, ports: [{name: http, port: 80}]}
- apiVersion: v1
  kind: Secret
  metadata: {name: left-out}
`

// A forge holds repositories. It implements services.Repositories.
type forge struct {
	mu    sync.Mutex
	heads map[string]map[string]string            // by URL and branch
	files map[string]map[string]map[string]string // by URL, commit and path
	away  bool
	// isPrivate makes the repositories look as if they were not there for those without a password.
	isPrivate bool
	asked     []string
	got       []services.Repository
}

func (f *forge) note(of services.Repository, format string, args ...any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked, f.got = append(f.asked, fmt.Sprintf(format, args...)), append(f.got, of)
	if f.away {
		return errors.New("connection refused")
	}
	if f.isPrivate && of.Password == "" {
		return services.ErrNotThere
	}
	return nil
}

func (f *forge) Heads(_ context.Context, of services.Repository, branches []string) (map[string]string, error) {
	if err := f.note(of, "heads %s %s", of.URL, strings.Join(branches, " ")); err != nil {
		return nil, err
	}
	if f.heads[of.URL] == nil {
		return nil, services.ErrNotThere
	}
	out := map[string]string{}
	for _, b := range branches {
		if sha, ok := f.heads[of.URL][b]; ok {
			out[b] = sha
		}
	}
	return out, nil
}

func (f *forge) Log(context.Context, services.Repository, string, int) ([]string, error) {
	return nil, errors.New("nobody asks for the log")
}

func (f *forge) Files(_ context.Context, of services.Repository, commit, path string,
	deep bool) (map[string][]byte, error) {
	if err := f.note(of, "files %s %.7s %s", of.URL, commit, path); err != nil {
		return nil, err
	}
	text, ok := f.files[of.URL][commit]["/"+strings.TrimPrefix(path, "/")]
	if !ok {
		return nil, services.ErrNotThere
	}
	if deep { // a chart
		return map[string][]byte{"Chart.yaml": []byte(text)}, nil
	}
	return map[string][]byte{"": []byte(text)}, nil
}

// A bucket implements integration.BucketWriter.
type bucket struct {
	mu      sync.Mutex
	objects map[string]string
	away    bool
	puts    int
}

func (b *bucket) Get(_ context.Context, key string) ([]byte, string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.away {
		return nil, "", errors.New("the bucket does not answer")
	}
	text, ok := b.objects[key]
	if !ok {
		return nil, "", integration.ErrNotThere
	}
	return []byte(text), text, nil
}

func (b *bucket) Keys(_ context.Context, prefix string) ([]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.away {
		return nil, errors.New("the bucket does not answer")
	}
	var out []string
	for key := range b.objects {
		if strings.HasPrefix(key, prefix) {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out, nil
}

func (b *bucket) Put(_ context.Context, key string, raw []byte, version string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.objects[key] != version {
		return "", integration.ErrChanged
	}
	b.puts++
	b.objects[key] = string(raw)
	return string(raw), nil
}

func (b *bucket) Remove(context.Context, string, string) error { return errors.New("nobody removes") }

// A scene is the world of saastest with a cluster, a forge and a bucket.
type scene struct {
	*saastest.World
	cluster  *kubetest.Server
	forge    *forge
	bucket   *bucket
	registry services.Registry
	helm     render.HelmFunc
	state    state.Store
	own      string // settings as YAML
	change   func(*integration.Environment)
	access   kube.Access // of a real cluster; without a server it is the one in memory

	mu   sync.Mutex
	said []string
	log  bytes.Buffer
	now  time.Time
}

const shopURL = "https://github.com/acme/shop"

func newScene(t testing.TB) *scene {
	t.Helper()
	remembered, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{World: saastest.New(), cluster: kubetest.New(t), state: remembered,
		bucket: &bucket{objects: map[string]string{}}, now: time.Date(2026, 11, 23, 3, 0, 0, 0, time.UTC)}
	s.cluster.Working = true
	s.forge = &forge{heads: map[string]map[string]string{shopURL: {"main": next}},
		files: map[string]map[string]map[string]string{shopURL: {old: {"/openshift/template.yml": shopTemplate},
			next: {"/openshift/template.yml": shopTemplate}}}}
	for _, n := range []string{"shop-stage", "shop-production"} {
		s.cluster.Edit(t, "kubectl", "/api/v1/namespaces/"+n, func(map[string]any) {})
	}
	s.own = "records: s3://records\nhosts: [github.com]\nwait: 2s"
	return s
}

// push makes a commit on main with another content of a file; "" removes it.
func (s *scene) push(file, text string) {
	heads, files := s.forge.heads[shopURL], s.forge.files[shopURL]
	now := maps.Clone(files[heads["main"]])
	now[file] = text
	if text == "" {
		delete(now, file)
	}
	sha := fmt.Sprintf("%039xa", len(files))
	heads["main"], files[sha] = sha, now
}

// path returns the path of an object.
func path(namespace, kind, name string) string {
	if kind == "Deployment" {
		return "/apis/apps/v1/namespaces/" + namespace + "/deployments/" + name
	}
	return "/api/v1/namespaces/" + namespace + "/" + strings.ToLower(kind) + "s/" + name
}

// env returns the environment of a run. Base is nil outside of merge requests.
func (s *scene) env(t testing.TB, shard string, base *saastest.World) integration.Environment {
	t.Helper()
	s.said = nil
	s.log.Reset()
	env := integration.Environment{
		Integration: Name, Settings: settingsOf(t, s.own), Query: s.Query(t), Shard: shard, State: state.ReadOnly(s.state),
		Log: &s.log, Workers: 4,
		Now:    func() time.Time { return s.now },
		Secret: func(_ context.Context, ref integration.SecretRef) (string, error) { return "value-of-" + ref.Path, nil },
		Bucket: func(context.Context, string) (integration.BucketReader, error) { return s.bucket, nil },
		Cluster: func(_ context.Context, ref integration.ClusterRef) (integration.ClusterReader, error) {
			return kube.Open(s.reach(ref))
		},
		Report: func(f integration.Remark) {
			s.mu.Lock()
			defer s.mu.Unlock()
			text := fmt.Sprintf("%s %s %s%s %s", f.Severity, f.Code, f.File, f.Pointer, f.Message)
			if f.Old {
				text = "old " + text
			}
			if f.Effect != nil {
				text = fmt.Sprintf("%s %s %s", f.Action, f.Effect.Subject, f.Effect.Known.How)
			}
			if f.Unlooked != nil {
				text = fmt.Sprintf("unlooked %s %s: %s", f.Unlooked.What, f.Unlooked.Part, f.Unlooked.Why)
			}
			s.said = append(s.said, text)
		},
	}
	if base != nil {
		env.Base = base.Query(t)
	}
	if s.change != nil {
		s.change(&env)
	}
	return env
}

// reach returns how a cluster is reached, whatever address the data say.
func (s *scene) reach(ref integration.ClusterRef) kube.Access {
	if s.access.Server != "" {
		return s.access
	}
	return kube.Access{Name: ref.Name, Server: s.cluster.URL, Token: s.cluster.Token, Integration: Name}
}

func (s *scene) native() integration.Native {
	return New(Services{Repositories: s.forge, Registry: s.registry, Helm: s.helm})
}

// run makes the clusters as the data say, and returns what it wrote.
func (s *scene) run(t testing.TB, shard string) (writes []string, err error) {
	t.Helper()
	env := s.env(t, shard, nil)
	s.cluster.Forget()
	err = s.native().Run(t.Context(), env, s.actors())
	return s.writes(), err
}

// actors returns what a run may write with.
func (s *scene) actors() integration.Actors {
	return integration.Actors{State: s.state,
		Bucket: func(context.Context, string) (integration.BucketWriter, error) { return s.bucket, nil },
		Cluster: func(_ context.Context, ref integration.ClusterRef) (integration.ClusterWriter, error) {
			return writer.Open(s.reach(ref))
		}}
}

// dryRun says what a run would do; nothing may be written.
func (s *scene) dryRun(t testing.TB, shard string, base *saastest.World) error {
	t.Helper()
	env := s.env(t, shard, base)
	s.cluster.Forget()
	before := s.bucket.puts
	err := s.native().DryRun(t.Context(), env)
	if w := s.writes(); len(w) > 0 || s.bucket.puts != before {
		t.Errorf("the dry run wrote %q, and %d records", w, s.bucket.puts-before)
	}
	return err
}

// writes returns the requests that changed something.
func (s *scene) writes() []string {
	var out []string
	for _, r := range s.cluster.Writes() {
		words := strings.Split(r.Path, "/")
		out = append(out, r.Verb+" "+strings.Join(words[len(words)-3:], "/"))
	}
	slices.Sort(out)
	return out
}

// says reports whether a finding has all of these texts.
func (s *scene) says(texts ...string) bool {
	return slices.ContainsFunc(s.said, func(f string) bool {
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(f, text) })
	})
}

// fails reports whether a run would end with an error: its own, or a finding.
func (s *scene) fails(err error) bool {
	return err != nil || slices.ContainsFunc(s.said, func(f string) bool { return strings.HasPrefix(f, "error") })
}

// mustRun runs and wants no trouble.
func (s *scene) mustRun(t testing.TB, shard string) []string {
	t.Helper()
	writes, err := s.run(t, shard)
	if s.fails(err) {
		t.Fatalf("%v\n%s\n%s", err, strings.Join(s.said, "\n"), s.log.String())
	}
	return writes
}

// records returns the keys of the records of promotions, by their ends.
func (s *scene) records() map[string]string {
	out := map[string]string{}
	for key, text := range maps.All(s.bucket.objects) {
		if !strings.HasPrefix(key, promotion.Root) {
			continue
		}
		words := strings.Split(key, "/")
		out[words[len(words)-3]+" "+words[len(words)-1][:7]] = text
	}
	return out
}

// settingsOf returns the settings of the native as prcheck.yaml has them.
func settingsOf(t testing.TB, own string) settings.Integration {
	t.Helper()
	text := "version: 1\nintegrations:\n  " + Name + ":\n"
	if own != "" {
		text += "    settings:\n      " + strings.ReplaceAll(own, "\n", "\n      ") + "\n"
	}
	s, err := settings.Read("prcheck.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s.For(Name)
}
