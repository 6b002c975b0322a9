package deploy

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/kube"
	"github.com/app-sre/prcheck/natives/saas/saastest"
)

// A dry run whose settings allow it lets the cluster try what it would write: all of it, and a
// refusal is told. Nothing is kept.
func TestServerDryRun(t *testing.T) {
	s := newScene(t)
	s.mustRun(t, "shop/stage")
	s.change = func(env *integration.Environment) {
		env.Trial = func(_ context.Context, ref integration.ClusterRef) (integration.ClusterTrial, error) {
			return kube.OpenTrial(s.reach(ref))
		}
	}
	base := saastest.New()
	s.Target(saastest.File, 0, 0)["parameters"] = map[string]any{"REPLICAS": 4}
	if err := s.dryRun(t, "shop/stage", base); s.fails(err) {
		t.Fatalf("%v\n%s", err, strings.Join(s.said, "\n"))
	}
	tried := 0
	for _, r := range s.cluster.Requests() {
		if r.Dry && strings.Contains(r.Path, "/deployments/") {
			tried++
		}
	}
	if tried == 0 {
		t.Errorf("nothing was tried: %v", s.cluster.Requests())
	}
	s.cluster.Fail(func(r *http.Request) *kubetest.Fault {
		if r.Method == http.MethodPatch {
			return &kubetest.Fault{Status: http.StatusForbidden}
		}
		return nil
	})
	if err := s.dryRun(t, "shop/stage", base); !s.fails(err) {
		t.Errorf("the refusal is not told:\n%s", strings.Join(s.said, "\n"))
	}
}

// Before the merge of a change the cluster is not sent an object with secrets.
func TestServerDryRunOfSecrets(t *testing.T) {
	s := newScene(t)
	s.mustRun(t, "shop/stage")
	s.change = func(env *integration.Environment) {
		env.Trial = func(_ context.Context, ref integration.ClusterRef) (integration.ClusterTrial, error) {
			return kube.OpenTrial(s.reach(ref))
		}
	}
	base := saastest.New()
	s.Target(saastest.File, 0, 0)["secretParameters"] = []any{map[string]any{"name": "PASSWORD",
		"secret": map[string]any{"path": "app/shop/db", "field": "password"}}}
	if err := s.dryRun(t, "shop/stage", base); s.fails(err) {
		t.Fatalf("%v\n%s", err, strings.Join(s.said, "\n"))
	}
	for _, r := range s.cluster.Requests() {
		if r.Dry && strings.Contains(r.Path, "/deployments/") {
			t.Errorf("it was sent: %s", r)
		}
	}
}

// A noting registry has each image, and keeps what it was asked for.
type notingRegistry struct {
	mu    sync.Mutex
	asked []string
}

func (r *notingRegistry) Digest(_ context.Context, image services.Image) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, image.Name)
	return "sha256:" + strings.Repeat("a", 64), nil
}

// Before the merge of a change no registry is asked for an image that is named by a secret, also not
// by the data of base.
func TestSecretInImageOfBase(t *testing.T) {
	s := newScene(t)
	asked := &notingRegistry{}
	s.registry = asked
	s.Target(saastest.File, 0, 0)["secretParameters"] = []any{map[string]any{"name": "IMAGE_TAG",
		"secret": map[string]any{"path": "app/shop/tag", "field": "tag"}}}
	base := s.Clone()
	s.Target(saastest.File, 0, 0)["parameters"] = map[string]any{"REPLICAS": 4}
	_ = s.dryRun(t, "shop/stage", base)
	for _, image := range asked.asked {
		if strings.Contains(image, "value-of") {
			t.Errorf("the registry was asked for %q", image)
		}
	}
}

// The token of administrators is for runs of one cell whose saas file asks for it, and for no other.
func TestClusterAdmin(t *testing.T) {
	for name, c := range map[string]struct {
		asks  any
		shard string
		want  string
	}{
		"it asks":             {true, "shop/stage", "cluster/admin"},
		"it does not ask":     {nil, "shop/stage", "app/cluster/c-1"},
		"all cells are meant": {true, "", "app/cluster/c-1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.Set(saastest.File, c.asks, "clusterAdmin")
			s.Set(saastest.Cluster, map[string]any{"path": "cluster/admin", "field": "token"}, "clusterAdminAutomationToken")
			got := map[string]bool{}
			var mu sync.Mutex
			s.change = func(env *integration.Environment) {
				open := env.Cluster
				env.Cluster = func(ctx context.Context, ref integration.ClusterRef) (integration.ClusterReader, error) {
					mu.Lock()
					defer mu.Unlock()
					got[ref.Token.Path] = true
					return open(ctx, ref)
				}
			}
			_ = s.dryRun(t, c.shard, nil) // the gate of production is closed
			if !got[c.want] || len(got) != 1 {
				t.Errorf("asked with %v, want %s", got, c.want)
			}
		})
	}
}

// Before the merge of a change the cluster is not asked for a Secret that a secret names.
func TestPlannedSecretOfSecret(t *testing.T) {
	s := newScene(t)
	s.push("/openshift/template.yml", strings.Replace(shopTemplate, "          env:",
		"          envFrom: [{secretRef: {name: \"x-${PASSWORD}\"}}]\n          env:", 1))
	base := s.Clone()
	s.Set(saastest.File, true, "validatePlannedData")
	s.Target(saastest.File, 0, 0)["secretParameters"] = []any{map[string]any{"name": "PASSWORD",
		"secret": map[string]any{"path": "app/shop/db", "field": "password"}}}
	if err := s.dryRun(t, "shop/stage", base); !s.fails(err) || !strings.Contains(strings.Join(s.said, "\n"),
		"name them without secrets") {
		t.Errorf("got %v\n%s", err, strings.Join(s.said, "\n"))
	}
	for _, r := range s.cluster.Requests() {
		if strings.Contains(r.Path, "/secrets/") {
			t.Errorf("it was asked: %s", r)
		}
	}
}
