package generic

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/armtest"
	"github.com/app-sre/prcheck/examples/cloud"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic/cloudtest"
	"github.com/app-sre/prcheck/natives/generic/operation"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
)

type object = cloudtest.Fields

const (
	endpoint = "https://arm.example"
	group    = "/subscriptions/s1/resourceGroups/shop"
	cacheID  = group + "/providers/Example.Cache/caches/sessions"
	ruleID   = cacheID + "/firewallRules/office"
	cache    = "/cloud/cache.yml"
	rule     = "/cloud/rule.yml"
)

// A scene is a world of data, the simulated service of the example, and a state.
type scene struct {
	*cloudtest.World
	t        *testing.T
	service  *armtest.Server
	state    state.Store
	native   integration.Native
	name     string // of the integration definition
	settings string
	secrets  map[string]string // by path/field
	asked    []string          // secrets that were read
	now      time.Time
	mu       sync.Mutex
	log      bytes.Buffer
	findings []integration.Remark
	deeds    []integration.Deed
	approve  integration.Approvals
	// reach replaces the simulated service.
	reach func(context.Context, integration.EndpointRef) (http.RoundTripper, error)
}

// time returns the time of the scene, which waiting moves on.
func (s *scene) time() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{World: cloudtest.New(endpoint), t: t, now: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), name: Name,
		settings: "hosts: [arm.example]",
		secrets:  map[string]string{"cloud/sessions/password": "canary-of-the-cache"}}
	var err error
	if s.service, err = armtest.Example(); err != nil {
		t.Fatal(err)
	}
	s.service.Now = s.time
	if s.state, err = state.Open(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	all, err := cloud.Specifications()
	if err != nil {
		t.Fatal(err)
	}
	var names []any
	for _, name := range sortedKeys(all) {
		s.Resources["/cloud/"+name] = string(all[name])
		if name != "common.json" {
			names = append(names, "/cloud/"+name)
		}
	}
	s.Data[cloudtest.API]["specifications"] = names
	clock := operation.Clock{Now: s.time, Sleep: func(_ context.Context, d time.Duration) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.now = s.now.Add(d)
		return nil
	}}
	s.native = With(Options{Clock: clock})
	s.Add(cache, object{"type": "Example.Cache/caches", "name": "sessions", "parent": group,
		"body": object{"location": "West US", "tags": object{"team": "shop"},
			"properties": object{"sku": object{"name": "Standard", "capacity": 1}}},
		"secrets": []any{object{"at": "/properties/adminPassword",
			"secret": object{"path": "cloud/sessions", "field": "password", "version": 1}}}})
	s.Add(rule, object{"type": "Example.Cache/caches/firewallRules", "name": "office", "parent": "sessions",
		"body": object{"properties": object{"startIP": "192.0.2.1", "endIP": "192.0.2.9"}}})
	return s
}

// body returns the body of an entry of the data, to be changed.
func (s *scene) body(file string) object { return s.Data[file]["body"].(object) }

type send func(*http.Request) (*http.Response, error)

func (f send) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// endpoint returns what sends requests to the service.
func (s *scene) endpoint(mayWrite bool) func(context.Context, integration.EndpointRef) (http.RoundTripper, error) {
	if s.reach != nil {
		return s.reach
	}
	return func(_ context.Context, ref integration.EndpointRef) (http.RoundTripper, error) {
		return send(func(r *http.Request) (*http.Response, error) {
			if ref.URL != endpoint || r.URL.Host != "arm.example" {
				return nil, fmt.Errorf("a request to %s", r.URL)
			}
			if !mayWrite && r.Method != http.MethodGet {
				return nil, fmt.Errorf("a reader sends %s %s", r.Method, r.URL)
			}
			r.Header.Set("Authorization", "Bearer "+s.service.Token)
			return s.service.Transport().RoundTrip(r)
		}), nil
	}
}

func (s *scene) environment(base *cloudtest.World) integration.Environment {
	s.t.Helper()
	rules, err := settings.Read("prcheck.yaml",
		[]byte("version: 1\nintegrations:\n  "+s.name+":\n    settings: {"+s.settings+"}\n"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.log.Reset()
	s.findings, s.deeds, s.asked = nil, nil, nil
	env := integration.Environment{
		Integration: s.name, Settings: rules.For(s.name), Query: s.Query(s.t), State: state.ReadOnly(s.state), Log: &s.log,
		Now: s.time, Endpoint: s.endpoint(false), Workers: 4, Approve: s.approve,
		Report: func(f integration.Remark) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.findings = append(s.findings, f)
		},
		Secret: func(_ context.Context, ref integration.SecretRef) (string, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.asked = append(s.asked, ref.Path+"/"+ref.Field)
			if v, ok := s.secrets[ref.Path+"/"+ref.Field]; ok {
				return v, nil
			}
			return "", fmt.Errorf("there is no secret %s", ref.Path)
		},
	}
	if base != nil {
		env.Base = base.Query(s.t)
	}
	return env
}

// run runs the native, and returns its error.
func (s *scene) run() error {
	s.t.Helper()
	act := integration.Actors{State: s.state, Endpoint: s.endpoint(true), Did: func(d integration.Deed) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.deeds = append(s.deeds, d)
	}}
	s.service.Forget()
	return s.native.Run(s.t.Context(), s.environment(nil), act)
}

// must runs the native without errors.
func (s *scene) must() {
	s.t.Helper()
	if err := s.run(); err != nil {
		s.t.Fatalf("%v\n%s", err, &s.log)
	}
	if bad := s.failures(); bad != "" {
		s.t.Fatalf("%s\n%s", bad, &s.log)
	}
}

// check makes a dry run, of a change if there is a base.
func (s *scene) check(base *cloudtest.World) error {
	s.t.Helper()
	s.service.Forget()
	return s.native.DryRun(s.t.Context(), s.environment(base))
}

// failures returns the findings that fail a run.
func (s *scene) failures() string {
	var out []string
	for _, f := range s.findings {
		if f.Severity == plan.SeverityError && f.Effect == nil {
			out = append(out, fmt.Sprintf("%s %s%s: %s", f.Code, f.File, f.Pointer, f.Message))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// did returns the steps that were taken, in the order of keys.
func (s *scene) did() string {
	var out []string
	for _, d := range s.deeds {
		out = append(out, fmt.Sprintf("%s %s %s", d.Action, d.Key[strings.LastIndexByte(d.Key, '/')+1:], d.Status))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// writes returns the requests that wrote.
func (s *scene) writes() string {
	var out []string
	for _, r := range s.service.Writes() {
		out = append(out, r.Method+" "+r.Path[strings.LastIndexByte(r.Path, '/')+1:])
	}
	return strings.Join(out, ", ")
}
