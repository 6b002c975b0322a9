//go:build !race

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/doubles/fakes3"
	"github.com/app-sre/prcheck/doubles/gitlabtest"
	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/internal/script"
)

// webTemplate is what the example deploys.
const webTemplate = `apiVersion: template.openshift.io/v1
kind: Template
parameters:
- {name: REPLICAS, value: "1"}
- {name: IMAGE_TAG, required: true}
objects:
- apiVersion: v1
  kind: Service
  metadata: {name: web}
  spec: {selector: {app: web}, ports: [{name: http, port: 80}]}
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web}
  spec:
    replicas: ${{REPLICAS}}
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: web, image: "REGISTRY/acme/web:${IMAGE_TAG}"}]}
`

// A shop is examples/saas with a cluster, a repository and a registry on this machine.
type shop struct {
	dir        string
	cluster    *kubetest.Server
	repository *gitlabtest.Repository
	env        []string
}

// newShop copies the example and lets its addresses lead to this machine.
func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{dir: t.TempDir(), cluster: kubetest.New(t)}
	s.cluster.Working = true
	for _, n := range []string{"shop-stage", "shop-production"} {
		s.cluster.Edit(t, "kubectl", "/api/v1/namespaces/"+n, func(map[string]any) {})
	}
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Docker-Content-Digest", "sha256:"+strings.Repeat("ab", 32)) // it has every image
	}))
	t.Cleanup(registry.Close)
	images := strings.TrimPrefix(registry.URL, "http://")
	s.repository = gitlabtest.NewRepository(t,
		map[string]string{"openshift/web.yml": strings.ReplaceAll(webTemplate, "REGISTRY", images)})
	code := httptest.NewServer(s.repository.ServeGit("/acme/shop.git", ""))
	t.Cleanup(code.Close)
	s.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	for name, value := range fakes3.Start(t).Environ() {
		s.env = append(s.env, name+"="+value)
	}
	if err := os.CopyFS(s.dir, os.DirFS("../../examples/saas")); err != nil {
		t.Fatal(err)
	}
	s.replace(t, "https://github.com/acme/shop", code.URL+"/acme/shop", "https://api.main.example.com:6443", s.cluster.URL,
		"quay.io/acme/", images+"/acme/",
		"3f1c9a0b5d7e8f60123456789abcdef012345678", s.repository.Head("main"))
	s.write(t, "prcheck.yaml", "version: 1\nsecrets: {files: {folder: "+filepath.Join(s.dir, "secrets")+
		"}}\nintegrations:\n  saas-deploy:\n    settings: {records: 's3://memory', hosts: [127.0.0.1], wait: 20s}\n")
	s.write(t, "secrets/clusters/main/token", s.cluster.Token)
	s.write(t, "secrets/clusters/main/server", s.cluster.URL)
	return s
}

