package deploy

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/natives/saas/saastest"
)

const stageNamespace = "/api/v1/namespaces/shop-stage"

// A run waits for a namespace that is not there yet; a dry run says so.
func TestNamespaceThatIsNotThereYet(t *testing.T) {
	s := newScene(t)
	s.cluster.Remove(stageNamespace)
	if err := s.dryRun(t, "shop/stage", s.Clone()); s.fails(err) ||
		!s.says("note SAAS_PARTLY", "c-1/shop-stage is not there yet; a run waits for it") {
		t.Errorf("a dry run: got %v, %s", err, strings.Join(s.said, "\n"))
	}
	s.own = strings.Replace(s.own, "wait: 2s", "wait: 100ms", 1)
	if writes, err := s.run(t, "shop/stage"); err == nil || len(writes) > 0 ||
		!strings.Contains(err.Error(), "the namespace c-1/shop-stage is still not there after 100ms") {
		t.Errorf("without the namespace: got %v, %v, %s", writes, err, strings.Join(s.said, "\n"))
	}
	s.own = strings.Replace(s.own, "wait: 100ms", "wait: 10s", 1)
	looks := 0
	s.cluster.Fail(func(r *http.Request) *kubetest.Fault {
		if r.Method == http.MethodGet && r.URL.Path == stageNamespace {
			if looks++; looks == 2 {
				s.cluster.Edit(t, "kubectl", stageNamespace, func(map[string]any) {})
			}
		}
		return nil
	})
	if writes := s.mustRun(t, "shop/stage"); len(writes) != 2 || looks != 2 ||
		!strings.Contains(s.log.String(), "waiting for the namespace c-1/shop-stage") {
		t.Errorf("got %v after %d looks", writes, looks)
	}
	s.cluster.Fail(nil)
	if writes := s.mustRun(t, "shop/stage"); len(writes) > 0 {
		t.Errorf("a quiet run wrote %v", writes)
	}
}

// A saas file that says compare: false has its objects applied in each run of one cell.
func TestWithoutComparison(t *testing.T) {
	s := newScene(t)
	s.Set(saastest.File, false, "compare")
	s.mustRun(t, "shop/stage")
	if writes := s.mustRun(t, "shop/stage"); len(writes) != 2 {
		t.Errorf("got %v", writes)
	}
	if err := s.dryRun(t, "shop/stage", nil); s.fails(err) || s.says("update ") {
		t.Errorf("a dry run: got %v, %s", err, strings.Join(s.said, "\n"))
	}
	if writes, _ := s.run(t, ""); slices.ContainsFunc(writes, func(w string) bool {
		return strings.Contains(w, "shop-stage")
	}) {
		t.Errorf("a run of all cells wrote %v", writes)
	}
}

// usingTemplate is a Deployment that uses Secrets and ConfigMaps, and a Service that gets a certificate.
const usingTemplate = `apiVersion: template.openshift.io/v1
kind: Template
objects:
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: shop}
  spec:
    selector: {matchLabels: {a: b}}
    template:
      metadata: {labels: {a: b}}
      spec:
        volumes:
        - {name: cert, secret: {secretName: cert}}
        - {name: more, configMap: {name: none, optional: true}}
        containers:
        - name: c
          image: quay.io/acme/x:1
          env:
          - {name: A, valueFrom: {secretKeyRef: {name: login, key: password}}}
          - {name: B, valueFrom: {configMapKeyRef: {name: config, key: level}}}
          envFrom: [{configMapRef: {name: config}}]
- apiVersion: v1
  kind: Service
  metadata: {name: shop, annotations: {service.beta.openshift.io/serving-cert-secret-name: cert}}
  spec: {selector: {a: b}, ports: [{port: 80}]}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: config}
  data: {level: info}
`

