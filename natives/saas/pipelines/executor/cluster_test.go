//go:build !race

package executor

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/kube"
	"github.com/app-sre/prcheck/natives/kube/writer"
	"github.com/app-sre/prcheck/natives/saas/pipelines/decide"
)

// clusters returns what opens a cluster with Tekton.
func clusters(server *kubetest.Server) Clusters {
	access := kube.Access{Name: "c", Server: server.URL, Token: server.Token, Integration: "saas-pipelines"}
	return Clusters{
		Reader: func(context.Context, integration.ClusterRef) (integration.ClusterReader, error) {
			return kube.Open(access)
		},
		Writer: func(context.Context, integration.ClusterRef) (integration.ClusterWriter, error) {
			return writer.Open(access)
		},
	}
}

// Both executors make one run for an intent on a cluster, see how it ends, and leave the runs of
// others alone.
func TestOnCluster(t *testing.T) {
	server := kubetest.New(t)
	server.AddTekton()
	server.AddPipeline(t, "pipelines", "o-deploy-shop")
	order := Order{Place: Place{Namespace: "pipelines"}, File: "shop", Environment: "stage", Template: "deploy",
		Timeout: "90m",
		Intent: &decide.Intent{ID: strings.Repeat("a", 32), Run: "shop-stage-aaaaaaa",
			Reasons: []decide.Reason{{Kind: decide.Commit, Ref: strings.Repeat("1", 40), Text: "https://x/commit/1"}}}}
	for name, e := range map[string]Executor{
		"tekton": Tekton{Clusters: clusters(server), Trace: true},
		"jobs":   Jobs{Clusters: clusters(server), JobSettings: JobSettings{Image: "quay.io/acme/prcheck:1"}},
	} {
		t.Run(name, func(t *testing.T) {
			if missing, err := e.Missing(t.Context(), order); missing != "" || err != nil {
				t.Fatal(missing, err)
			}
			for range 2 { // the second time it is there already
				if err := e.Start(t.Context(), order); err != nil {
					t.Fatal(err)
				}
			}
			runs, err := e.Runs(t.Context(), order.Place)
			if err != nil || len(runs) != 1 || runs[0].Intent != order.Intent.ID || runs[0].Phase != decide.Live ||
				runs[0].File != "shop" || runs[0].Environment != "stage" {
				t.Fatalf("runs %+v, %v, want the one of the intent", runs, err)
			}
			other := order
			other.Intent = &decide.Intent{ID: strings.Repeat("b", 32), Run: order.Intent.Run}
			if err := e.Start(t.Context(), other); !errors.Is(err, ErrTaken) {
				t.Errorf("the name of another run: %v, want %v", err, ErrTaken)
			}
		})
	}
	server.PlayRun(t, "pipelines", order.Intent.Run, kubetest.RunFailed)
	runs, err := Tekton{Clusters: clusters(server)}.Runs(t.Context(), order.Place)
	if err != nil || runs[0].Phase != decide.Errored || !strings.Contains(runs[0].Why, "Failed: 1") {
		t.Errorf("after it failed %+v, %v", runs, err)
	}
	server.PlayRun(t, "pipelines", order.Intent.Run, kubetest.RunCompleted)
	if runs, err = (Tekton{Clusters: clusters(server)}).Runs(t.Context(), order.Place); err != nil ||
		runs[0].Phase != decide.Succeeded {
		t.Errorf("after it succeeded %+v, %v", runs, err)
	}
	order.File = "toys"
	if missing, err := (Tekton{Clusters: clusters(server)}).Missing(t.Context(), order); err != nil ||
		!strings.Contains(missing, "o-deploy-toys does not exist") {
		t.Errorf("a pipeline that is not there: %q, %v", missing, err)
	}
}
