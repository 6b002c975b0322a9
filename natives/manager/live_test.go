package manager

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
	"github.com/app-sre/prcheck/natives/kube"
	"github.com/app-sre/prcheck/natives/kube/writer"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
)

// A scene is a cluster that the manager keeps as the data say.
type scene struct {
	*testData
	cluster  *kubetest.Server
	own      string // settings of the manager as YAML
	settings func(*settings.Integration)
	state    state.Store
	away     map[string]bool // clusters that do not answer
	broken   []string        // queries that are answered with errors
	approve  integration.Approvals

	mu   sync.Mutex
	said []string // findings of the last run
	log  bytes.Buffer
}

// newScene returns the example with an empty cluster.
func newScene(t testing.TB) *scene {
	t.Helper()
	remembered, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{testData: example(t), cluster: kubetest.New(t), state: remembered, away: map[string]bool{}}
	s.cluster.Edit(t, "kubectl", "/api/v1/namespaces/reconcile-prod", func(map[string]any) {})
	return s
}

const folder = "/namespaces/reconcile-prod/"

// path returns the path of an object of the example's namespace.
func path(kind, name string) string {
	return map[string]string{"Deployment": "/apis/apps/v1" + folder + "deployments/",
		"StatefulSet": "/apis/apps/v1" + folder + "statefulsets/",
		"CronJob":     "/apis/batch/v1" + folder + "cronjobs/", "Service": "/api/v1" + folder + "services/"}[kind] + name
}

// access returns how a cluster is reached, whatever address the data say.
func (s *scene) access(ref integration.ClusterRef) (kube.Access, error) {
	if s.away[ref.Name] {
		return kube.Access{}, integration.Failure(integration.FailureTransient, errors.New("it does not answer"))
	}
	return kube.Access{Name: ref.Name, Server: s.cluster.URL, Token: s.cluster.Token, Integration: Name}, nil
}

// env returns the environment of a run. Base is nil outside of merge requests.
func (s *scene) env(t testing.TB, base *testData) integration.Environment {
	s.said = nil
	s.log.Reset()
	settings := settingsOf(t, s.own)
	if s.settings != nil {
		s.settings(&settings)
	}
	env := integration.Environment{
		Integration: Name, Settings: settings, Query: s.query(t), State: state.ReadOnly(s.state), Log: &s.log, Workers: 4,
		Approve: s.approve,
		Now:     func() time.Time { return time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC) },
		Cluster: func(_ context.Context, ref integration.ClusterRef) (integration.ClusterReader, error) {
			a, err := s.access(ref)
			if err != nil {
				return nil, err
			}
			return kube.Open(a)
		},
		Report: func(f integration.Remark) {
			s.mu.Lock()
			defer s.mu.Unlock()
			text := fmt.Sprintf("%s %s %s%s %s", f.Severity, f.Code, f.File, f.Pointer, f.Message)
			if f.Effect != nil {
				text = fmt.Sprintf("%s %s", f.Action, strings.TrimPrefix(f.Effect.Subject, exampleItems))
			}
			s.said = append(s.said, text)
		},
	}
	if base != nil {
		env.Base = base.query(t)
	}
	ask := env.Query
	env.Query = func(ctx context.Context, query string, variables map[string]any) ([]byte, error) {
		if slices.Contains(s.broken, query) {
			return nil, &integration.AnswerError{Data: []byte(`{}`), Errors: []integration.FieldError{{Message: "it is broken"}}}
		}
		return ask(ctx, query, variables)
	}
	return env
}

// run makes the cluster as the data say, and returns what it wrote and whether anything is wrong.
func (s *scene) run(t testing.TB) (writes []string, err error) {
	t.Helper()
	env := s.env(t, nil)
	s.cluster.Forget()
	err = New().Run(t.Context(), env,
		integration.Actors{State: s.state,
			Cluster: func(_ context.Context, ref integration.ClusterRef) (integration.ClusterWriter, error) {
				a, err := s.access(ref)
				if err != nil {
					return nil, err
				}
				return writer.Open(a)
			}})
	return s.writes(), err
}

// dryRun says what a run would do; nothing may be written.
func (s *scene) dryRun(t testing.TB, base *testData) error {
	t.Helper()
	env := s.env(t, base)
	s.cluster.Forget()
	err := New().DryRun(t.Context(), env)
	if w := s.writes(); len(w) > 0 {
		t.Errorf("the dry run wrote %q", w)
	}
	return err
}

// writes returns the requests that changed something, without the folder of the objects.
func (s *scene) writes() []string {
	var out []string
	for _, r := range s.cluster.Writes() {
		out = append(out, r.Verb+" "+r.Path[strings.LastIndexByte(r.Path, '/')+1:])
	}
	slices.Sort(out)
	return out
}

// fails reports whether a run would end with an error: its own, or a finding.
func (s *scene) fails(err error) bool {
	return err != nil || slices.ContainsFunc(s.said, func(f string) bool { return strings.HasPrefix(f, "error") })
}

// says reports whether a finding has all of these texts.
func (s *scene) says(texts ...string) bool {
	return slices.ContainsFunc(s.said, func(f string) bool {
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(f, text) })
	})
}

// objects returns the objects of the cluster as kind/name, without the prefix of names.
func (s *scene) objects() []string {
	var out []string
	for _, p := range s.cluster.Paths() {
		words := strings.Split(p, "/")
		if words[len(words)-2] == "namespaces" {
			continue
		}
		out = append(out, strings.TrimSuffix(words[len(words)-2], "s")+"/"+
			strings.TrimPrefix(words[len(words)-1], namePrefix))
	}
	return out
}

// mustRun runs and wants no trouble.
func (s *scene) mustRun(t testing.TB) []string {
	t.Helper()
	writes, err := s.run(t)
	if s.fails(err) {
		t.Fatalf("%v\n%s", err, strings.Join(s.said, "\n"))
	}
	return writes
}

// An account is a shard of terraform-resources in the example.
func (s *scene) addAccounts(names ...string) {
	for _, n := range names {
		s.copyOf("/accounts/production.yml", "/accounts/"+n+".yml", object{"name": n})
	}
}

// clone returns the data as they are now.
func (d *testData) clone() *testData {
	return &testData{Data: maps.Clone(d.Data), Resources: maps.Clone(d.Resources), GraphQL: d.GraphQL}
}
