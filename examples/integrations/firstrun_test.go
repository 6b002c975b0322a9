package integrations_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/kube"
	"github.com/app-sre/prcheck/natives/kube/writer"
	"github.com/app-sre/prcheck/natives/manager"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
)

// A first run of the example on a cluster in memory: everything is made, then nothing is to do;
// an account comes and goes, and nothing else changes. Run it with -v to read what is said.
func TestFirstRun(t *testing.T) {
	checkout := t.TempDir()
	if err := os.CopyFS(checkout, os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	cluster := kubetest.New(t)
	cluster.Edit(t, "kubectl", "/api/v1/namespaces/reconcile-prod", func(map[string]any) {})
	remembered, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	account, err := os.ReadFile("data/accounts/production.yml")
	if err != nil {
		t.Fatal(err)
	}
	lake := filepath.Join(checkout, "data/accounts/lake.yml")
	for _, step := range []struct {
		name   string
		change func() error
		want   []string // what is written
	}{
		{"the first run", nil, []string{"patch qontract-reconcile", "patch qontract-reconcile-integrations-manager",
			"patch qontract-reconcile-terraform-resources-production", "patch qontract-reconcile-terraform-resources-staging"}},
		{"once more", nil, nil},
		{"a new account", func() error {
			return os.WriteFile(lake, []byte(strings.ReplaceAll(string(account), "production", "lake")), 0o600)
		}, []string{"patch qontract-reconcile-terraform-resources-lake"}},
		{"the account goes", func() error {
			return os.Remove(lake)
		}, []string{"delete qontract-reconcile-terraform-resources-lake"}},
	} {
		_, _ = fmt.Fprintf(t.Output(), "== %s\n", step.name) // for people
		if step.change != nil {
			if err := step.change(); err != nil {
				t.Fatal(err)
			}
		}
		if got := deploy(t, checkout, cluster, remembered); !slices.Equal(got, step.want) {
			t.Errorf("%s: got %q, want %q", step.name, got, step.want)
		}
	}
}

// deploy runs the manager, with what the cluster needs to call the pods ready, and returns what
// it wrote.
func deploy(t *testing.T, checkout string, cluster *kubetest.Server, remembered state.Store) []string {
	t.Helper()
	access := kube.Access{Name: "reconcile-01", Server: cluster.URL, Token: cluster.Token, Integration: manager.Name}
	raw, err := os.ReadFile(filepath.Join(checkout, "prcheck.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	rules, err := settings.Read("prcheck.yaml", raw)
	if err != nil {
		t.Fatal(err)
	}
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			cluster.Step()
			select {
			case <-ended:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	defer func() { close(ended); <-done }()
	cluster.Forget()
	env := integration.Environment{
		Integration: manager.Name, Settings: rules.For(manager.Name), Query: queryOf(t, open(t, checkout)),
		State: state.ReadOnly(remembered),
		Log:   t.Output(), Workers: 4, Now: time.Now,
		Cluster: func(context.Context, integration.ClusterRef) (integration.ClusterReader, error) {
			return kube.Open(access)
		},
		Report: func(f integration.Remark) {
			if f.Severity == "error" {
				t.Error(f.Message)
			}
		},
	}
	err = manager.New().Run(t.Context(), env, integration.Actors{State: remembered,
		Cluster: func(context.Context, integration.ClusterRef) (integration.ClusterWriter, error) {
			return writer.Open(access)
		}})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, w := range cluster.Writes() {
		if w.Code == http.StatusConflict { // the object changed in between: it is looked at again
			continue
		}
		out = append(out, w.Verb+" "+w.Path[strings.LastIndexByte(w.Path, '/')+1:])
	}
	slices.Sort(out)
	return out
}

// queryOf returns what answers queries over a bundle.
func queryOf(t *testing.T, b *bundle.Bundle) integration.QueryFunc {
	t.Helper()
	schema, err := gql.NewSchema(b.GraphQL())
	if err != nil {
		t.Fatal(err)
	}
	engine := gql.New(b, schema)
	return func(ctx context.Context, query string, _ map[string]any) ([]byte, error) {
		var answer struct {
			Data   json.RawMessage
			Errors []integration.FieldError
		}
		if err := json.Unmarshal(engine.Answer(ctx, gql.Request{Query: query}).JSON(), &answer); err != nil {
			return nil, err
		}
		if len(answer.Errors) > 0 {
			return nil, fmt.Errorf("%v", answer.Errors)
		}
		return answer.Data, nil
	}
}
