package deploy

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/integrations/saas/promotion"
	"github.com/app-sre/prcheck/internal/kubetest"
)

var rounds = flag.Int("rounds", 12, "worlds of the laws")

// A moody registry answers or not.
type moody struct{ isAway *bool }

func (m moody) Digest(context.Context, string, services.Login) (string, error) {
	if *m.isAway {
		return "", errors.New("nobody answers")
	}
	return "sha256:" + strings.Repeat("0", 64), nil
}

// Whatever fails meanwhile: no object goes that the newest commit that could be rendered has; a
// record of success is written only when the cluster is as its commit says; and when everything
// works again, one run makes the cluster right and the next one is quiet.
func TestLaws(t *testing.T) {
	for seed := range *rounds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			checkLaws(t, rand.New(rand.NewPCG(uint64(seed), 16))) //nolint:gosec // the number is small
		})
	}
}

func checkLaws(t *testing.T, random *rand.Rand) {
	t.Helper()
	s := newScene(t)
	isAway := false
	s.registry = moody{&isAway}
	services := map[string]string{} // what the newest commit has: names to ports
	for i := range 12 {
		if i == 0 || random.IntN(2) == 0 {
			services = map[string]string{}
			for i := range 1 + random.IntN(5) {
				services[fmt.Sprintf("s-%d", i)] = fmt.Sprint(80 + random.IntN(3))
			}
			s.push("/openshift/template.yml", templateOf(services))
		}
		s.forge.away, isAway, s.bucket.away = random.IntN(6) == 0, random.IntN(6) == 0, false
		faults := random.IntN(3) == 0
		s.cluster.Fail(func(r *http.Request) *kubetest.Fault {
			switch {
			case !faults || r.Method == http.MethodGet && random.IntN(4) > 0:
				return nil
			case random.IntN(3) == 0:
				return &kubetest.Fault{Lost: true}
			case random.IntN(6) == 0:
				return &kubetest.Fault{Status: http.StatusForbidden, Body: `{"kind": "Status", "message": "no", "reason": "Forbidden"}`}
			}
			return nil
		})
		before := s.services()
		_, err := s.run(t, "shop/stage")
		s.cluster.Fail(nil)
		now := s.services()
		for name := range services {
			if _, was := before[name]; was && now[name] == "" {
				t.Errorf("the Service %s is gone", name)
			}
		}
		sha := s.forge.heads[shopURL]["main"]
		for key, text := range s.bucket.objects {
			isNew := strings.HasPrefix(key, promotion.Root) && strings.HasSuffix(key, sha) && strings.HasPrefix(text, `{"success": true`)
			if isNew && !s.fails(err) && !maps.Equal(now, services) {
				t.Errorf("a record of success, and there is %v, want %v", now, services)
			}
		}
		if !s.fails(err) && !maps.Equal(now, services) {
			t.Errorf("the run succeeded, and there is %v, want %v\n%s", now, services, s.log.String())
		}
	}
	s.forge.away, isAway = false, false
	s.push("/openshift/template.yml", templateOf(services))
	s.mustRun(t, "shop/stage")
	if now := s.services(); !maps.Equal(now, services) {
		t.Errorf("in the end there is %v, want %v", now, services)
	}
	if writes := s.mustRun(t, "shop/stage"); len(writes) > 0 {
		t.Errorf("a quiet run wrote %q", writes)
	}
}

// templateOf returns a template with Services.
func templateOf(services map[string]string) string {
	var out strings.Builder
	out.WriteString("apiVersion: template.openshift.io/v1\nkind: Template\nobjects:\n")
	for _, name := range slices.Sorted(maps.Keys(services)) {
		fmt.Fprintf(&out, "- {apiVersion: v1, kind: Service, metadata: {name: %s}, spec: {selector: {app: shop}, ports: [{name: http, port: %s}]}}\n", name, services[name])
	}
	fmt.Fprintf(&out, "- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: web}\n  spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: quay.io/acme/x:1}]}}}\n")
	return out.String()
}

// services returns the ports of the Services of stage by name.
func (s *scene) services() map[string]string {
	out := map[string]string{}
	for _, p := range s.cluster.Paths() {
		if name, ok := strings.CutPrefix(p, path("shop-stage", "Service", "")); ok {
			spec := s.cluster.Object(p)["spec"].(map[string]any)
			out[name] = fmt.Sprint(spec["ports"].([]any)[0].(map[string]any)["port"])
		}
	}
	return out
}
