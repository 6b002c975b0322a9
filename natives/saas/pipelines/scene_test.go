package pipelines

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/saas/saastest"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
)

// A testScene is a world of saas files with everything that the loop asks and writes.
type testScene struct {
	t       testing.TB
	query   integration.QueryFunc
	state   state.Store
	own     string // settings as YAML
	now     time.Time
	heads   map[string]string // by address and branch
	builds  map[string][]services.Build
	images  map[string]bool
	value   float64 // of all objectives
	fail    map[string]error
	lost    error                      // runs are created, and nobody gets the answer
	objects map[string]json.RawMessage // of the cluster, by resource, namespace and name
	bucket  *testBucket

	mu       sync.Mutex
	asked    map[string]int
	created  []string // names of runs
	findings []integration.Remark
	units    []integration.Standing
	deeds    []integration.Deed
	log      bytes.Buffer
}

// newTestScene returns a scene over a world, in which all branches are at a commit and all
// pipelines are there.
func newTestScene(t testing.TB, w *saastest.World) *testScene {
	s := &testScene{t: t, query: w.Query(t), now: time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC),
		own:   "{records: s3://records}",
		heads: map[string]string{}, builds: map[string][]services.Build{}, images: map[string]bool{}, value: 1,
		fail: map[string]error{}, objects: map[string]json.RawMessage{},
		bucket: &testBucket{objects: map[string]testObject{}}, asked: map[string]int{}}
	dir, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s.state = dir
	return s
}

// did counts a request, and returns the error that the test wants.
func (s *testScene) did(what string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[what]++
	for name, err := range s.fail {
		if strings.HasPrefix(what, name) {
			return err
		}
	}
	return nil
}

func (s *testScene) Heads(_ context.Context, of services.Repository, branches []string) (map[string]string, error) {
	if err := s.did("heads " + of.URL); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, b := range branches {
		if head, ok := s.heads[of.URL+" "+b]; ok && head != "" {
			out[b] = head
		} else if !ok {
			out[b] = saastest.Shas(1)[0]
		}
	}
	return out, nil
}

func (*testScene) Log(context.Context, services.Repository, string, int) ([]string, error) {
	return nil, errors.ErrUnsupported
}

func (*testScene) Files(context.Context, services.Repository, string, string, bool) (map[string][]byte, error) {
	return nil, errors.ErrUnsupported
}

func (s *testScene) Digest(_ context.Context, image services.Image) (string, error) {
	if err := s.did("image " + image.Name); err != nil {
		return "", err
	}
	if isThere, ok := s.images[image.Name]; ok && !isThere {
		return "", services.ErrNotThere
	}
	return "sha256:0", nil
}

func (s *testScene) Jobs(_ context.Context, server string, _ services.Login,
	jobs []string) (map[string][]services.Build, error) {
	if err := s.did("builds " + server); err != nil {
		return nil, err
	}
	out := map[string][]services.Build{}
	for _, j := range jobs {
		if builds, ok := s.builds[j]; ok {
			out[j] = builds
		} else {
			out[j] = []services.Build{{Number: 1, Result: "SUCCESS"}}
		}
	}
	return out, nil
}

func (s *testScene) Measure(_ context.Context, server string, _ services.Login, _ string) (float64, error) {
	return s.value, s.did("measure " + server)
}

// env returns the environment of a run.
func (s *testScene) env() integration.Environment {
	rules, err := settings.Read("prcheck.yaml",
		[]byte("version: 1\nintegrations:\n  "+Name+":\n    settings: "+s.own+"\n"))
	if err != nil {
		s.t.Fatal(err)
	}
	return integration.Environment{
		Integration: Name, Settings: rules.For(Name), Query: s.query, State: state.ReadOnly(s.state), Now: func() time.Time {
			return s.now
		}, Log: &s.log, Workers: 4,
		Commit: "c0ffee",
		Secret: func(_ context.Context, ref integration.SecretRef) (string, error) {
			return "secret-" + ref.Path, s.did("secret")
		},
		Cluster: func(context.Context, integration.ClusterRef) (integration.ClusterReader, error) {
			return testCluster{testScene: s}, s.did("cluster")
		},
		Bucket: func(context.Context, string) (integration.BucketReader, error) { return s.bucket, s.did("bucket") },
		Report: func(f integration.Remark) { s.mu.Lock(); defer s.mu.Unlock(); s.findings = append(s.findings, f) },
		Stand:  func(u integration.Standing) { s.mu.Lock(); defer s.mu.Unlock(); s.units = append(s.units, u) },
	}
}

// services returns what the loop asks.
func (s *testScene) services() Services { return Services{s, s, s, s} }

// begin forgets what was reported.
func (s *testScene) begin() {
	s.asked, s.created, s.findings, s.units, s.deeds = map[string]int{}, nil, nil, nil, nil
	s.log.Reset()
}

// run makes one iteration.
func (s *testScene) run() error {
	s.begin()
	return New(s.services()).Run(s.t.Context(), s.env(), integration.Actors{
		State: s.state,
		Cluster: func(context.Context, integration.ClusterRef) (integration.ClusterWriter, error) {
			return testCluster{testScene: s}, nil
		},
		Did: func(d integration.Deed) { s.mu.Lock(); defer s.mu.Unlock(); s.deeds = append(s.deeds, d) },
	})
}

// dry makes one dry run.
func (s *testScene) dry() error {
	s.begin()
	return New(s.services()).DryRun(s.t.Context(), s.env())
}

// end ends all runs that are not ended.
func (s *testScene) end(status string) {
	for key, raw := range s.objects {
		if strings.HasPrefix(key, "pipelineruns/") && !bytes.Contains(raw, []byte(`"conditions"`)) {
			s.objects[key] = append(bytes.TrimSuffix(raw, []byte("}")),
				fmt.Sprintf(`,"status":{"conditions":[{"type":"Succeeded","status":%q,"reason":"Done"}]}}`, status)...)
		}
	}
}

// settle runs until nothing starts any more, and lets all runs succeed.
func (s *testScene) settle() {
	s.t.Helper()
	for range 5 {
		if err := s.run(); err != nil {
			s.t.Fatalf("%v\n%s", err, s.log.String())
		}
		if len(s.created) == 0 && !slices.ContainsFunc(s.units, func(u integration.Standing) bool {
			return u.State == "running"
		}) {
			return
		}
		s.end("True")
	}
	s.t.Fatalf("it does not settle: %v", s.units)
}

// unit returns how a cell stands.
func (s *testScene) unit(key string) integration.Standing {
	for _, u := range s.units {
		if u.Key == key {
			return u
		}
	}
	return integration.Standing{}
}

// errorsFound returns the messages of findings that fail.
func (s *testScene) errorsFound() []string {
	var out []string
	for _, f := range s.findings {
		if f.Severity == plan.SeverityError {
			out = append(out, f.Message)
		}
	}
	return out
}