// A saas file that says validatePlannedData has no process that could not start.
func TestPlannedData(t *testing.T) {
	s := newScene(t)
	s.Set(saastest.File, []any{"Deployment", "Service", "ConfigMap"}, "managedResourceTypes")
	s.push("/openshift/template.yml", usingTemplate)
	s.Set(saastest.File, true, "validatePlannedData")
	secret := path("shop-stage", "Secret", "login")
	for _, c := range []struct {
		name, template, want string
		change               func()
	}{
		{"no secret", usingTemplate, "the Secret login, which it uses, is neither there nor made", func() {}},
		{"no key", usingTemplate, `the Secret login, which it uses, has no key "password"`, func() {
			s.cluster.Edit(t, "kubectl", secret, func(o map[string]any) { o["data"] = map[string]any{"other": "c2VjcmV0"} })
		}},
		{"no key of what is made", strings.Replace(usingTemplate, "{level: info}", "{}", 1),
			`the ConfigMap config, which it uses, has no key "level"`, func() {}},
		{"no certificate", strings.Replace(usingTemplate, "serving-cert-secret-name: cert", "other: cert", 1),
			"the Secret cert, which it uses, is neither there nor made", func() {}},
	} {
		c.change()
		s.push("/openshift/template.yml", c.template)
		for _, kind := range []string{"dry", "wet"} {
			err := s.dryRun(t, "shop/stage", nil)
			if kind == "wet" {
				_, err = s.run(t, "shop/stage")
			}
			if !s.fails(err) || !s.says("error", c.want) || s.says("c2VjcmV0") ||
				slices.Contains(s.cluster.Paths(), path("shop-stage", "Deployment", "shop")) {
				t.Errorf("%s, %s: got %v, %s", c.name, kind, err, strings.Join(s.said, "\n"))
			}
		}
	}
	s.cluster.Edit(t, "kubectl", secret, func(o map[string]any) { o["data"] = map[string]any{"password": "c2VjcmV0"} })
	s.push("/openshift/template.yml", usingTemplate)
	if writes := s.mustRun(t, "shop/stage"); !slices.ContainsFunc(writes, func(w string) bool {
		return strings.HasSuffix(w, "deployments/shop") || strings.HasSuffix(w, "deployments")
	}) {
		t.Errorf("got %v", writes)
	}
	s.Set(saastest.File, false, "validatePlannedData")
	s.cluster.Remove(secret)
	s.mustRun(t, "shop/stage")
}

// A saas file that says publishJobLogs has what its Jobs wrote in the log of the run that made them.
func TestJobLogs(t *testing.T) {
	s := newScene(t)
	s.Set(saastest.File, []any{"Job"}, "managedResourceTypes")
	s.push("/openshift/template.yml",
		"apiVersion: template.openshift.io/v1\nkind: Template\nobjects:\n- {apiVersion: batch/v1, kind: Job, metadata: {name: migrate}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: quay.io/acme/x:1}]}}}}\n")
	s.cluster.Edit(t, "job", path("shop-stage", "Pod", "migrate-1"), func(o map[string]any) {
		o["metadata"].(map[string]any)["labels"] = map[string]any{"job-name": "migrate"}
		o["spec"] = map[string]any{"containers": []any{map[string]any{"name": "c", "image": "quay.io/acme/x:1"}}}
	})
	s.cluster.Logs = map[string]string{path("shop-stage", "Pod", "migrate-1"): "one\n\x1b[31mtwo\n"}
	finish := func(r *http.Request) *kubetest.Fault {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/jobs/migrate") &&
			s.cluster.Object(r.URL.Path) != nil {
			s.cluster.Edit(t, "job", r.URL.Path, func(o map[string]any) {
				o["status"] = map[string]any{"succeeded": 1,
					"conditions": []any{map[string]any{"type": "Complete", "status": "True"}}}
			})
		}
		return nil
	}
	s.cluster.Fail(finish)
	s.mustRun(t, "shop/stage")
	if strings.Contains(s.log.String(), "migrate-1 c: one") {
		t.Errorf("nobody asked for the logs: %s", s.log.String())
	}
	s.Set(saastest.File, true, "publishJobLogs")
	s.cluster.Remove("/apis/batch/v1/namespaces/shop-stage/jobs/migrate")
	s.mustRun(t, "shop/stage")
	if log := s.log.String(); !strings.Contains(log, "c-1/shop-stage/migrate-1 c: one\n") ||
		!strings.Contains(log, "two\n") || strings.Contains(log, "\x1b") {
		t.Errorf("got %q", log)
	}
}