// replace replaces texts in all datafiles.
func (s *shop) replace(t *testing.T, pairs ...string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(s.dir, "data"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, []byte(strings.NewReplacer(pairs...).Replace(string(raw))), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (s *shop) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// deploy runs the cell, and returns exit code and all output.
func (s *shop) deploy(t *testing.T, shard string, flags ...string) (int, string) {
	t.Helper()
	return s.do(t, "run", shard, flags...)
}

// do runs a command for the cell.
func (s *shop) do(t *testing.T, verb, shard string, flags ...string) (int, string) {
	t.Helper()
	args := []string{verb, "saas-deploy", "--bundle", "dir:.", "--config", "prcheck.yaml", "--state", "state", "--shard",
		shard, "--no-cache"}
	cmd := exec.Command(script.Program(t, "reconciler"), append(args, flags...)...) //nolint:gosec,noctx // the program that is tested
	cmd.Dir, cmd.Env = s.dir, s.env
	return script.Output(t, cmd)
}

// A cell is deployed by the program from a real repository, and the next cell follows when the
// promotion gate is open.
func TestReconcileSaas(t *testing.T) {
	s := newShop(t)
	code, text := s.deploy(t, "shop/stage", "--dry-run")
	if code != 0 || !strings.Contains(text, "create main/shop-stage/Deployment.apps/web") || len(s.cluster.Writes()) > 0 {
		t.Fatalf("the dry run: %d\n%s", code, text)
	}
	if code, text = s.deploy(t, "shop/production",
		"--no-dry-run"); code != 1 || !strings.Contains(text, "the promotion gate is closed") || len(s.cluster.Writes()) > 0 {
		t.Errorf("before the publisher: %d\n%s", code, text)
	}
	if code, text = s.deploy(t, "shop/stage", "--no-dry-run"); code != 0 {
		t.Fatalf("the run: %d\n%s", code, text)
	}
	o := s.cluster.Object("/apis/apps/v1/namespaces/shop-stage/deployments/web")
	raw, err := json.Marshal(o)
	if err != nil || !strings.Contains(string(raw), s.repository.Head("main")[:7]) {
		t.Errorf("got %s, %v", raw, err)
	}
	s.cluster.Forget()
	if code, text = s.deploy(t, "shop/stage", "--no-dry-run"); code != 0 || len(s.cluster.Writes()) > 0 {
		t.Errorf("again: %d, %v\n%s", code, s.cluster.Writes(), text)
	}
	s.replace(t, "      soakDays: 1\n", "")
	if code, text = s.deploy(t, "shop/production", "--no-dry-run"); code != 0 {
		t.Errorf("after the publisher: %d\n%s", code, text)
	}
	if got := s.cluster.Object("/apis/apps/v1/namespaces/shop-production/deployments/web"); got == nil {
		t.Errorf("there is no Deployment in production: %q", s.cluster.Paths())
	}
	if strings.Contains(text, s.cluster.Token) {
		t.Error("the token is shown")
	}
	if code, text = s.deploy(t, "shop/none", "--dry-run"); code != 3 {
		t.Errorf("a shard that does not exist: %d\n%s", code, text)
	}
}

// What openshift-saas-deploy made is taken over by a command of its own: dry unless somebody says
// otherwise, and with marks alone. The next run changes what differs.
func TestTakeOverSaas(t *testing.T) {
	s := newShop(t)
	if code, text := s.deploy(t, "shop/stage", "--no-dry-run"); code != 0 {
		t.Fatalf("the run: %d\n%s", code, text)
	}
	const service = "/api/v1/namespaces/shop-stage/services/web"
	const deployment = "/apis/apps/v1/namespaces/shop-stage/deployments/web"
	for _, path := range []string{service, deployment} {
		o := s.cluster.Object(path)
		s.cluster.Remove(path)
		s.cluster.Edit(t, "oc", path, func(made map[string]any) {
			made["spec"] = o["spec"]
			made["metadata"].(map[string]any)["annotations"] = map[string]any{"qontract.integration": "openshift-saas-deploy",
				"qontract.integration_version": "0.1.0", "qontract.caller_name": "shop"}
			if path == service {
				made["spec"].(map[string]any)["ports"].([]any)[0].(map[string]any)["port"] = int64(8080)
			}
		})
	}
	s.cluster.Forget()
	if code, text := s.deploy(t, "shop/stage", "--no-dry-run"); code != 1 || !strings.Contains(text, "OWNED_BY_OTHER") ||
		len(s.cluster.Writes()) > 0 {
		t.Errorf("before: %d, %v\n%s", code, s.cluster.Writes(), text)
	}
	if code, text := s.do(t, "take-over", "shop/stage", "--no-dry-run"); len(s.cluster.Writes()) > 0 {
		t.Errorf("without take_over_from: %d, %v\n%s", code, s.cluster.Writes(), text)
	}
	s.write(t, "prcheck.yaml", "version: 1\nsecrets: {files: {folder: "+filepath.Join(s.dir, "secrets")+
		"}}\nintegrations:\n  saas-deploy:\n    take_over_from: openshift-saas-deploy\n    settings: {records: "+
		"'s3://memory', hosts: [127.0.0.1], wait: 20s}\n")
	if code, text := s.do(t, "take-over",
		"shop/stage"); code != 0 || !strings.Contains(text, "main/shop-stage/Service/web") || len(s.cluster.Writes()) > 0 {
		t.Errorf("a dry run: %d, %v\n%s", code, s.cluster.Writes(), text)
	}
	was := s.cluster.Object(service)["spec"]
	if code, text := s.do(t, "take-over", "shop/stage", "--no-dry-run"); code != 0 {
		t.Errorf("the take-over: %d\n%s", code, text)
	}
	for _, path := range []string{service, deployment} {
		notes := s.cluster.Object(path)["metadata"].(map[string]any)["annotations"].(map[string]any)
		if notes["qontract.integration"] != "saas-deploy" || notes["qontract.caller_name"] != "shop" {
			t.Errorf("%s: got %v", path, notes)
		}
	}
	if now := s.cluster.Object(service)["spec"]; !reflect.DeepEqual(was, now) {
		t.Errorf("the take-over changed %v to %v", was, now)
	}
	if code, text := s.deploy(t, "shop/stage", "--no-dry-run"); code != 0 ||
		strings.Contains(fmt.Sprint(s.cluster.Object(service)["spec"]), "8080") {
		t.Errorf("the next run: %d, %v\n%s", code, s.cluster.Object(service)["spec"], text)
	}
}

// A merge request is checked by the program: it is told what it alters, and what the gate says.
func TestPrecheckSaas(t *testing.T) {
	s := newShop(t)
	if code, text := s.deploy(t, "shop/stage", "--no-dry-run"); code != 0 {
		t.Fatalf("the run: %d\n%s", code, text)
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=ana", "-c", "user.email=ana@example.org"}, args...)...) //nolint:gosec // the test's own words
		cmd.Dir, cmd.Env = s.dir, slices.Concat(s.env, []string{"GIT_CONFIG_NOSYSTEM=1"})
		if code, text := script.Output(t, cmd); code != 0 {
			t.Fatalf("git %v: %d\n%s", args, code, text)
		}
	}
	git("init", "-q", "-b", "main")
	git("add", "data", "schemas", "graphql-schemas", "prcheck.yaml")
	git("commit", "-q", "-m", "base")
	s.replace(t, "REPLICAS: 1", "REPLICAS: 2")
	git("commit", "-q", "-a", "-m", "change")
	s.cluster.Forget()
	cmd := exec.CommandContext(t.Context(), script.Program(t, "runner"), "precheck", "--base", "git:main~1", "--head", "git:main", "--config", "base:prcheck.yaml", "--no-baseline") //nolint:gosec // the program that is tested
	cmd.Dir, cmd.Env = s.dir, s.env
	code, text := script.Output(t, cmd)
	for _, want := range []string{"saas-deploy/shop/stage", "/spec/replicas", "Deployment.apps shop-stage/web"} {
		if !strings.Contains(text, want) {
			t.Errorf("nobody says %q", want)
		}
	}
	if writes := s.cluster.Writes(); code != 0 || len(writes) > 0 || strings.Contains(text, "shop/production") {
		t.Errorf("got exit code %d, %v", code, writes)
	}
	if t.Failed() {
		t.Log(text)
	}
}
