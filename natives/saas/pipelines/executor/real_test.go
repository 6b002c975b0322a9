//go:build !race

package executor

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/kube"
	"github.com/app-sre/prcheck/natives/kube/writer"
	"github.com/app-sre/prcheck/natives/saas/pipelines/decide"
)

// realClusters returns what opens a real server with the account of an example.
func realClusters(t *testing.T, r *kubetest.Real, role string) Clusters {
	t.Helper()
	raw, err := os.ReadFile("../../../../examples/rbac/pipelines-" + role + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	r.Apply(t, "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: prcheck\n\n---\n"+string(raw))
	token, _ := r.AccountToken(t, "prcheck", "prcheck-pipelines-"+role)
	access := kube.Access{Name: "c", Server: r.URL, Token: token, Integration: "saas-pipelines", Insecure: true}
	return Clusters{
		Reader: func(context.Context, integration.ClusterRef) (integration.ClusterReader, error) {
			return kube.Open(access)
		},
		Writer: func(context.Context, integration.ClusterRef) (integration.ClusterWriter, error) {
			return writer.Open(access)
		},
	}
}

// The accounts of the examples suffice on a real server: one run for an intent, and no run for
// who may only read.
func TestOnRealServer(t *testing.T) {
	r := kubetest.Start(t)
	r.AddTekton(t)
	r.AddPipeline(t, "pipelines", "o-deploy-shop")
	order := Order{Place: Place{Namespace: "pipelines"}, File: "shop", Environment: "stage", Template: "deploy",
		Timeout: "90m",
		Intent: &decide.Intent{ID: strings.Repeat("a", 32), Run: "shop-stage-aaaaaaa",
			Reasons: []decide.Reason{{Kind: decide.Config, Ref: "main"}}}}
	reader, writer := Tekton{Clusters: realClusters(t, r, "read")}, Tekton{Clusters: realClusters(t, r, "write"),
		Trace: true}
	if err := reader.Start(t.Context(), order); err == nil ||
		!strings.Contains(err.Error(), "must allow create and patch of pipelineruns") {
		t.Errorf("who may only read: %v", err)
	}
	if runs, err := reader.Runs(t.Context(), order.Place); err != nil || len(runs) > 0 {
		t.Errorf("before the start %+v, %v", runs, err)
	}
	for range 2 {
		if err := writer.Start(t.Context(), order); err != nil {
			t.Fatal(err)
		}
	}
	other := order
	other.Intent = &decide.Intent{ID: strings.Repeat("b", 32), Run: order.Intent.Run}
	if err := writer.Start(t.Context(), other); !errors.Is(err, ErrTaken) {
		t.Errorf("the name of another run: %v", err)
	}
	r.PlayRun(t, "pipelines", order.Intent.Run, kubetest.RunTimedOut)
	runs, err := reader.Runs(t.Context(), order.Place)
	if err != nil || len(runs) != 1 || runs[0].Phase != decide.Errored || runs[0].Intent != order.Intent.ID {
		t.Errorf("afterwards %+v, %v", runs, err)
	}
	if missing, err := reader.Missing(t.Context(), order); missing != "" || err != nil {
		t.Errorf("the pipeline: %q, %v", missing, err)
	}
	if code, raw := r.Send(t, "admin", http.MethodGet, "/apis/tekton.dev/v1/namespaces/pipelines/pipelineruns/"+
		order.Intent.Run, "",
		""); code != http.StatusOK || !strings.Contains(string(raw), `"pipelineRef":{"name":"o-deploy-shop"}`) {
		t.Errorf("the run is %d %s", code, raw)
	}
}
