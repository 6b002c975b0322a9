package manifests_test

import (
	"fmt"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/manifests"
)

// What is waited for is what qontract-reconcile waits for.
func TestHealthOfKinds(t *testing.T) {
	kind := func(group, name string) manifests.Kind {
		return manifests.Kind{Resource: integration.Resource{Group: group, Version: "v1", Plural: "x"}, Name: name,
			Namespaced: true}
	}
	job, config := manifests.Job, kind("apps.openshift.io", "DeploymentConfig")
	app, invocation := kind("cloud.redhat.com", "ClowdApp"), kind("cloud.redhat.com", "ClowdJobInvocation")
	subscription := kind("operators.coreos.com", "Subscription")
	for _, c := range []struct {
		of           manifests.Kind
		spec, status string
		want         string
	}{
		{job, `{"completions": 1}`, `{}`, "waits: it has not succeeded yet"},
		{job, `{"completions": 2}`, `{"succeeded": 1, "active": 1}`, "waits: it has not succeeded yet"},
		{job, `{"completions": 1}`, `{"succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]}`, "ready"},
		{job, `{}`, `{"succeeded": 1}`, "ready"},
		{job, `{"suspend": true}`, `{}`, "waits: it is suspended"},
		{job, `{}`,
			`{"conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "too often"}]}`,
			"failed: BackoffLimitExceeded: too often"},
		{job, `{}`, `{"conditions": [{"type": "Failed", "status": "False"}]}`, "waits: it has not succeeded yet"},
		{config, `{"replicas": 2}`, `{"observedGeneration": 1, "replicas": 2, "updatedReplicas": 2, "readyReplicas": 2}`,
			"ready"},
		{config, `{"replicas": 2}`, `{"observedGeneration": 1, "replicas": 3, "updatedReplicas": 2, "readyReplicas": 2}`,
			"waits: 2 of 2 pods are new and 2 are ready; 3 are there"},
		{config, `{"replicas": 2}`, `{}`, "waits: its controller has not seen the newest manifest"},
		{config, `{"replicas": 0}`, `{"observedGeneration": 1}`, "ready"},
		{subscription, `{}`, `{"state": "AtLatestKnown"}`, "ready"},
		{subscription, `{}`, `{}`, `waits: its state is "", want AtLatestKnown`},
		{kind("messaging.knative.dev", "Subscription"), `{}`, `{}`, "ready"},
		{app, `{}`, `{}`, "waits: it says nothing about its deployments"},
		{app, `{}`, `{"deployments": {"managedDeployments": 2, "readyDeployments": 1}}`,
			"waits: 1 of 2 deployments are ready"},
		{app, `{}`, `{"deployments": {"managedDeployments": 2, "readyDeployments": 2}}`, "ready"},
		{invocation, `{}`, `{}`, "waits: it has not completed yet"},
		{invocation, `{}`, `{"completed": true, "jobMap": {"a": "Complete"}}`, "ready"},
		{invocation, `{}`, `{"completed": true, "jobMap": {"a": "Failed", "b": "Complete"}}`, "failed: jobs failed: a"},
		{kind("", "ConfigMap"), `{}`, `{}`, "ready"},
	} {
		raw := fmt.Sprintf(`{"kind": %q, "metadata": {"name": "a", "uid": "u", "resourceVersion": "1", "generation": 1}, "spec": %s, "status": %s}`, c.of.Name, c.spec, c.status)
		is, err := manifests.Read(c.of, []byte(raw), options)
		if err != nil {
			t.Fatal(err)
		}
		if got := wordOf(manifests.HealthOf(is, nil)); got != c.want {
			t.Errorf("%s.%s %s %s: got %q, want %q", c.of, c.of.Group, c.spec, c.status, got, c.want)
		}
	}
}