// An object outside of namespaces that no template makes any more stays, and that is told.
func TestObjectsOutsideOfNamespaces(t *testing.T) {
	s := newScene(t)
	s.cluster.Kinds["clusterroles"], s.cluster.Versions["clusterroles"] = "ClusterRole", "rbac.authorization.k8s.io/v1"
	s.cluster.ClusterScoped = []string{"clusterroles"}
	s.Set(saastest.File, []any{"ClusterRole", "Service"}, "managedResourceTypes")
	const head = "apiVersion: template.openshift.io/v1\nkind: Template\nobjects:\n- {apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80}]}}\n"
	const role = "- {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: shop}, rules: []}\n"
	s.push("/openshift/template.yml", head+role)
	s.mustRun(t, "shop/stage")
	s.push("/openshift/template.yml", head)
	const told = "it is in no namespace, so it is never deleted"
	if err := s.dryRun(t, "shop/stage", nil); s.fails(err) || !s.says("ClusterRole.rbac.authorization.k8s.io/shop", told) {
		t.Errorf("a dry run: got %v, %s", err, strings.Join(s.said, "\n"))
	}
	if writes := s.mustRun(t, "shop/stage"); len(writes) > 0 || !s.says(told) ||
		s.cluster.Object("/apis/rbac.authorization.k8s.io/v1/clusterroles/shop") == nil {
		t.Errorf("a run: got %v, %s", writes, strings.Join(s.said, "\n"))
	}
}

// A change of the definitions of jobs runs the shard of validation alone, which tells of the target
// whose job is gone.
func TestJobThatIsGone(t *testing.T) {
	s := newScene(t)
	s.Target(saastest.File, 0, 0)["upstream"] = map[string]any{"instance": saastest.Ref(saastest.Jenkins),
		"name": "shop-build"}
	s.Data["/jobs.yml"] = map[string]any{"$schema": "/dependencies/jenkins-config-1.yml", "name": "jobs", "type": "jobs",
		"app": saastest.Ref(saastest.App), "instance": saastest.Ref(saastest.Jenkins),
		"config": []any{map[string]any{"job": map[string]any{"name": "shop-build",
			"properties": []any{map[string]any{"github": map[string]any{"url": shopURL}}},
			"scm":        []any{map[string]any{"git": map[string]any{"branches": []any{"main"}}}}}}}}
	s.Data["/integrations/saas-deploy.yml"] = map[string]any{"$schema": "/app-sre/integration-1.yml", "name": Name,
		"description": "x", "pr_check": map[string]any{"cmd": Name}}
	before := s.Clone()
	s.Set("/jobs.yml", "shop-other", "config", 0, "job", "name")
	if keys, isWhole := planned(t, before, s.World); isWhole || len(keys) != 1 || !keys[Validation] {
		t.Errorf("the plan runs %v (all: %v)", keys, isWhole)
	}
	if err := s.dryRun(t, Validation, before); !s.fails(err) || !s.says("error SAAS_UPSTREAM", "/upstream/name",
		"shop-build", "shop-other of ci") {
		t.Errorf("got %v, %s", err, strings.Join(s.said, "\n"))
	}
	if err := s.dryRun(t, Validation, s.Clone()); s.fails(err) {
		t.Errorf("the same in base: got %v, %s", err, strings.Join(s.said, "\n"))
	}
}
