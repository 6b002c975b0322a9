package simulation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/armtest"
	example "github.com/app-sre/prcheck/examples/cloud"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/natives/generic"
	"github.com/app-sre/prcheck/natives/generic/cloudtest"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/statetest"
)

// endpoint is where the data say that the cloud is.
const endpoint = "https://management.example"

// rules let the integration ask the cloud.
const rules = "version: 1\nintegrations: {generic: {settings: {hosts: [management.example]}}}\n"

// A world is a cloud, the data about it, and what is remembered between runs.
type world struct {
	*armtest.Server
	t       testing.TB
	data    *cloudtest.World
	query   integration.QueryFunc // over the data; nil if they have changed
	state   *statetest.Memory
	secrets map[string]string
	config  string // settings
	workers int

	mu       sync.Mutex
	log      bytes.Buffer
	findings []integration.Remark
	stands   []integration.Standing
	deeds    []integration.Deed
	broken   []string // what a run did that it must not do
}

// newWorld returns a world with the specifications of examples/cloud and without resources.
func newWorld(t testing.TB) *world {
	t.Helper()
	s, err := armtest.Example()
	if err != nil {
		t.Fatal(err)
	}
	specifications, err := example.Specifications()
	if err != nil {
		t.Fatal(err)
	}
	w := worldOf(t, s)
	var names []any
	for name, raw := range specifications {
		w.data.Resources["/cloud/"+name] = string(raw)
		if name != "common.json" {
			names = append(names, "/cloud/"+name)
		}
	}
	w.data.Data[cloudtest.API]["specifications"] = names
	return w
}

// worldOf returns a world of a cloud whose API has no specifications yet.
func worldOf(t testing.TB, s *armtest.Server) *world {
	t.Helper()
	w := &world{
		Server: s, t: t, data: cloudtest.New(endpoint), state: statetest.NewMemory(),
		secrets: map[string]string{"cloud/acme token": s.Token}, config: rules, workers: 8,
	}
	w.data.Resources = map[string]string{}
	return w
}

// put sets the entry of a resource; nil removes it.
func (w *world) put(file string, entry cloudtest.Fields) {
	w.query = nil
	if entry == nil {
		delete(w.data.Data, file)
		return
	}
	w.data.Add(file, entry)
}

// ask returns what answers queries over the data.
func (w *world) ask() integration.QueryFunc {
	w.t.Helper()
	if w.query == nil {
		w.query = w.data.Query(w.t)
	}
	return w.query
}

// A wire carries requests to the cloud, with a token, until the process dies.
type wire struct {
	world  *world
	mortal *mortal // nil: the process does not die
	writes bool
}

func (x wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if !x.writes && r.Method != http.MethodGet && r.Method != http.MethodHead {
		x.world.mu.Lock()
		x.world.broken = append(x.world.broken, "a reader sent "+r.Method)
		x.world.mu.Unlock()
		return nil, errors.New("a dry run sends no " + r.Method)
	}
	if r.URL.Scheme+"://"+r.URL.Host != endpoint {
		x.world.mu.Lock()
		x.world.broken = append(x.world.broken, "a request went to "+r.URL.Host)
		x.world.mu.Unlock()
	}
	if err := x.mortal.lives(); err != nil {
		return nil, err
	}
	out := r.Clone(r.Context())
	out.Header.Set("Authorization", "Bearer "+x.world.secrets["cloud/acme token"])
	answer, err := x.world.Transport().RoundTrip(out)
	if dead := x.mortal.lives(); dead != nil {
		return nil, dead
	}
	return answer, err
}

// environment returns what a run reads.
func (w *world) environment(m *mortal) integration.Environment {
	w.t.Helper()
	rules, err := settings.Read("prcheck.yaml", []byte(w.config))
	if err != nil {
		w.t.Fatal(err)
	}
	masker := mask.New([]string{w.secrets["cloud/acme token"]}) // the runner learns secrets when they are read
	return integration.Environment{
		Mask: masker.Text, Integration: generic.Name, Settings: rules.For(generic.Name), Query: w.ask(), Workers: w.workers,
		Now:   time.Now,
		State: state.ReadOnly(m.guard(w.state)), Log: lockedWriter{&w.mu, &w.log},
		Secret: func(_ context.Context, ref integration.SecretRef) (string, error) {
			if s, ok := w.secrets[ref.Path+" "+ref.Field]; ok {
				masker.Add(s)
				return s, nil
			}
			return "", fmt.Errorf("there is no secret %s", ref.Path)
		},
		Endpoint: func(context.Context, integration.EndpointRef) (http.RoundTripper, error) {
			return wire{world: w, mortal: m}, nil
		},
		Report: func(f integration.Remark) { w.note(func() { w.findings = append(w.findings, f) }) },
		Stand:  func(s integration.Standing) { w.note(func() { w.stands = append(w.stands, s) }) },
	}
}

func (w *world) note(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do()
}

// run runs the integration once, with a new process each time.
func (w *world) run() error { return w.runUntil(nil) }

// runUntil runs the integration until it ends or dies.
func (w *world) runUntil(m *mortal) error {
	w.t.Helper()
	w.findings, w.stands, w.deeds = nil, nil, nil
	w.log.Reset()
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	if m != nil {
		m.cancel = cancel
	}
	return generic.New().Run(ctx, w.environment(m), integration.Actors{
		State: m.guard(w.state),
		Endpoint: func(context.Context, integration.EndpointRef) (http.RoundTripper, error) {
			return wire{world: w, mortal: m, writes: true}, nil
		},
		Did: func(d integration.Deed) { w.note(func() { w.deeds = append(w.deeds, d) }) },
	})
}

// dryRun says what a run would do.
func (w *world) dryRun() error {
	w.t.Helper()
	w.findings, w.stands = nil, nil
	w.log.Reset()
	env := w.environment(nil)
	return generic.New().DryRun(w.t.Context(), env)
}

// must runs the integration, and wants no error and no finding that fails.
func (w *world) must() {
	w.t.Helper()
	if err := w.run(); err != nil {
		w.t.Fatalf("%v\n%s\n%s", err, w.told(), w.log.String())
	}
	for _, f := range w.findings {
		if f.Severity == "error" {
			w.t.Fatalf("%s\n%s", f.Message, w.log.String())
		}
	}
	if len(w.broken) > 0 {
		w.t.Fatal(w.broken)
	}
}

// told returns the findings on one line each, sorted.
func (w *world) told() string {
	var lines []string
	for _, f := range w.findings {
		lines = append(lines, fmt.Sprintf("%s %s %s%s %s", f.Severity, f.Code, f.File, f.Pointer, f.Message))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// A lockedWriter is a writer for several goroutines.
type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
