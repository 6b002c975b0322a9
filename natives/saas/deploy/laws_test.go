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

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/natives/saas/promotion"
	"github.com/app-sre/prcheck/natives/saas/render"
)

var rounds = flag.Int("rounds", 12, "worlds of the laws")

// A moody registry answers or not.
type moody struct{ isAway *bool }

func (m moody) Digest(context.Context, services.Image) (string, error) {
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
			for _, broken := range play(t, uint64(seed), mutant{}) { //nolint:gosec // the number is small
				t.Error(broken)
			}
		})
	}
}

// Each law catches a deployer with a mistake.
func TestMutants(t *testing.T) {
	for name, c := range map[string]struct {
		m   mutant
		law string
	}{
		"what cannot be rendered has other objects": {mutant{empty: true}, "is gone"},
		"failures are not told":                     {mutant{silent: true}, "the run succeeded, and there is"},
		"records always say success":                {mutant{lies: true}, "a record of success"},
		"nothing is deleted":                        {mutant{keeps: true}, "in the end there is"},
		"all objects always differ":                 {mutant{restless: true}, "a quiet run wrote"},
		"unread objects are as if not there":        {mutant{blind: true}, "in the end"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(12) {
				if broken := strings.Join(play(t, seed, c.m), "\n"); strings.Contains(broken, c.law) {
					return
				}
			}
			t.Errorf("no law %q is broken", c.law)
		})
	}
}

// A mutant says which mistakes a deployer makes.
type mutant struct{ empty, silent, lies, keeps, restless, blind bool }

// run makes the clusters as the data say, with the mistakes.
func (m mutant) run(t *testing.T, s *scene) error {
	if m == (mutant{}) {
		_, err := s.run(t, "shop/stage")
		return err
	}
	env, act := s.env(t, "shop/stage", nil), s.actors()
	r := deployer{Services{Repositories: s.forge, Registry: s.registry}}.open(t.Context(), env, &act)
	of := r.integration()
	current := of.Current
	of.Current = func(ctx context.Context, env integration.Environment, p native.Part) (native.Current, error) {
		out, err := current(ctx, env, p)
		for _, thing := range out.Things {
			if m.keeps {
				out.Kept[thing.Key] = "it is kept"
			}
		}
		if m.blind {
			out.Things, out.Unread, out.Errors, err = nil, nil, nil, nil
		}
		return out, err
	}
	if m.restless {
		of.Compare = func(want reconcile.Item, is reconcile.Thing, was reconcile.Record) (reconcile.Difference, error) {
			d, err := r.compare(want, is, was)
			d.Replace, d.Changes = true, append(d.Changes, reconcile.Change{Path: "/x", Old: "a", New: "b"})
			return d, err
		}
	}
	for _, c := range r.head.cells {
		for _, of := range c.targets {
			if m.empty && of.err != nil {
				of.err, of.out = nil,
					render.Output{Objects: []manifests.Object{{"apiVersion": "v1", "kind": "Service",
						"metadata": object{"name": "other"}, "spec": object{"ports": []any{object{"port": 1}}}}}, Masked: [][]string{nil}}
			}
		}
	}
	err := r.apply(t.Context(), native.Make(of), act)
	if m.lies {
		r.failures = 0
		if s.bucket.away = false; r.publish(t.Context(), act, nil) != nil {
			return err
		}
	}
	if m.silent {
		s.said, err = nil, nil
	}
	return err
}

// play runs a cell while services fail, and returns the laws that were broken.
func play(t *testing.T, seed uint64, m mutant) (broken []string) {
	random := rand.New(rand.NewPCG(seed, 16)) //nolint:gosec // it is a test
	fail := func(format string, of ...any) { broken = append(broken, fmt.Sprintf(format, of...)) }
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
		s.cluster.Fail(faults(random))
		before, records := s.services(), maps.Clone(s.bucket.objects)
		err := m.run(t, s)
		s.cluster.Fail(nil)
		now := s.services()
		for name := range services {
			if _, was := before[name]; was && now[name] == "" {
				fail("the Service %s is gone", name)
			}
		}
		for key, text := range s.bucket.objects {
			if strings.HasPrefix(key, promotion.Root) && records[key] != text && strings.HasPrefix(text, `{"success": true`) &&
				!maps.Equal(now, services) {
				fail("a record of success, and there is %v, want %v", now, services)
			}
		}
		if !s.fails(err) && !maps.Equal(now, services) {
			fail("the run succeeded, and there is %v, want %v\n%s", now, services, s.log.String())
		}
	}
	s.forge.away, isAway = false, false
	s.push("/openshift/template.yml", templateOf(services))
	if err := m.run(t, s); s.fails(err) {
		fail("in the end the run failed: %v, %s", err, strings.Join(s.said, "\n"))
	}
	if now := s.services(); !maps.Equal(now, services) {
		fail("in the end there is %v, want %v", now, services)
	}
	s.cluster.Forget()
	if err := m.run(t, s); s.fails(err) || len(s.writes()) > 0 {
		fail("a quiet run wrote %q: %v", s.writes(), err)
	}
	return broken
}

// faults returns which requests to a cluster fail: none in most runs, and then those that read less
// often than those that write.
func faults(random *rand.Rand) func(*http.Request) *kubetest.Fault {
	isFaulty := random.IntN(3) == 0
	return func(r *http.Request) *kubetest.Fault {
		switch {
		case !isFaulty || r.Method == http.MethodGet && random.IntN(4) > 0:
			return nil
		case random.IntN(3) == 0:
			return &kubetest.Fault{Lost: true}
		case random.IntN(6) == 0:
			return &kubetest.Fault{Status: http.StatusForbidden,
				Body: `{"kind": "Status", "message": "no", "reason": "Forbidden"}`}
		}
		return nil
	}
}

// templateOf returns a template with Services.
func templateOf(services map[string]string) string {
	var out strings.Builder
	out.WriteString("apiVersion: template.openshift.io/v1\nkind: Template\nobjects:\n")
	for _, name := range slices.Sorted(maps.Keys(services)) {
		fmt.Fprintf(&out,
			"- {apiVersion: v1, kind: Service, metadata: {name: %s}, spec: {selector: {app: shop}, ports: [{name: http, port: %s}]}}\n", name, services[name])
	}
	fmt.Fprintf(&out,
		"- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: web}\n  spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: quay.io/acme/x:1}]}}}\n")
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
