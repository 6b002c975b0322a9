package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/armtest"
	"github.com/app-sre/prcheck/examples/cloud"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/generic/operation"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/threeway"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// A world is the simulated service, and clients of it that are killed at any moment.
type world struct {
	t       *testing.T
	server  *armtest.Server
	now     time.Time
	random  *rand.Rand
	index   *resources.Index
	managed map[string]*managed // by id
	theirs  map[string]string   // the last tag of somebody else, by id
}

// A managed resource is what a state knows of it.
type managed struct {
	target   Target
	rules    rules.Rules
	desired  any
	applied  any
	intended bool
	running  *operation.Operation
}

// indexOf returns the types of some specifications, by the names of their files.
func indexOf(t *testing.T, files map[string][]byte) *resources.Index {
	t.Helper()
	set := openapi.NewSet(func(name string, _ int64) ([]byte, error) {
		if raw, ok := files[name]; ok {
			return raw, nil
		}
		return nil, fs.ErrNotExist
	}, openapi.Limits{})
	var documents []*openapi.Document
	for name := range files {
		d, err := set.Document(name)
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, d)
	}
	return resources.NewIndex(documents)
}

func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	files, err := cloud.Specifications()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, now: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC), random: rand.New(rand.NewPCG(seed, 1)),
		index: indexOf(t, files), managed: map[string]*managed{}}
	if w.server, err = armtest.Example(); err != nil {
		t.Fatal(err)
	}
	w.server.Now = func() time.Time { return w.now }
	w.server.Slow(25*time.Second, 7*time.Second)
	for _, r := range []struct{ of, parent, name, body string }{
		{"Example.Cache/caches", group, "c",
			`{"location":"West US","properties":{"sku":{"name":"Basic","family":"C","capacity":1}}}`},
		{"Example.Network/networks", group, "n",
			`{"location":"westus","properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/8"]}}}`},
		{"Example.Network/networks/subnets", group + "/providers/Example.Network/networks/n", "s",
			`{"properties":{"addressPrefix":"10.1.0.0/16"}}`},
		{"Example.Compute/scaleSets", group, "v", `{"location":"westus","sku":{"name":"small","capacity":2}}`},
		{"Example.Storage/accounts", group, "a", `{"location":"westus","kind":"StorageV2","sku":{"name":"Standard_LRS"}}`},
	} {
		w.add(r.of, r.parent, r.name, r.body)
	}
	return w
}

const group = "/subscriptions/s/resourceGroups/g"

// add makes a resource managed.
func (w *world) add(of, parent, name, desired string) {
	types, err := w.index.Find(of)
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := classes.New(types[0])
	if err != nil {
		w.t.Fatal(err)
	}
	m := &managed{rules: rules.Of(c, nil)}
	m.target.Type, m.target.Inline = types[0].ID(), Inlines(types[0], w.index.Types(), c)
	if m.target.Address, err = family.ARM.Locate(types[0], family.Reference{Parent: parent, Name: name}); err != nil {
		w.t.Fatal(err)
	}
	if m.target.Abilities, err = AbilitiesOf(family.ARM, types[0], c, nil); err != nil {
		w.t.Fatal(err)
	}
	if m.desired, err = body.Parse([]byte(desired)); err != nil {
		w.t.Fatal(err)
	}
	w.managed[m.target.Address.Key] = m
}

// client returns a client whose context is canceled by the service.
func (w *world) client() *Client {
	endpoint := &url.URL{Scheme: "https", Host: "cloud.example"}
	return &Client{Family: family.ARM, Endpoint: endpoint, Transport: bearer{w.server.Transport(), w.server.Token},
		Random: w.random.Float64, Timeout: time.Hour,
		Clock: operation.Clock{Now: func() time.Time {
			return w.now
		}, Sleep: func(ctx context.Context, d time.Duration) error {
			w.now = w.now.Add(d)
			return context.Cause(ctx)
		}}}
}

// A bearer adds the token.
type bearer struct {
	http.RoundTripper
	token string
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.RoundTripper.RoundTrip(r)
}

// Plan implements [Planner].
func (m *managed) Plan(_ context.Context, live Live) (*Change, error) {
	if live.Found && m.applied == nil && !m.intended {
		return nil, fmt.Errorf("it is not ours")
	}
	return ChangeOf(m.made(live), m.desired, m.applied), nil
}

// Left implements [Planner].
func (m *managed) Mutate(_ context.Context, s Sending) (any, error) { return s.Body, nil }

func (m *managed) Left(_ context.Context, live Live) ([]Difference, error) {
	return LeftOf(m.made(live)), nil
}

func (m *managed) made(live Live) *threeway.Plan {
	return threeway.Make(threeway.Input{Desired: m.desired, Applied: m.applied, WasApplied: m.applied != nil,
		Live: live.Body, IsThere: live.Found, Rules: m.rules})
}

// Intend implements [Memory].
func (m *managed) Intend(ctx context.Context) error {
	m.intended = ctx.Err() == nil
	return context.Cause(ctx)
}

// Began implements [Memory].
func (m *managed) Began(ctx context.Context, o operation.Operation) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	raw, err := json.Marshal(o)
	if err != nil {
		return err
	}
	m.running = new(operation.Operation)
	return json.Unmarshal(raw, m.running)
}

// run brings one resource in line, as one process does.
func (w *world) run(ctx context.Context, m *managed) error {
	c := w.client()
	if m.running != nil {
		_, err := c.Resume(ctx, m.target, *m.running, m, m)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if m.running = nil; err == nil {
			m.applied = body.Clone(m.desired)
		}
	}
	if _, err := c.Write(ctx, m.target, m, m); err != nil {
		return err
	}
	if ctx.Err() == nil {
		m.running, m.applied = nil, body.Clone(m.desired)
	}
	return nil
}

// keys returns the ids of all managed resources, parents first.
func (w *world) keys() []string {
	var out []string
	for key := range w.managed {
		out = append(out, key)
	}
	slices.SortFunc(out, strings.Compare)
	return out
}

// accept lets everything be deleted.
func (*managed) accept(context.Context, Live) error { return nil }

// blocked returns why a plan over the body that was applied last is blocked.
func blocked(m *managed, desired string) error {
	var err error
	if m.desired, err = body.Parse([]byte(desired)); err != nil {
		return err
	}
	p := m.made(Live{Found: true, Body: m.applied})
	if p.Action != threeway.Blocked {
		return nil
	}
	return fmt.Errorf("%s", p.Violations[0].Code)
}
